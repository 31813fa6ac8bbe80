"""Storing how systems compare on the units that they have in common, by whoever came last."""

from collections.abc import Callable

from measures.comparison import RULE
from measures.two_systems import probes_compared, scores_compared
from projects.background import batches

from ..models import CommonProbe, ProbeComparison, ProbeFigures, Scoring, ScoringComparison
from ..probing.purpose import judged_pairs
from ..scoring.comparing import (
    bounds_of,
    by_twos,
    common_rows,
    digest_of_probes,
    probe_comparisons,
    probes_at_hand,
    scored_units,
    uncompared,
)
from ..scoring.reckoning import KINDS

#: Called in the transaction that stores a comparison, with what is compared with.
Storing = Callable[[str], None]


def compare_scoring(scoring: Scoring, storing: Storing = lambda words: None) -> None:
    """Compare a scoring that is finished with all others that tables show beside it, where that is still to be done.

    Whoever of two comes last sees the other: it looks once its own is finished.
    """
    bounds = bounds_of(scoring.metric)
    for other, (first, second), units in by_twos(scoring, uncompared(scoring), scored_units):
        rows = scores_compared(*units, bounds)
        with batches.batch():
            storing(other.run.version.system.name)
            ScoringComparison.objects.update_or_create(
                first=first, second=second, defaults={"rule": RULE, "rows": rows}
            )  # fmt: skip


def compare_probe(figures: ProbeFigures) -> None:
    """Compare a probe with all others of its level, and all of them on the pairs that every one has, where that is
    still to be done."""
    version = figures.run.version
    probes = probes_at_hand(version.system.project, version.level)
    if figures not in probes or len(probes) < 2:
        return
    there = probe_comparisons([probe.pk for probe in probes])
    left = [probe for probe in probes if probe != figures and not there.has(probe.pk, figures.pk)]
    for _, (first, second), pairs in by_twos(figures, left, lambda probe: judged_pairs(probe.run)):
        rows = probes_compared(*pairs, KINDS)
        with batches.batch():
            ProbeComparison.objects.update_or_create(
                first=first, second=second, defaults={"rule": RULE, "rows": rows}
            )  # fmt: skip
    _restrict(probes)


def _restrict(probes: list[ProbeFigures]) -> None:
    version = probes[0].run.version
    of = digest_of_probes((probe.run_id, probe.items) for probe in probes)
    found = CommonProbe.objects.filter(project=version.system.project, level=version.level)
    if found.filter(of=of, rule=RULE).exists():
        return
    rows = common_rows([probe.run for probe in probes])
    with batches.batch():
        found.update_or_create(
            project=version.system.project, level=version.level, of=of, defaults={"rule": RULE, "rows": rows}
        )  # fmt: skip
        # What other probes came to is of no table any more.
        found.exclude(of=of).delete()
