"""Systems on the units that they have in common, from scores and likelihoods: what `actions.comparing` stores, and what
tables find of it. Like `reckoning`, one of the few places where rows are read for that."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from audit.digests import digest_of
from measures.comparison import RULE, Comparison
from measures.probe import probe_tables
from measures.two_systems import ScoredUnits
from projects.models import Project

from .. import metrics
from ..models import ProbeComparison, ProbeFigures, ProbeScore, Run, RunPurpose, Scoring, ScoringComparison
from ..probing.purpose import judged_pairs
from ..runs.at_hand import newest_runs
from .printed import COMPARED
from .reckoning import KINDS, is_of_today, rows_of, side_of

Json = dict[str, Any]
Row = TypeVar("Row", Scoring, ProbeFigures)
Found = TypeVar("Found")


def in_order(one: int, other: int) -> tuple[int, int]:
    """Two ids as a comparison of the two is stored: the lower first."""
    return (one, other) if one < other else (other, one)


def by_twos(
    own: Row, others: Sequence[Row], read: Callable[[Row], Found]
) -> Iterator[tuple[Row, tuple[Row, Row], tuple[Found, Found]]]:
    """Each of the others, it and one's own `in_order`, and what was read of the two in that order.

    One's own is read once; of the others one is in memory at a time.
    """
    if not others:
        return
    mine = read(own)
    for other in others:
        theirs = read(other)
        if in_order(own.pk, other.pk) == (own.pk, other.pk):
            yield other, (own, other), (mine, theirs)
        else:
            yield other, (other, own), (theirs, mine)
        del theirs


class Stored:
    """What is stored of pairs of scorings, or of the figures of probes, by the rule of today: the lower id first."""

    def __init__(self, rows: Mapping[tuple[int, int], Sequence[Json]]) -> None:
        self._rows = rows

    def has(self, one: int, other: int) -> bool:
        return in_order(one, other) in self._rows

    def find(self, one: int, other: int, **of: str) -> Comparison | None:
        """The one less the other in the row with these values, whichever was stored first; None where there is none."""
        for row in self._rows.get(in_order(one, other), ()):
            if all(row[name] == value for name, value in of.items()):
                comparison = Comparison.from_json(row)
                return comparison.turned() if one > other else comparison
        return None


def are_alike(one: Scoring, other: Scoring) -> bool:
    """Whether two scorings of one metric were made in the same way, at the same level."""
    return (one.run.version.level, one.params, one.libraries) == (
        other.run.version.level, other.params, other.libraries
    )  # fmt: skip


def uncompared(scoring: Scoring) -> list[Scoring]:
    """The scorings that tables show, and that one has not been compared with yet.

    None where nothing is compared by its metric, or where tables show another run of its version.
    """
    if scoring.metric not in COMPARED:
        return []
    newest = newest_runs(scoring.run.version.system.project, RunPurpose.SUMMARIES).order_by().values("pk")
    if not newest.filter(pk=scoring.run_id).exists():
        return []
    shown = Scoring.objects.shown().filter(metric=scoring.metric, run__in=newest).exclude(run=scoring.run_id)
    others = [other for other in shown.select_related("run__version") if are_alike(scoring, other)]
    there = comparisons([scoring.pk, *(other.pk for other in others)])
    return [other for other in others if not there.has(scoring.pk, other.pk)]


def comparisons(scorings: Iterable[int]) -> Stored:
    """What was stored of pairs of these scorings."""
    ids = list(scorings)
    found = ScoringComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return Stored({(first, second): rows for first, second, rows in found.values_list("first_id", "second_id", "rows")})


def scored_units(scoring: Scoring) -> ScoredUnits:
    """The figures of a scoring by unit and reference, those that are compared. One query."""
    found = ScoredUnits(COMPARED[scoring.metric])
    for row in rows_of(scoring):
        found.add((row.unit, row.reference), row.review, side_of(scoring, row.type), row.values)
    return found


def bounds_of(metric: str) -> dict[str, tuple[float, float]]:
    """What each figure cannot leave."""
    return {figure.key: figure.bounds for figure in metrics.get(metric).figures}


def probes_at_hand(project: Project, level: str) -> list[ProbeFigures]:
    """Of every version of a level the figures of its newest probe, as they were reckoned last."""
    runs = newest_runs(project, RunPurpose.PROBE).order_by().filter(version__level=level).values("pk")
    found = ProbeFigures.objects.filter(run__in=runs).order_by("items").select_related("run__version__system")
    newest = {figures.run_id: figures for figures in found if is_of_today(figures)}
    return sorted(newest.values(), key=lambda figures: figures.pk)


def probe_comparisons(figures: Iterable[int]) -> Stored:
    """As `comparisons`, of probes."""
    ids = list(figures)
    found = ProbeComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return Stored({(first, second): rows for first, second, rows in found.values_list("first_id", "second_id", "rows")})


def digest_of_probes(probes: Iterable[tuple[int, int]]) -> str:
    """Which probes (run, items) something is of."""
    return digest_of(sorted([run, items] for run, items in probes))


def common_rows(runs: Sequence[Run]) -> dict[str, list[Json]]:
    """Table 7's rows of each probe on the pairs that all of them have judged: run -> rows, on each basis.

    One probe's likelihoods are in memory at a time.
    """
    common = set.intersection(*(_keys(run) for run in runs))
    made = {}
    for run in runs:
        pairs = [pair for key, pair in judged_pairs(run).items() if key in common]
        made[str(run.pk)] = [row.as_json() for row in probe_tables(pairs, KINDS)]
    return made


def _keys(run: Run) -> set[tuple[int, int]]:
    rows = ProbeScore.objects.filter(item__run=run, counterfactual__isnull=False).order_by()
    return set(rows.values_list("target_id", "counterfactual_id"))
