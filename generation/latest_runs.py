"""Select the runs that results use: the newest run of each version with at least one completed item."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, F, Max, OuterRef
from django.db.models.functions import Greatest

from projects.models import Project
from sql.planner import count_subquery

from .models import ItemStatus, Run, RunItem, RunPurpose, RunQuerySet


def runs_with_summaries(project: Project, systems: Sequence[str] = ()) -> RunQuerySet:
    """Return the newest run with summaries of every version, by system, level and version.

    ``summaries`` counts the summaries among ``items_total`` units. Both include units that have been retired since
    (`outdated.retired`).
    """
    runs = newest_runs(project, RunPurpose.SUMMARIES)
    if systems:
        runs = runs.filter(version__system__name__in=systems)
    # Every completed item of a summary run has a summary. Items are counted in an index, whereas the rows of summaries
    # are scattered on disk.
    with_counts: RunQuerySet = runs.annotate(summaries=F("done"))
    return with_counts


def newest_runs(project: Project, purpose: str) -> RunQuerySet:
    """Return the newest run of every version for a purpose that has a completed item, by system, level and version.

    ``done`` counts the completed items among ``items_total``.
    """
    items = RunItem.objects.filter(run=OuterRef("pk"))
    done = items.filter(status=ItemStatus.DONE)
    completed = Run.objects.filter(Exists(done), version__system__project=project, purpose=purpose)
    newest = completed.order_by().values("version").annotate(newest=Max("pk")).values("newest")
    runs = Run.objects.filter(pk__in=newest).select_related("version__system__project")
    runs = runs.annotate(done=count_subquery(done), items_total=Greatest("units_count", count_subquery(items)))
    ordered: RunQuerySet = runs.order_by("version__system_id", "version__level", "version__number")
    return ordered


def published_runs(project: Project) -> list[Any]:
    """Return the runs that results use, of every purpose, without embargoed runs; annotated with ``done``."""
    return [run for purpose in RunPurpose for run in newest_runs(project, purpose).open_to_all()]


def names(runs: Sequence[Run]) -> dict[int, str]:
    """Return the display name of each run: its system, with the version number if the level has several versions."""
    versions: dict[tuple[int, str], set[int]] = {}
    for run in runs:
        versions.setdefault((run.version.system_id, run.version.level), set()).add(run.version_id)
    return {
        run.pk: run.version.system.name
        + (f" v{run.version.number}" if len(versions[run.version.system_id, run.version.level]) > 1 else "")
        for run in runs
    }
