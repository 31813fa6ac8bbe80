"""What the kinds that are asked of a cluster share: which clusters, and what is shown of them."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from django.db.models import Prefetch, Q, QuerySet

from api.parameters import Parameter, Takes
from projects.actions import staleness
from projects.kinds import Filter, Kind, all_kinds
from projects.models import Assignment, Change, Member, Project, Unit

from ..corpus.searchable import refresh_search
from ..models import Cluster, PicoSlot, Proposition
from .filters import of_reviews

CLUSTER = "cluster"
#: The evidence of a cluster are the inputs of the sentence that it was made of.
Part = Literal["target", "inputs", "evidence"]

FILTERS = (
    Filter(Parameter("cluster", Takes.TEXT, "Cluster"), lambda units, key: units.filter(cluster__key=key)),
    of_reviews(lambda pmids: Q(cluster__review__pmid__in=pmids)),
    Filter(
        Parameter("search", Takes.TEXT, "In the ids, the tuple or a text"),
        lambda units, words: units.filter(cluster__in=Cluster.objects.found_by(words)),
    ),
)


class ClusterKind(Kind):
    """What the kinds have in common whose unit is a cluster. Its card is several texts: no row of a sheet holds it."""

    unit_types = (CLUSTER,)
    filters: Sequence[Filter] = FILTERS
    #: Of which texts of the cluster it is said: a correction of one of them makes it stale.
    said_of: Sequence[Part] = ("target", "inputs")

    def units(self, project: Project) -> QuerySet[Unit]:
        found = Unit.objects.filter(project=project, type=CLUSTER, superseded_by=None, cluster__isnull=False)
        return found.order_by("cluster__position", "pk")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """The target text in force."""
        targets = Proposition.objects.current().filter(cluster__unit__in=list(units), position=0)
        return dict(targets.values_list("cluster__unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        return dict(Cluster.objects.filter(unit__in=list(units)).values_list("unit", "review__pmid"))


def said_of(part: Part) -> list[str]:
    """The keys of the kinds whose values of a cluster are said of these texts of it."""
    return [kind.key for kind in all_kinds() if isinstance(kind, ClusterKind) and part in kind.said_of]


def inputs_changed(cluster: Cluster, by: Member | None, reason: str) -> None:
    """The cluster has other inputs than before: it is found by them, and whether they agree is to be judged again."""
    refresh_search(cluster)
    if by:
        about: dict[str, Any] = {"what": Change.TEXT, "reason": reason, "by": by}
        staleness.changed(units=[cluster.unit], kinds=said_of("inputs"), **about)


def load(slots: Iterable[Assignment]) -> dict[int, Cluster]:
    """The clusters that some slots are about by unit id, with their tuples."""
    pico = Prefetch("pico", PicoSlot.objects.order_by("id").prefetch_related("fragments"))
    found = Cluster.objects.filter(unit__in=[slot.unit_id for slot in slots])
    return {c.unit_id: c for c in found.prefetch_related(pico)}


def slots(cluster: Cluster) -> list[dict[str, Any]]:
    """The tuple in force; prefetch ``pico__fragments`` for many clusters."""
    return [
        {
            "slot": slot.slot,
            "form": slot.form,
            "text": slot.text,
            "stands_for": slot.stands_for,
            "fragments": [{"start": f.start, "end": f.end} for f in slot.fragments.all()],
        }
        for slot in cluster.pico.all()
    ]
