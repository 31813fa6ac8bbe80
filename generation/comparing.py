"""Systems on the units that they have in common, from scores and likelihoods: what `actions.comparing` stores, and what
tables find of it. Like `reckoning`, one of the few places where rows are read for that."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.digests import digest_of
from measures.comparison import RULE, Comparison, compared
from measures.means import FROM_0_TO_1
from measures.probe import BASES, OVERALL, Pair, probe_table
from projects.models import Project

from . import metrics
from .models import ProbeComparison, ProbeFigures, ProbeScore, Purpose, Run, Scoring, ScoringComparison
from .printed import COMPARED
from .probing import judged_pairs
from .reckoning import KINDS, is_of_today, rows_of, side_of
from .runs_at_hand import newest_runs

Json = dict[str, Any]
#: (unit, reference): what two systems must have both.
Key = tuple[int, int | None]
#: What probes are compared by.
PROBED = ("delta", "accuracy")


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
    newest = newest_runs(scoring.run.version.system.project, Purpose.SUMMARIES).order_by().values("pk")
    if not newest.filter(pk=scoring.run_id).exists():
        return []
    shown = Scoring.objects.shown().filter(metric=scoring.metric, run__in=newest).exclude(run=scoring.run_id)
    others = [other for other in shown.select_related("run__version") if are_alike(scoring, other)]
    there = set(comparisons([scoring.pk, *(other.pk for other in others)]))
    return [other for other in others if _ordered(scoring.pk, other.pk) not in there]


def comparisons(scorings: Iterable[int]) -> dict[tuple[int, int], Sequence[Json]]:
    """What was stored of pairs of these scorings by the rule of today: (lower id, higher id) -> rows."""
    ids = list(scorings)
    found = ScoringComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return {(first, second): rows for first, second, rows in found.values_list("first_id", "second_id", "rows")}


@dataclass
class _Column:
    values: dict[Key, float] = field(default_factory=dict)
    reviews: dict[Key, int] = field(default_factory=dict)


#: (figure, side) -> figures by unit.
Columns = Mapping[tuple[str, str], _Column]


def columns_of(scoring: Scoring) -> Columns:
    """The figures of a scoring by unit and reference, those that are compared. One query."""
    found: dict[tuple[str, str], _Column] = defaultdict(_Column)
    for row in rows_of(scoring):
        side = side_of(scoring, row.type)
        for figure in COMPARED[scoring.metric]:
            value = row.values.get(figure)
            if value is not None:
                key = (row.unit, row.reference)
                found[figure, side].values[key], found[figure, side].reviews[key] = value, row.review
    return found


def scores_compared(metric: str, first: Columns, second: Columns) -> list[Json]:
    """A row for every figure and kind of reference that both have."""
    bounds = {figure.key: figure.bounds for figure in metrics.get(metric).figures}
    made = []
    for figure, side in sorted(first.keys() & second.keys()):
        mine, other = first[figure, side], second[figure, side]
        found = compared(mine.values, other.values, mine.reviews, bounds[figure])
        made.append({"figure": figure, "side": side, **found.as_json()})
    return made


def probes_at_hand(project: Project, level: str) -> list[ProbeFigures]:
    """Of every version of a level the figures of its newest probe, as they were reckoned last."""
    runs = newest_runs(project, Purpose.PROBE).order_by().filter(version__level=level).values("pk")
    found = ProbeFigures.objects.filter(run__in=runs).order_by("items").select_related("run__version__system")
    newest = {figures.run_id: figures for figures in found if is_of_today(figures)}
    return sorted(newest.values(), key=lambda figures: figures.pk)


def probe_comparisons(figures: Iterable[int]) -> dict[tuple[int, int], Sequence[Json]]:
    """As `comparisons`, of probes."""
    ids = list(figures)
    found = ProbeComparison.objects.filter(first__in=ids, second__in=ids, rule=RULE)
    return {(first, second): rows for first, second, rows in found.values_list("first_id", "second_id", "rows")}


#: (target, counterfactual) -> what a probe said of the two.
Judged = Mapping[tuple[int, int], Pair]


def probes_compared(first: Judged, second: Judged) -> list[Json]:
    """A row for every kind, and one over all, and each of `PROBED`, over all tokens."""
    made = []
    for kind in (*KINDS, OVERALL):
        mine, other = (
            {key: pair.delta("all") for key, pair in judged.items() if kind in (pair.kind, OVERALL)}
            for judged in (first, second)
        )
        reviews: dict[tuple[int, int], Hashable] = {key: first[key].review for key in mine}
        right, other_right = ({key: float(delta > 0) for key, delta in each.items()} for each in (mine, other))
        found = {
            "delta": compared(mine, other, reviews),
            "accuracy": compared(right, other_right, reviews, FROM_0_TO_1),
        }
        made += [{"kind": kind, "figure": figure, **found[figure].as_json()} for figure in PROBED]
    return made


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
        made[str(run.pk)] = [row.as_json() for basis in BASES for row in probe_table(pairs, KINDS, basis=basis)]
    return made


def _keys(run: Run) -> set[tuple[int, int]]:
    rows = ProbeScore.objects.filter(item__run=run, counterfactual__isnull=False).order_by()
    return set(rows.values_list("target_id", "counterfactual_id"))


def found_of(rows: Sequence[Json], turned: bool, **of: str) -> Comparison | None:
    """The comparison in the row with these values, first less second, or ``turned``; None where there is none."""
    for row in rows:
        if all(row[name] == value for name, value in of.items()):
            comparison = Comparison.from_json(row)
            return comparison.turned() if turned else comparison
    return None


def _ordered(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)
