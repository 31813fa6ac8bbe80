"""Compute and store comparisons of systems on their common units. Of two systems, the later scoring compares both."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from audit.digests import digest_of
from measures.comparison import RULE, Comparison, ScoredUnits, probes_compared, scores_compared
from measures.probe import probe_tables
from measures.references import WRITTEN_LEVELS
from projects.jobs import batches
from projects.models import Project

from .. import metrics
from ..latest_runs import newest_runs
from ..models import CommonProbe, ProbeComparison, ProbeFigures, ProbeScore, Run, RunPurpose, Scoring, ScoringComparison
from ..probing.purpose import judged_pairs
from .checking import compared_figures
from .computing import KINDS, is_current, rows_of

Json = dict[str, Any]
Row = TypeVar("Row", Scoring, ProbeFigures)
Found = TypeVar("Found")


def in_order(first: int, second: int) -> tuple[int, int]:
    """Return two ids in the order in which a comparison is stored: the lower first."""
    return (first, second) if first < second else (second, first)


def read_pairs(
    own: Row, others: Sequence[Row], read: Callable[[Row], Found]
) -> Iterator[tuple[Row, tuple[Row, Row], tuple[Found, Found]]]:
    """Pair a row with each of the others. Yield the other row, the pair `in_order`, and the data of the pair.

    The data of ``own`` is read once. Of the others, the data of only one is in memory at a time.
    """
    if not others:
        return
    own_data = read(own)
    for other in others:
        other_data = read(other)
        if in_order(own.pk, other.pk) == (own.pk, other.pk):
            yield other, (own, other), (own_data, other_data)
        else:
            yield other, (other, own), (other_data, own_data)
        del other_data


class Stored:
    """Stored comparisons of scorings or probe figures, under the current rule, by pair of ids with the lower first."""

    def __init__(self, rows: Mapping[tuple[int, int], Sequence[Json]]) -> None:
        self.rows = rows

    def has(self, first: int, second: int) -> bool:
        return in_order(first, second) in self.rows

    def find(self, first: int, second: int, **values: str) -> Comparison | None:
        """Return ``first`` less ``second`` from the row with these values, in either stored order, or None."""
        for row in self.rows.get(in_order(first, second), ()):
            if all(row[name] == value for name, value in values.items()):
                comparison = Comparison.from_json(row)
                return comparison.turned() if first > second else comparison
        return None


def are_alike(first: Scoring, second: Scoring) -> bool:
    """Return whether two scorings of one metric have equal parameters, libraries and level."""
    return (first.run.version.level, first.params, first.libraries) == (
        second.run.version.level,
        second.params,
        second.libraries,
    )


def uncompared(scoring: Scoring) -> list[Scoring]:
    """Return the scorings in tables that this one has not been compared with yet.

    The list is empty if its metric is not compared, or if tables use another run of its version.
    """
    if not compared_figures(scoring.metric, scoring.run.version.level):
        return []
    others = scorings_alike(scoring)[1:]
    stored = comparisons([scoring.pk, *(other.pk for other in others)])
    return [other for other in others if not stored.has(scoring.pk, other.pk)]


def scorings_alike(scoring: Scoring) -> list[Scoring]:
    """Return a scoring and those `are_alike` that tables show beside it. Empty if they use another run of its version.

    Two queries.
    """
    newest = newest_runs(scoring.run.version.system.project, RunPurpose.SUMMARIES).order_by().values("pk")
    if not newest.filter(pk=scoring.run_id).exists():
        return []
    latest = Scoring.objects.latest_finished().filter(metric=scoring.metric, run__in=newest).exclude(run=scoring.run_id)
    return [scoring, *(other for other in latest.select_related("run__version__system") if are_alike(scoring, other))]


def comparisons(scorings: Iterable[int]) -> Stored:
    """Return the stored comparisons of these scorings."""
    ids = list(scorings)
    stored_rows = ScoringComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return Stored(
        {(first, second): rows for first, second, rows in stored_rows.values_list("first_id", "second_id", "rows")}
    )


def scored_units(scoring: Scoring, without: Collection[int] = ()) -> ScoredUnits:
    """Return the compared figures of a scoring by unit and reference, in one query. Leave out the units ``without``."""
    units = ScoredUnits(compared_figures(scoring.metric, scoring.run.version.level))
    for row in rows_of(scoring, without):
        units.add((row.unit, row.reference), row.review, row.side, row.values)
    return units


def bounds_of(metric: str) -> dict[str, tuple[float, float]]:
    """Return the bounds of each figure of a metric."""
    return {figure.key: figure.bounds for figure in metrics.get(metric).figures}


def latest_probes(project: Project, level: str) -> list[ProbeFigures]:
    """Return the latest computed figures of the newest probe of every version of a level."""
    runs = newest_runs(project, RunPurpose.PROBE).order_by().filter(version__level=level).values("pk")
    stored_figures = ProbeFigures.objects.filter(run__in=runs).order_by("items").select_related("run__version__system")
    newest = {figures.run_id: figures for figures in stored_figures if is_current(figures)}
    return sorted(newest.values(), key=lambda figures: figures.pk)


def probe_comparisons(figures: Iterable[int]) -> Stored:
    """Like `comparisons`, for probes."""
    ids = list(figures)
    stored_rows = ProbeComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return Stored(
        {(first, second): rows for first, second, rows in stored_rows.values_list("first_id", "second_id", "rows")}
    )


def digest_of_probes(probes: Iterable[tuple[int, int]]) -> str:
    """Return a digest of probes, given as (run, items)."""
    return digest_of(sorted([run, items] for run, items in probes))


def common_rows(runs: Sequence[Run], without: Collection[int] = ()) -> dict[str, list[Json]]:
    """Return Table 7's rows of each probe, by run, on the pairs that all of them judged, on each basis.

    Pairs of the units ``without`` are left out. Only one probe's likelihoods are in memory at a time.
    """
    common_keys = set.intersection(*(_keys(run) for run in runs))
    rows = {}
    for run in runs:
        pairs = [pair for key, pair in judged_pairs(run, without).items() if key in common_keys]
        rows[str(run.pk)] = [row.as_json() for row in probe_tables(pairs, KINDS)]
    return rows


def _keys(run: Run) -> set[tuple[int, int]]:
    rows = ProbeScore.objects.filter(item__run=run, counterfactual__isnull=False).order_by()
    return set(rows.values_list("target_id", "counterfactual_id"))


#: Called in the transaction that stores a comparison, with the name of the other system.
Storing = Callable[[str], None]


def compare_scoring(scoring: Scoring, storing: Storing = lambda words: None) -> None:
    """Compare a finished scoring with all others in tables, except for existing comparisons.

    A scoring looks for others only once it is finished, so the later of two always finds the earlier one.
    """
    bounds = bounds_of(scoring.metric)
    for other, (first, second), units in read_pairs(scoring, uncompared(scoring), scored_units):
        rows = scores_compared(*units, bounds, ranks=scoring.run.version.level in WRITTEN_LEVELS)
        with batches.batch():
            storing(other.run.version.system.name)
            ScoringComparison.objects.update_or_create(
                first=first, second=second, defaults={"rule": RULE, "rows": rows}
            )


def compare_probe(figures: ProbeFigures) -> None:
    """Compare a probe with all others of its level, and compute the results of all of them on their common pairs.

    Existing comparisons and results are not computed again.
    """
    version = figures.run.version
    probes = latest_probes(version.system.project, version.level)
    if figures not in probes or len(probes) < 2:
        return
    stored = probe_comparisons([probe.pk for probe in probes])
    uncompared = [probe for probe in probes if probe != figures and not stored.has(probe.pk, figures.pk)]
    for _, (first, second), pairs in read_pairs(figures, uncompared, lambda probe: judged_pairs(probe.run)):
        rows = probes_compared(*pairs, KINDS)
        with batches.batch():
            ProbeComparison.objects.update_or_create(first=first, second=second, defaults={"rule": RULE, "rows": rows})
    _restrict(probes)


def _restrict(probes: list[ProbeFigures]) -> None:
    version = probes[0].run.version
    digest = digest_of_probes((probe.run_id, probe.items) for probe in probes)
    common_probes = CommonProbe.objects.filter(project=version.system.project, level=version.level)
    if common_probes.filter(of=digest, rule=RULE).exists():
        return
    rows = common_rows([probe.run for probe in probes])
    with batches.batch():
        common_probes.update_or_create(
            project=version.system.project, level=version.level, of=digest, defaults={"rule": RULE, "rows": rows}
        )
        # No table uses the results of earlier sets of probes.
        common_probes.exclude(of=digest).delete()
