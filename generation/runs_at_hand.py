"""Which runs results are about: of every version its newest run that has summaries."""

from collections.abc import Sequence

from django.db.models import Exists, Func, IntegerField, Max, OuterRef, QuerySet, Subquery
from django.db.models.functions import Greatest

from projects.models import Project

from .models import ItemStatus, Purpose, Run, RunItem, RunQuerySet


def runs_with_summaries(project: Project, systems: Sequence[str] = ()) -> RunQuerySet:
    """The newest run with summaries of every version, by system, level and version.

    ``summaries`` of ``items_total`` units: with those that were retired since (`outdated.retired`).
    """
    items = RunItem.objects.filter(run=OuterRef("pk"))
    # What is done of a run for summaries has one: counted in an index, while the summaries themselves are far apart.
    done = items.filter(status=ItemStatus.DONE)
    made = Run.objects.filter(Exists(done), version__system__project=project, purpose=Purpose.SUMMARIES)
    newest = made.order_by().values("version").annotate(newest=Max("pk")).values("newest")
    runs = Run.objects.filter(pk__in=newest).select_related("version__system__project")
    if systems:
        runs = runs.filter(version__system__name__in=systems)
    counts = {"summaries": count(done), "items_total": Greatest("units_count", count(items))}
    return runs.annotate(**counts).order_by("version__system_id", "version__level", "version__number")


def count(rows: QuerySet[RunItem]) -> Subquery:
    """So many of them as a part of the query of their run: of all runs at once would be a join of all their items.

    A count of all rows that an index names, without a group, is the one thing that data bases count fast.
    """
    whole = Func(function="COUNT", template="%(function)s(*)", output_field=IntegerField())
    return Subquery(rows.order_by().annotate(n=whole).values("n"))


def names(runs: Sequence[Run]) -> dict[int, str]:
    """What tables call each run: its system's name, with the version where the system has several of that level."""
    versions: dict[tuple[int, str], set[int]] = {}
    for run in runs:
        versions.setdefault((run.version.system_id, run.version.level), set()).add(run.version_id)
    return {
        run.pk: run.version.system.name
        + (f" v{run.version.number}" if len(versions[run.version.system_id, run.version.level]) > 1 else "")
        for run in runs
    }
