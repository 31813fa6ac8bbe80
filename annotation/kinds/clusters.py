"""Base of the task kinds whose unit is a cluster."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from django.db.models import Prefetch, Q, QuerySet

from api.parameters import Parameter, Takes
from projects.kinds import Filter, Kind, all_kinds
from projects.models import Assignment, Change, Member, Project, Unit
from projects.staleness import actions as staleness_actions

from ..clusters.items import refresh_search
from ..models import Cluster, PicoElement, Proposition
from .units import of_reviews

CLUSTER = "cluster"
#: Parts of a cluster that an answer can depend on. The evidence is the inputs of the target sentence of the cluster.
Part = Literal["target", "inputs", "evidence"]

FILTERS = (
    Filter(Parameter("cluster", Takes.TEXT, "Cluster"), lambda units, key: units.filter(cluster__key=key)),
    of_reviews(lambda pmids: Q(cluster__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "Search in IDs, tuple and texts"),
        lambda units, words: units.filter(cluster__in=Cluster.objects.found_by(words)),
    ),
)


class ClusterKind(Kind):
    """Base of the kinds whose unit is a cluster. They have no spreadsheet, because a card consists of several texts."""

    unit_types = (CLUSTER,)
    filters: Sequence[Filter] = FILTERS
    #: Texts of the cluster that the answers depend on. A correction of one of them makes the answers stale.
    depends_on: Sequence[Part] = ("target", "inputs")

    def units(self, project: Project) -> QuerySet[Unit]:
        units = Unit.objects.filter(project=project, type=CLUSTER, superseded_by=None, cluster__isnull=False)
        return units.order_by("cluster__position", "pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the current target texts."""
        targets = Proposition.objects.current().filter(cluster__unit__in=list(units), position=0)
        return dict(targets.values_list("cluster__unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Cluster.objects.filter(unit__in=list(units)).values_list("unit", "review__pmid"))


def kinds_depending_on(part: Part) -> list[str]:
    """Return the keys of the cluster kinds whose answers depend on this part."""
    return [kind.key for kind in all_kinds() if isinstance(kind, ClusterKind) and part in kind.depends_on]


def inputs_changed(cluster: Cluster, by: Member | None, reason: str) -> None:
    """Update the search text of a cluster with new inputs. Mark the answers that depend on them as stale."""
    refresh_search(cluster)
    if by:
        about: dict[str, Any] = {"what": Change.TEXT, "reason": reason, "by": by}
        staleness_actions.changed(units=[cluster.unit], kinds=kinds_depending_on("inputs"), **about)


def load(assignments: Iterable[Assignment]) -> dict[int, Cluster]:
    """Return the clusters of some assignments by unit id, with their tuples."""
    pico = Prefetch("pico", PicoElement.objects.order_by("id").prefetch_related("fragments"))
    clusters = Cluster.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
    return {c.unit_id: c for c in clusters.prefetch_related(pico)}


def elements(cluster: Cluster) -> list[dict[str, Any]]:
    """Return the current tuple as JSON. For many clusters, prefetch ``pico__fragments``."""
    return [
        {
            "element": element.element,
            "form": element.form,
            "text": element.text,
            "stands_for": element.stands_for,
            "fragments": [{"start": f.start, "end": f.end} for f in element.fragments.all()],
        }
        for element in cluster.pico.all()
    ]
