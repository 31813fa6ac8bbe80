"""Which runs results are about: of every version its newest run that came to something."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, F, Max, OuterRef
from django.db.models.functions import Greatest

from projects.models import Project
from sql.counted import counted

from ..models import ItemStatus, Run, RunItem, RunPurpose, RunQuerySet


def runs_with_summaries(project: Project, systems: Sequence[str] = ()) -> RunQuerySet:
    """The newest run with summaries of every version, by system, level and version.

    ``summaries`` of ``items_total`` units: with those that were retired since (`outdated.retired`).
    """
    runs = newest_runs(project, RunPurpose.SUMMARIES)
    if systems:
        runs = runs.filter(version__system__name__in=systems)
    # What is done of a run for summaries has one: counted in an index, while the summaries themselves are far apart.
    counted: RunQuerySet = runs.annotate(summaries=F("done"))
    return counted


def newest_runs(project: Project, purpose: str) -> RunQuerySet:
    """The newest run of every version for a purpose that has an item done, by system, level and version.

    ``done``: how many it has, of ``items_total``.
    """
    items = RunItem.objects.filter(run=OuterRef("pk"))
    done = items.filter(status=ItemStatus.DONE)
    made = Run.objects.filter(Exists(done), version__system__project=project, purpose=purpose)
    newest = made.order_by().values("version").annotate(newest=Max("pk")).values("newest")
    runs = Run.objects.filter(pk__in=newest).select_related("version__system__project")
    runs = runs.annotate(done=counted(done), items_total=Greatest("units_count", counted(items)))
    found: RunQuerySet = runs.order_by("version__system_id", "version__level", "version__number")
    return found


def published_runs(project: Project) -> list[Any]:
    """The runs that results are about, of every purpose, without those that are sealed from anybody; with ``done``."""
    return [run for purpose in RunPurpose for run in newest_runs(project, purpose).open_to_all()]


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
