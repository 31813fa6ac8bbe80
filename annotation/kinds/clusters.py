"""What the kinds that are asked of a cluster share: which clusters, and what is shown of them."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from projects.models import Change, Project, Unit

from ..models import Cluster, PicoSlot, Proposition


def units(project: Project, filters: Mapping[str, Any], *, kind: str) -> QuerySet[Unit]:
    """Clusters in corpus order. Filters: ``cluster`` and ``review`` (keys), ``search`` (in ids, tuple and texts),
    ``unlabelled`` (True: without gold of this kind), ``stale`` (True: to look at again)."""
    found = Unit.objects.filter(project=project, type="cluster", superseded_by=None, cluster__isnull=False)
    if cluster := filters.get("cluster"):
        found = found.filter(cluster__key=cluster)
    if review := filters.get("review"):
        found = found.filter(cluster__review__pmid__in=review.replace(",", " ").split())
    if search := filters.get("search"):
        found = found.filter(cluster__in=Cluster.objects.found_by(search))
    if filters.get("stale"):
        found = found.filter(Exists(Change.objects.unsettled().filter(unit=OuterRef("pk"), kind=kind)))
    if filters.get("unlabelled"):
        found = found.exclude(Q(decisions__kind=kind) & ~Q(decisions__origin="contested"))
    return found.order_by("cluster__position", "pk")


def load(units: Iterable[Unit]) -> dict[int, Cluster]:
    """The clusters by unit id, with their tuples."""
    pico = Prefetch("pico", PicoSlot.objects.order_by("id").prefetch_related("fragments"))
    return {c.unit_id: c for c in Cluster.objects.filter(unit__in=list(units)).prefetch_related(pico)}


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


def reviews(units: Iterable[int]) -> dict[int, int]:
    """The review of each cluster by its unit id."""
    return dict(Cluster.objects.filter(unit__in=list(units)).values_list("unit", "review"))


def target_texts(units: Iterable[int]) -> dict[int, str]:
    """The target text in force by the unit id of its cluster."""
    targets = Proposition.objects.current().filter(cluster__unit__in=list(units), position=0)
    return dict(targets.values_list("cluster__unit", "text"))
