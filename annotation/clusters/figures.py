"""Incomplete clusters, found once after each change of the corpus."""

from typing import Any

from django.db.models import QuerySet

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.queries import stored
from projects.stored_figures.registry import FigureSet

from ..models import Cluster
from .completeness import count_lacking, find_lacking

COMPLETENESS = "completeness"
#: What clusters can lack of which the ids are stored.
LISTED = ("label", "input")


class CompletenessFigures(FigureSet):
    """`count_lacking`, and the ids of the clusters that lack a label or an input.

    Lists of clusters with another filter count them among their own clusters.
    """

    key = COMPLETENESS
    rule = 2

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting incomplete clusters")
        rows = list(find_lacking(_clusters(project)))
        return {
            "counts": count_lacking(rows),
            "clusters": {what: [pk for pk, lacking in rows if what in lacking] for what in LISTED},
        }


def lacking_now(project: Project) -> dict[str, int]:
    """Return `count_lacking` of the clusters of a project.

    The stored counts are returned if they are usable. Otherwise they are counted now: actions depend on them.
    """
    known = _usable(project)
    return dict(known["counts"]) if known else count_lacking(find_lacking(_clusters(project)))


def lacking_clusters(project: Project) -> dict[str, set[int]]:
    """Return the stored ids of clusters by what they lack (`LISTED`). Empty if they are not usable."""
    known = _usable(project)
    return {what: set(clusters) for what, clusters in known["clusters"].items()} if known else {}


def _usable(project: Project) -> Any:
    known = stored(project, COMPLETENESS)
    return known.figures if known.is_usable(lambda figures: figures["counts"]["all"]) else None


def _clusters(project: Project) -> QuerySet[Cluster]:
    return Cluster.objects.current().filter(project=project)
