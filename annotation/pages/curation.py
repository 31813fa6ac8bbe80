"""One review whole, cell by cell, as the curate page shows it. A number of queries that does not grow with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, QuerySet

from projects import kinds
from projects.actions.staleness import stale_units
from projects.models import Assignment, Decision, Member, Unit
from projects.values.in_force import newest_decisions, of_kind, values_in_force

from ..kinds.clusters import slots
from ..models import Cluster, PicoSlot, Proposition, Review
from ..values.completeness import missing
from ..values.in_force import LABEL_FIELDS, Gold, labels_adopted, relations_adopted
from ..values.relation import suggested
from . import corpus as corpus_lists
from .cluster import gold_json

Json = dict[str, Any]
#: The kinds whose cells have a shape of their own; those of all others are as `_others` has them.
SHAPED = ("tuple", "label", "discourse")


def page(review: Review, *, offset: int, limit: int) -> Json:
    """The review with its targets and, from ``offset`` on, ``limit`` of its clusters."""
    mine = clusters_of(review)
    return {
        "id": review.pk,
        "pmid": review.pmid,
        "title": review.title,
        "abstract": review.abstract,
        "targets": corpus_lists.targets(review),
        "clusters_count": mine.count(),
        "clusters": cluster_cells(mine[offset : offset + limit]),
    }


def clusters_of(review: Review) -> QuerySet[Cluster]:
    """The clusters of a review in corpus order, retired ones left out."""
    return Cluster.objects.current().filter(review=review).order_by("position", "pk")


def cluster_cells(clusters: Iterable[Cluster]) -> list[Json]:
    """Clusters with every cell: its value in force, who decided it and when, whether it is stale, what is missing."""
    found = list(clusters)
    ids = [c.pk for c in found]
    pico = Prefetch("pico", PicoSlot.objects.order_by("id").prefetch_related("fragments"))
    claims = Prefetch(
        "propositions", Proposition.objects.current().select_related("unit", "study").order_by("position")
    )
    rows = {c.pk: c for c in Cluster.objects.filter(pk__in=ids).select_related("unit").prefetch_related(pico, claims)}
    found = [rows[pk] for pk in ids if pk in rows]
    state, lacking = _state(found), missing(found)
    return [_cluster(c, state) | {"missing": lacking.get(c.pk, [])} for c in found]


@dataclass
class _State:
    """What is in force of the units of some clusters."""

    labels: Mapping[int, Mapping[str, Gold]]
    relations: Mapping[int, Gold]
    stale: set[tuple[int, str]]
    newest: dict[tuple[int, str], Decision]
    people: Mapping[int | None, str]
    others: Mapping[str, Mapping[int, kinds.Value]]
    said_of: set[int] = field(default_factory=set)


def _state(clusters: Sequence[Cluster]) -> _State:
    claims = [p.unit_id for c in clusters for p in c.propositions.all()]
    units = [*claims, *(c.unit_id for c in clusters)]
    newest: dict[tuple[int, str], Decision] = {}
    decided = newest_decisions(units, *(kind.key for kind in kinds.all_kinds()))
    for (unit, kind, _), decision in sorted(decided.items(), key=lambda item: item[1].pk):
        newest[unit, kind] = decision
    project = clusters[0].project_id if clusters else None
    said_of = set(Assignment.objects.filter(unit__in=claims).values_list("unit", flat=True))
    said_of |= set(Decision.objects.filter(unit__in=claims).values_list("unit", flat=True))
    return _State(
        labels=labels_adopted(of_kind(decided, "label")),
        relations=relations_adopted(of_kind(decided, "discourse")),
        stale=stale_units(units),
        newest=newest,
        others=_values_of_others(clusters),
        people=dict(Member.objects.filter(project=project).values_list("user_id", "pseudonym")),
        said_of=said_of,
    )


def _others() -> list[kinds.Kind]:
    """The kinds of clusters and propositions that this page has no columns of its own for."""
    asked = {"cluster", "proposition"}
    return [kind for kind in kinds.all_kinds() if kind.key not in SHAPED and asked.intersection(kind.unit_types)]


def _values_of_others(clusters: Sequence[Cluster]) -> dict[str, dict[int, kinds.Value]]:
    units = [unit for c in clusters for unit in (c.unit, *(p.unit for p in c.propositions.all()))]
    return {kind.key: values_in_force([u for u in units if u.type in kind.unit_types], kind.key) for kind in _others()}


def _said_by_others(unit: Unit, state: _State) -> list[Json]:
    """A cell for each of the other kinds that ask of such a unit: its value in force, as far as it is decided."""
    cells = []
    for kind in _others():
        if unit.type in kind.unit_types:
            decision = state.newest.get((unit.pk, kind.key))
            cells.append({
                "kind": kind.key, **_cell(unit, kind.key, state),
                "value": state.others[kind.key][unit.pk] or None, "origin": decision.origin if decision else None,
            })  # fmt: skip
    return cells


def _cell(unit: Any, kind: str, state: _State) -> Json:
    decision = state.newest.get((unit.pk, kind))
    return {
        "shown": unit.revision,
        "seen": decision.pk if decision else 0,
        "decided_by": state.people.get(decision.decided_by_id) if decision and decision.decided_by_id else None,
        "decided_at": decision.decided_at if decision else None,
        "is_stale": (unit.pk, kind) in state.stale,
    }


def _cluster(cluster: Cluster, state: _State) -> Json:
    claims = list(cluster.propositions.all())
    relation = state.relations.get(cluster.unit_id)
    tuple_decision = state.newest.get((cluster.unit_id, "tuple"))
    imported = "imported" if cluster.imported_id else None
    return {
        "id": cluster.pk,
        "unit": cluster.unit_id,
        "key": cluster.key,
        "sentence": cluster.sentence_id,
        "tuple": _cell(cluster.unit, "tuple", state)
        | {"slots": slots(cluster), "origin": tuple_decision.origin if tuple_decision else imported},
        "relation": _cell(cluster.unit, "discourse", state)
        | {"relation": gold_json(relation), "suggested": _suggested(claims, state)},
        "others": _said_by_others(cluster.unit, state),
        "propositions": [_proposition(p, state) for p in claims],
    }


def _proposition(claim: Proposition, state: _State) -> Json:
    gold = state.labels.get(claim.unit_id, {})
    label = _cell(claim.unit, "label", state) | {name: gold_json(gold.get(name)) for name in LABEL_FIELDS}
    return {
        "id": claim.pk,
        "unit": claim.unit_id,
        "position": claim.position,
        "study": claim.study and {"id": claim.study.pk, "pmid": claim.study.pmid},
        "text": claim.text,
        "label": label,
        "others": _said_by_others(claim.unit, state),
        "removable": not claim.is_target and claim.version == 1 and claim.unit_id not in state.said_of,
    }


def _suggested(claims: Sequence[Proposition], state: _State) -> str | None:
    inputs = [state.labels.get(p.unit_id, {}).get("polarity") for p in claims if not p.is_target]
    return suggested([str(gold.value) for gold in inputs if gold]) if inputs and all(inputs) else None
