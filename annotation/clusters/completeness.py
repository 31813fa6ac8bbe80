"""Rules for complete clusters, shared by the curation page, the checks and the exported files.

A cluster is complete if it has a target, an input and a current relation, and all propositions have labels. A label is
a current polarity and a current modality that are compatible. Fields are decided one by one, so a newly decided
polarity can meet an older *no evidence* modality (docs/decisions/0013-current-values.md).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from django.db.models import (
    BooleanField,
    Case,
    CharField,
    Exists,
    ExpressionWrapper,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce
from django.db.models.lookups import Exact

from projects.models import Decision, Unit
from sql.planner import exists_row

from ..models import Cluster, Label, Proposition, Target
from ..models.labels import NOTHING_SAID

Json = dict[str, Any]
Text = TypeVar("Text", Cluster, Proposition, Target)
#: The parts that a cluster, not one of its propositions, can lack. In the order of the page.
WHOLE = ("target", "input", "discourse")


def unlabelled(claims: QuerySet[Proposition]) -> QuerySet[Proposition]:
    """Filter propositions that lack a current polarity or modality, or whose two values are incompatible."""
    return claims.alias(goes_together=_is_compatible()).filter(goes_together=False)


def _is_compatible() -> Case:
    """Return an expression that is true if a proposition has a compatible current polarity and modality.

    The two values of one label are always compatible (a table constraint), so labels are read only if the values come
    from different labels.
    """
    polarity, modality = (_has_no_value_to_give(field) for field in NOTHING_SAID)
    of_one_label = Exact(*(Subquery(_newest(field).values(source=_SOURCE)[:1]) for field in NOTHING_SAID))
    together = Coalesce(Exact(polarity, modality), Value(False), output_field=BooleanField())
    return Case(When(of_one_label, then=True), default=together, output_field=BooleanField())


#: The source of a decision as text. An answer's UUID never equals the number of an import.
_SOURCE = Coalesce(Cast("answer", CharField()), Cast("imported", CharField()))


def _newest(field: str) -> QuerySet[Decision]:
    """Return the decisions on a field of the outer proposition, newest first."""
    return Decision.objects.filter(unit=OuterRef("unit"), kind="label", field=field).in_question().newest_first()


def _has_no_value_to_give(field: str) -> Subquery:
    """Return whether the current value of a field is its "nothing to say" value.

    Null if there is no current value. The query finds the newest decision first and then the label that it adopts. Each
    is looked up once; `current_labels` looks up the decision of every label of the unit, twice.
    """
    adopted = Q(answer=OuterRef("answer")) | Q(imported=OuterRef("imported"))
    label = Label.objects.filter(adopted, unit=OuterRef("unit")).order_by()
    nothing = label.values(is_empty=ExpressionWrapper(Q(**{field: NOTHING_SAID[field]}), BooleanField()))[:1]
    return Subquery(_newest(field).values(is_empty=Subquery(nothing))[:1], output_field=BooleanField())


def claims_beside() -> QuerySet[Proposition]:
    """Return the current propositions of the outer cluster, as a correlated subquery.

    ``superseded_by`` is compared as a value. As a join, PostgreSQL may compare every cluster with every unit if it has
    no table statistics. The outer cluster has arrived, so its propositions have too: no join looks that up again.
    """
    return unreplaced(Proposition.with_arriving.filter(cluster=OuterRef("pk")))


def unreplaced(rows: QuerySet[Text]) -> QuerySet[Text]:
    """Exclude clusters that were removed, or propositions and targets whose text was replaced.

    The rows must have arrived. Replaced units are few and have an index of their own, so they are read once, and not
    looked up per row.
    """
    return rows.exclude(unit__in=Unit.with_arriving.filter(superseded_by__isnull=False).order_by().values("pk"))


def has_unlabelled() -> Q:
    """Return a condition: the cluster has a proposition without compatible current labels."""
    return exists_row(unlabelled(claims_beside()))


def lacks_inputs() -> Q:
    """Return a condition: the cluster has no current input."""
    return ~exists_row(claims_beside().filter(position__gte=1))


def _lacks() -> dict[str, Q]:
    claims = Proposition.objects.current().filter(cluster=OuterRef("pk"))
    relation = Decision.objects.filter(unit=OuterRef("unit"), kind="discourse", field="relation").current()
    return {
        "label": has_unlabelled(),
        "target": ~Q(Exists(claims.filter(position=0))),
        "input": ~Q(Exists(claims.filter(position__gte=1))),
        "discourse": ~Q(Exists(relation)),
    }


def incomplete(clusters: QuerySet[Cluster]) -> QuerySet[Cluster]:
    """Filter clusters that lack something. They are not released."""
    lacking = Q()
    for condition in _lacks().values():
        lacking |= condition
    return clusters.filter(lacking)


def lack(clusters: QuerySet[Cluster], what: str) -> QuerySet[Cluster]:
    """Filter clusters that lack ``what`` (a key of `_lacks`)."""
    return clusters.filter(_lacks()[what])


def find_lacking(clusters: QuerySet[Cluster]) -> Iterator[tuple[int, set[str]]]:
    """Yield the id of each cluster and what it lacks (keys of `_lacks`), in one query."""
    lacks = {f"lacks_{name}": ExpressionWrapper(lack, BooleanField()) for name, lack in _lacks().items()}
    names = [name.removeprefix("lacks_") for name in lacks]
    for pk, *row in clusters.order_by().annotate(**lacks).values_list("pk", *lacks):
        yield pk, {name for name, lack in zip(names, row, strict=True) if lack}


def count_lacking(lacking_clusters: Iterable[tuple[int, set[str]]]) -> dict[str, int]:
    """Count all clusters (``all``), the incomplete ones and those that lack each thing, from `find_lacking`.

    ``relation`` counts clusters that have inputs but no relation.
    """
    # Counted in Python: an SQL aggregate would evaluate conditions twice that two counts share. With 20,000 clusters
    # they take most of the time.
    counts = Counter(all=0, incomplete=0, relation=0, **dict.fromkeys(_lacks(), 0))
    for _, lacking in lacking_clusters:
        counts.update(["all", *lacking])
        counts["incomplete"] += bool(lacking)
        counts["relation"] += "discourse" in lacking and "input" not in lacking
    return dict(counts)


def missing(clusters: Sequence[Cluster]) -> dict[int, list[Json]]:
    """Return what each incomplete cluster lacks, by cluster id and in the order of the page.

    Each entry has ``unit``, ``kind`` and ``place``. Needs two queries.
    """
    by_cluster: dict[int, list[Json]] = defaultdict(list)
    claims = Proposition.objects.current().filter(cluster__in=[c.pk for c in clusters])
    for claim in unlabelled(claims).order_by("cluster", "position"):
        place = "target" if claim.is_target else f"input {claim.position}"
        by_cluster[claim.cluster_id].append({"unit": claim.unit_id, "kind": "label", "place": place})
    lacks = {name: ExpressionWrapper(_lacks()[name], BooleanField()) for name in WHOLE}
    rows = Cluster.objects.filter(pk__in=[c.pk for c in clusters]).annotate(**lacks).order_by()
    for pk, unit, *lacking in rows.values_list("pk", "unit", *WHOLE):
        for kind, lack in zip(WHOLE, lacking, strict=True):
            if lack:
                by_cluster[pk].append({"unit": unit, "kind": kind, "place": "cluster"})
    return by_cluster
