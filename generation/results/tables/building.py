"""Base class and helpers of the result tables: rows of runs and reference kinds, and figures by name."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery

from generation import metrics
from generation.metrics.protocol import Figure
from generation.models import ItemStatus, ProbeScore, Run, RunItem, Score
from generation.results.tables.scored import Scores
from generation.results.tables.scored_run import ScoredRun
from projects.models import Project, Unit
from projects.reports.registry import ReportTable
from projects.reports.table import Cell, Column


def compared(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Return, by scoring, the number of summaries compared with a text that has been corrected or removed since.

    Summaries of removed units are excluded: see `removed`.
    """
    scores = Score.objects.filter(reference__in=_superseded(project), summary__item__unit__superseded_by=None)
    return _count_by(_filter_by(scores, "scoring", scorings), "scoring", "summary")


def removed(project: Project, scorings: Sequence[int]) -> dict[int, int]:
    """Return, by scoring, the number of summaries of units that have been removed since."""
    scores = Score.objects.filter(summary__item__unit__in=_superseded(project))
    return _count_by(_filter_by(scores, "scoring", scorings), "scoring", "summary")


def retired(project: Project, runs: Sequence[Run]) -> dict[int, tuple[int, int]]:
    """Return, by run, the number of items of units that have been removed since, and how many of these are done."""
    items = _filter_by(RunItem.objects.filter(unit__in=_superseded(project)), "run", [run.pk for run in runs])
    done = Count("pk", filter=Q(status=ItemStatus.DONE))
    counts = items.order_by().values("run").annotate(n=Count("pk"), done=done).values_list("run", "n", "done")
    return {run: (n, done) for run, n, done in counts}


def targets(project: Project, runs: Sequence[Run]) -> dict[int, int]:
    """Return, by probe, the number of items judged with a target that has been corrected or removed since."""
    scores = ProbeScore.objects.filter(target__unit__in=_superseded(project), item__unit__superseded_by=None)
    return _count_by(_filter_by(scores, "item__run", [run.pk for run in runs]), "item__run", "item")


def inputs(runs: Sequence[Run]) -> dict[int, int]:
    """Return, by run, the number of items whose inputs have been corrected, or added to, since they were read."""
    ids = [run.pk for run in runs]
    read = RunItem.objects.filter(run=OuterRef("pk"), units_up_to__isnull=False).order_by("units_up_to")
    oldest_read = Run.objects.filter(pk__in=ids).annotate(oldest=Subquery(read.values("units_up_to")[:1]))
    last_units = [last_unit for last_unit in oldest_read.values_list("oldest", flat=True) if last_unit is not None]
    if not last_units:
        return {}
    changed = RunItem.objects.filter(
        status=ItemStatus.DONE,
        unit__superseded_by=None,
        unit__cluster__propositions__position__gt=0,
        unit__cluster__propositions__unit__superseded_by=None,
        unit__cluster__propositions__unit__gt=F("units_up_to"),
        # Logically redundant, but the constant tells the query planner how few rows match.
        unit__cluster__propositions__unit__in=Unit.objects.filter(pk__gt=min(last_units)),
    )
    return _count_by(_filter_by(changed, "run", ids), "run", "pk")


def _superseded(project: Project) -> QuerySet[Unit, Any]:
    return Unit.objects.filter(project=project, superseded_by__isnull=False).values("pk")


def _filter_by(queryset: QuerySet[Any], field: str, ids: Sequence[int]) -> QuerySet[Any]:
    """Filter by run or scoring with an expression, so that the query planner does not start from these rows."""
    rows: QuerySet[Any] = queryset.alias(of=ExpressionWrapper(F(field) + 0, output_field=BigIntegerField()))
    return rows.filter(of__in=ids)


def _count_by(rows: QuerySet[Any], field: str, counted_field: str) -> dict[int, int]:
    counts = rows.order_by().values(field).annotate(n=Count(counted_field, distinct=True))
    return dict(counts.values_list(field, "n"))


#: The first columns of every row.
LEADING_COLUMNS = (
    Column("System", False),
    Column("Level", False),
    Column("Against", False),
    Column("n"),
    Column("Reviews"),
)


class ScoresTable(ReportTable[Scores]):
    """A table of metric or probe results."""

    data = Scores
    #: The metrics that the table uses.
    metrics: Sequence[str] = ()


def figure(metric: str, key: str) -> Figure:
    """Return a figure that a metric declares. Raise KeyError if it declares none with this key."""
    return {figure.key: figure for figure in metrics.get(metric).figures}[key]


def rows_of(scores: Scores) -> Iterator[tuple[ScoredRun, str]]:
    return ((scored_run, side) for scored_run in scores.runs for side in scores.sides(scored_run))


def leading_cells(
    scores: Scores, scored_run: ScoredRun, side: str, figures: Sequence[tuple[str, str]]
) -> tuple[list[Cell], int]:
    """Return the cells for system, level, reference kind, n and reviews, and n itself.

    They are taken from the first figure (metric, key) that has values, so that a row with values never shows n = 0.
    """
    means = [scores.found(metric, scored_run.run, key, side).mean for metric, key in figures]
    mean = next((mean for mean in means if mean.n), means[0])
    return [scored_run.name_cell, Cell(scored_run.level), Cell(side), Cell(mean.n), Cell(mean.clusters)], mean.n
