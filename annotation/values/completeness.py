"""What is missing of a cluster until it is released: one rule for the curate page, the checks and the files.

A cluster is complete when it has a target and an input, a relation in force, and of each of its propositions a polarity
and a modality in force that go together: fields are decided one by one, so a polarity that was decided anew may stand
beside the *no evidence* of before (docs/decisions/0027-in-force.md).
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.db.models.lookups import Exact, GreaterThan

from projects.models import Decision, Unit
from sql.counted import counted

from ..models import Cluster, Label, Proposition
from ..models.labels import NOTHING_SAID

Json = dict[str, Any]
#: What a whole cluster can lack, in the order of the page.
WHOLE = ("target", "input", "discourse")


def unlabelled(claims: QuerySet[Proposition]) -> QuerySet[Proposition]:
    """Those that lack a polarity or a modality in force, or whose two do not go together."""
    # Each is looked up once: of 60,000 propositions a second mention in the condition costs a second.
    polarity, modality = (_says_nothing(field) for field in NOTHING_SAID)
    together = Coalesce(Exact(polarity, modality), Value(False), output_field=BooleanField())
    return claims.alias(goes_together=together).filter(goes_together=False)


def _says_nothing(field: str) -> Subquery:
    """Whether the value in force says that there is nothing to say; null where none is in force. The decision is looked
    up first, and the label that it adopts by what it names: once each, where `labels_in_force` asks of every label of
    the unit which decision there is, twice."""
    adopted = Q(answer=OuterRef("answer")) | Q(imported=OuterRef("imported"))
    label = Label.objects.filter(adopted, unit=OuterRef("unit")).order_by()
    said = label.values(said=ExpressionWrapper(Q(**{field: NOTHING_SAID[field]}), BooleanField()))[:1]
    newest = Decision.objects.filter(unit=OuterRef("unit"), kind="label", field=field).in_question().newest_first()
    return Subquery(newest.values(said=Subquery(said))[:1], output_field=BooleanField())


def claims_beside() -> QuerySet[Proposition]:
    """The current propositions of the cluster that asks, looked up cluster by cluster: whether a text was replaced is a
    value, for as a join PostgreSQL may hold every cluster against every unit where it does not know its tables."""
    replaced = Unit.objects.filter(pk=OuterRef("unit")).values("superseded_by")[:1]
    return Proposition.objects.filter(cluster=OuterRef("pk")).alias(replaced=Subquery(replaced)).filter(replaced=None)


def has_unlabelled() -> Q:
    """Whether a cluster has such a proposition."""
    return Q(GreaterThan(counted(unlabelled(claims_beside())), 0))


def lacks_inputs() -> Q:
    """Whether a cluster has no current input."""
    return Q(Exact(counted(claims_beside().filter(position__gte=1)), 0))


def _lacks() -> dict[str, Q]:
    claims = Proposition.objects.current().filter(cluster=OuterRef("pk"))
    relation = Decision.objects.filter(unit=OuterRef("unit"), kind="discourse", field="relation").in_force()
    return {
        "label": has_unlabelled(),
        "target": ~Q(Exists(claims.filter(position=0))),
        "input": ~Q(Exists(claims.filter(position__gte=1))),
        "discourse": ~Q(Exists(relation)),
    }


def incomplete(clusters: QuerySet[Cluster]) -> QuerySet[Cluster]:
    """The clusters that lack something, and are not released."""
    lacking = Q()
    for one in _lacks().values():
        lacking |= one
    return clusters.filter(lacking)


def lack(clusters: QuerySet[Cluster], what: str) -> QuerySet[Cluster]:
    """The clusters that lack one thing."""
    return clusters.filter(_lacks()[what])


def count_lacking(clusters: QuerySet[Cluster]) -> dict[str, int]:
    """How many clusters there are (``all``), and how many lack each thing; ``relation``: those with inputs that lack
    one. One query."""
    lacks = _lacks()
    counts = {name: Count("pk", filter=lack) for name, lack in lacks.items()}
    counts["relation"] = Count("pk", filter=lacks["discourse"] & ~lacks["input"])
    found: dict[str, int] = clusters.order_by().aggregate(all=Count("pk"), **counts)
    return found


def missing(clusters: Sequence[Cluster]) -> dict[int, list[Json]]:
    """What each cluster lacks, by its id, in the order of the page: ``unit``, ``kind`` and ``place``. Two queries;
    complete ones are left out."""
    found: dict[int, list[Json]] = defaultdict(list)
    claims = Proposition.objects.current().filter(cluster__in=[c.pk for c in clusters])
    for claim in unlabelled(claims).order_by("cluster", "position"):
        place = "target" if claim.is_target else f"input {claim.position}"
        found[claim.cluster_id].append({"unit": claim.unit_id, "kind": "label", "place": place})
    lacks = {name: ExpressionWrapper(_lacks()[name], BooleanField()) for name in WHOLE}
    rows = Cluster.objects.filter(pk__in=[c.pk for c in clusters]).annotate(**lacks).order_by()
    for pk, unit, *lacking in rows.values_list("pk", "unit", *WHOLE):
        for kind, lack in zip(WHOLE, lacking, strict=True):
            if lack:
                found[pk].append({"unit": unit, "kind": kind, "place": "cluster"})
    return found
