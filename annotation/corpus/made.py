"""Clusters that are made in the project, by hand or of a sentence that was split, and those that are taken out."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Max

from accounts.models import User
from audit.log import record_all
from projects.models import Project, Unit
from sql.ready import Rows

from ..models import Cluster, Proposition, Review, Study, Target
from .items import Item
from .layout import Layout, next_position

#: What is to be a cluster: its review, its texts (whose key is given here), and its target sentence where it is known.
New = tuple[Review, Item, Target | None]


def make_clusters(
    project: Project, new: Sequence[New], *, by: User | None
) -> tuple[list[Cluster], list[Proposition]]:  # fmt: skip
    """Clusters after the last one of the project, each with its target and its inputs, in this order. In the caller's
    transaction; a number of statements that does not grow with them."""
    numbers = _next_numbers(project, {review for review, _, _ in new})
    items = []
    for review, item, _ in new:
        items.append(item._replace(key=f"{review.pmid}_{numbers[review.pmid]}"))
        numbers[review.pmid] += 1
    layout = Layout(project, Rows(), by=by)
    clusters, claims = layout.clusters(items, next_position(Cluster.objects.filter(project=project)))
    layout.rows.write()
    for cluster, (_, _, sentence) in zip(clusters, new, strict=True):
        cluster.sentence = sentence
    Cluster.objects.bulk_update([c for c in clusters if c.sentence], ["sentence"])
    return clusters, [claim for claim, _ in claims]


def _next_numbers(project: Project, reviews: set[Review]) -> dict[str, int]:
    """By PMID the number after the highest of a review's clusters, retired ones too: a key is never used again."""
    numbers: dict[str, int] = defaultdict(int)
    found = Cluster.objects.filter(project=project, review__in=reviews).values_list("review__pmid", "key")
    for pmid, key in found:
        start, _, number = key.rpartition("_")
        if start == pmid and number.isdecimal():
            numbers[pmid] = max(numbers[pmid], int(number) + 1)
    return numbers


def make_inputs(new: Sequence[tuple[Cluster, Study, str]], *, by: User | None) -> list[Proposition]:
    """Input propositions after the last one of their cluster, in this order. In the caller's transaction; a number of
    statements that does not grow with them."""
    last = Proposition.objects.filter(cluster__in={cluster for cluster, _, _ in new}).order_by()
    positions: dict[int, int] = defaultdict(int, last.values_list("cluster").annotate(last=Max("position")))
    places = []
    for cluster, _, _ in new:
        positions[cluster.pk] += 1
        places.append(positions[cluster.pk])
    units = Unit.objects.bulk_create(
        Unit(
            project_id=cluster.project_id, type="proposition", key=f"{cluster.key}/{position}",
            context=cluster.unit_id, position=position, made_by=by,
        )
        for position, (cluster, _, _) in zip(places, new, strict=True)
    )  # fmt: skip
    return Proposition.objects.bulk_create(
        Proposition(cluster=cluster, position=position, study=study, text=text, unit=unit)
        for position, (cluster, study, text), unit in zip(places, new, units, strict=True)
    )


def retire(clusters: Sequence[Cluster], *, by: User | None, reason: str) -> None:
    """Leave these clusters out everywhere from now on, with their texts; what was said of them stays in the record.

    Nothing takes their place but the review without them; texts that gave way to another keep that one. Load ``review``
    with them. In the caller's transaction.
    """
    for cluster in clusters:
        mine = Unit.objects.filter(proposition__cluster=cluster) | Unit.objects.filter(pk=cluster.unit_id)
        ids = list(mine.values_list("pk", flat=True))
        Unit.objects.filter(pk__in=ids, superseded_by=None).update(superseded_by=cluster.review.unit_id)
    record_all(
        {
            "actor": by, "verb": "remove cluster", "obj": cluster, "project_id": cluster.project_id, "reason": reason,
            "before": {"key": cluster.key},
        }
        for cluster in clusters
    )  # fmt: skip
