"""Which runs results are about: of every version its newest run that has summaries."""

from collections.abc import Sequence

from django.db.models import Count, Max, Q

from projects.models import Project

from .models import Purpose, Run, RunQuerySet


def runs_with_summaries(project: Project, systems: Sequence[str] = ()) -> RunQuerySet:
    """The newest run with summaries of every version, by system, level and version.

    ``summaries`` of ``items_total`` units: without those that were retired since, of which nothing can be scored.
    """
    made = Run.objects.filter(version__system__project=project, purpose=Purpose.SUMMARIES, items__summary__isnull=False)
    newest = made.values("version").annotate(newest=Max("pk")).values("newest")
    runs = Run.objects.filter(pk__in=newest).select_related("version__system__project")
    if systems:
        runs = runs.filter(version__system__name__in=systems)
    there = Q(items__unit__superseded_by=None)
    counted = {"summaries": Count("items__summary", filter=there), "items_total": Count("items", filter=there)}
    return runs.annotate(**counted).order_by(
        "version__system_id", "version__level", "version__number"
    )  # fmt: skip


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
