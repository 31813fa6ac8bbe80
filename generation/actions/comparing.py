"""Storing how systems compare on the units that they have in common, by whoever came last."""

from collections.abc import Callable

from measures.comparison import RULE
from projects import batches

from ..comparing import (
    columns_of,
    common_rows,
    digest_of_probes,
    probe_comparisons,
    probes_at_hand,
    probes_compared,
    scores_compared,
    uncompared,
)
from ..models import CommonProbe, ProbeComparison, ProbeFigures, Scoring, ScoringComparison
from ..probing import judged_pairs

#: Called in the transaction that stores a comparison, with what is compared with.
Storing = Callable[[str], None]


def compare_scoring(scoring: Scoring, storing: Storing = lambda words: None) -> None:
    """Compare a scoring that is finished with all others that tables show beside it, where that is still to be done.

    Whoever of two comes last sees the other: it looks once its own is finished.
    """
    others = uncompared(scoring)
    own = columns_of(scoring) if others else {}
    for other in others:
        first, second = sorted((scoring, other), key=lambda each: each.pk)
        pair = (own, columns_of(other)) if first is scoring else (columns_of(other), own)
        rows = scores_compared(scoring.metric, *pair)
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
    left = [probe for probe in probes if probe != figures and _ordered(probe, figures) not in there]
    own = judged_pairs(figures.run) if left else {}
    for other in left:
        first, second = sorted((figures, other), key=lambda each: each.pk)
        pair = (own, judged_pairs(other.run)) if first is figures else (judged_pairs(other.run), own)
        rows = probes_compared(*pair)
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


def _ordered(one: ProbeFigures, other: ProbeFigures) -> tuple[int, int]:
    return min(one.pk, other.pk), max(one.pk, other.pk)
