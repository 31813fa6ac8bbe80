"""Counts of incomplete clusters, computed once after each change of the corpus."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.queries import stored
from projects.stored_figures.registry import FigureSet

from ..models import Cluster
from .completeness import count_lacking

COMPLETENESS = "completeness"


class CompletenessFigures(FigureSet):
    key = COMPLETENESS

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting incomplete clusters")
        return _count(project)


def lacking_now(project: Project) -> dict[str, int]:
    """Return `count_lacking` of the clusters of a project.

    The stored counts are returned if they are usable. Otherwise they are counted now: actions depend on them.
    """
    known = stored(project, COMPLETENESS)
    return dict(known.figures) if known.is_usable(lambda figures: figures["all"]) else _count(project)


def _count(project: Project) -> dict[str, int]:
    return count_lacking(Cluster.objects.current().filter(project=project))
