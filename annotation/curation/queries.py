"""Cells of the curation page of one review. The number of queries does not depend on the size of the review."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotation.clusters.gold import LABEL_FIELDS, Gold, aggregated_labels, aggregated_relations, gold_json
from measures.consistency import suggested
from projects import kinds
from projects.gold.queries import newest_decisions, of_kind, values_of
from projects.models import Assignment, Decision, Member, Project, Unit
from projects.staleness.actions import stale_units

from ..clusters.completeness import missing
from ..clusters.creation import UNIT_TYPES
from ..documents.queries import derived_texts, judged_sentences, targets
from ..kinds.clusters import elements
from ..kinds.evidence.layout import PAIR, pairs_of
from ..models import Cluster, EvidencePair, PicoElement, Proposition, Review, Study, Target

Json = dict[str, Any]
#: Kinds with a cell format of their own. The other kinds share one format.
SHAPED = ("tuple", "label", "discourse")
#: The kind that splits a sentence into PICO tuples, from which clusters are created.
SPLITS = "pico"


def page(review: Review, *, offset: int, limit: int) -> Json:
    """Return the review with its targets and at most ``limit`` of its clusters, starting at ``offset``."""
    queryset = clusters_of(review)
    sentences = list(targets(review).select_related("unit"))
    clusters = _loaded(queryset[offset : offset + limit])
    state = _state(clusters, sentences)
    return {
        "id": review.pk,
        "pmid": review.pmid,
        "title": review.title,
        "abstract": review.abstract,
        "derived": derived_texts(judged_sentences([review.unit_id]).get(review.unit_id, [])),
        "targets": [_target(target, state) for target in sentences],
        "clusters_count": queryset.count(),
        "clusters": _cells(clusters, state),
    }


def clusters_of(review: Review) -> QuerySet[Cluster]:
    """Return the clusters of a review in corpus order, without retired ones."""
    return Cluster.objects.current().filter(review=review).order_by("position", "pk")


def cluster_cells(clusters: Iterable[Cluster]) -> list[Json]:
    """Return clusters with all cells: current value, who decided it and when, staleness, and what is missing."""
    loaded = _loaded(clusters)
    return _cells(loaded, _state(loaded))


def _loaded(clusters: Iterable[Cluster]) -> list[Cluster]:
    """Return the clusters in the same order, with all data for their cells prefetched."""
    ids = [c.pk for c in clusters]
    pico = Prefetch("pico", PicoElement.objects.order_by("id").prefetch_related("fragments"))
    claims = Prefetch(
        "propositions", Proposition.objects.current().select_related("unit", "study").order_by("position")
    )
    queryset = Cluster.objects.filter(pk__in=ids).select_related("unit", "sentence", "made_of")
    rows = {c.pk: c for c in queryset.prefetch_related(pico, claims)}
    return [rows[pk] for pk in ids if pk in rows]


def _cells(clusters: Sequence[Cluster], state: "_State") -> list[Json]:
    lacking = missing(clusters)
    return [_cluster(c, state) | {"missing": lacking.get(c.pk, [])} for c in clusters]


@dataclass
class _State:
    """The current values and decisions of the units of some clusters and targets."""

    labels: Mapping[int, Mapping[str, Gold]]
    relations: Mapping[int, Gold]
    stale: set[tuple[int, str]]
    newest: dict[tuple[int, str], Decision]
    people: Mapping[int | None, str]
    others: Mapping[str, Mapping[int, kinds.Value]]
    sentences: Mapping[int, int]
    pairs: Mapping[int, Sequence[EvidencePair]]
    judged_units: set[int] = field(default_factory=set)


def _state(clusters: Sequence[Cluster], targets: Sequence[Target] = ()) -> _State:
    claims = [p.unit_id for c in clusters for p in c.propositions.all()]
    units = [*claims, *(c.unit_id for c in clusters), *(t.unit_id for t in targets)]
    units += [c.sentence.unit_id for c in clusters if c.sentence]
    pairs = pairs_of(targets)
    units += [pair.unit_id for of in pairs.values() for pair in of]
    newest: dict[tuple[int, str], Decision] = {}
    decided = newest_decisions(units, *(kind.key for kind in kinds.all_kinds()))
    for (unit, kind, _), decision in sorted(decided.items(), key=lambda item: item[1].pk):
        newest[unit, kind] = decision
    rows: list[Cluster | Target] = [*clusters, *targets]
    project = rows[0].project if rows else None
    judged_units = set(Assignment.objects.filter(unit__in=claims).values_list("unit", flat=True))
    judged_units |= set(Decision.objects.filter(unit__in=claims).values_list("unit", flat=True))
    return _State(
        labels=aggregated_labels(of_kind(decided, "label")),
        relations=aggregated_relations(of_kind(decided, "discourse")),
        stale=stale_units(units),
        newest=newest,
        sentences=Target.objects.in_place_of(c.sentence_id for c in clusters if c.sentence_id),
        others=_values_of_others(clusters, targets, pairs, decided, project),
        pairs=pairs,
        people=dict(Member.objects.with_account().filter(project=project).values_list("user_id", "pseudonym")),
        judged_units=judged_units,
    )


def _others() -> list[kinds.Kind]:
    """Return the kinds for clusters, propositions, targets and evidence pairs that have no column of their own."""
    unit_types = {"cluster", "proposition", PAIR, *UNIT_TYPES.values()}
    return [kind for kind in kinds.all_kinds() if kind.key not in SHAPED and unit_types.intersection(kind.unit_types)]


def _values_of_others(
    clusters: Sequence[Cluster],
    targets: Sequence[Target],
    pairs: Mapping[int, Sequence[EvidencePair]],
    decided: Mapping[tuple[int, str, str], Decision],
    project: Project | None,
) -> dict[str, dict[int, kinds.Value]]:
    """Return values by kind and unit, for every unit the kind applies to. Empty if there is no current value."""
    units = [unit for c in clusters for unit in (c.unit, *(p.unit for p in c.propositions.all()))]
    units += [target.unit for target in targets]
    units += [pair.unit for of in pairs.values() for pair in of]
    values = {}
    for kind in _others():
        applicable = {unit.pk: unit for unit in units if unit.type in kind.unit_types}
        decisions = [d for (unit, _), d in of_kind(decided, kind.key).items() if unit in applicable]
        valued = kind.valued_units(project) if project and applicable else Unit.objects.none()
        valued_ids = set(valued.filter(pk__in=applicable).order_by().values_list("pk", flat=True))
        valued_ids |= {decision.unit_id for decision in decisions}
        values[kind.key] = values_of([unit for pk, unit in applicable.items() if pk in valued_ids], kind.key, decisions)
    return values


def _other_cells(unit: Unit, state: _State, study: Study | None = None) -> list[Json]:
    """Return one cell for each other kind that applies to a unit, with the current value of its decided fields."""
    cells = []
    for kind in _others():
        if unit.pk in state.others[kind.key]:
            decision = state.newest.get((unit.pk, kind.key))
            cells.append(
                {
                    "kind": kind.key,
                    "unit": unit.pk,
                    "study": study,
                    **_cell(unit, kind.key, state),
                    "value": state.others[kind.key][unit.pk] or None,
                    "origin": decision.origin if decision else None,
                }
            )
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


def _target(target: Target, state: _State) -> Json:
    others = _other_cells(target.unit, state)
    for pair in state.pairs.get(target.pk, ()):
        others += _other_cells(pair.unit, state, pair.study)
    return {
        "id": target.pk,
        "unit_id": target.unit_id,
        "level": target.level,
        "key": target.key,
        "text": target.text,
        "inputs": target.inputs.all(),
        "others": others,
    }


def _origin_of_tuple(cluster: Cluster, state: _State) -> str | None:
    """Return the origin of the current PICO tuple: its own decision, the split of its sentence, or the import."""
    decision = state.newest.get((cluster.unit_id, "tuple"))
    if not decision and cluster.sentence and hasattr(cluster, "made_of"):
        decision = state.newest.get((cluster.sentence.unit_id, SPLITS))
    return decision.origin if decision else "imported" if cluster.imported_id else None


def _cluster(cluster: Cluster, state: _State) -> Json:
    claims = list(cluster.propositions.all())
    relation = state.relations.get(cluster.unit_id)
    return {
        "id": cluster.pk,
        "unit": cluster.unit_id,
        "key": cluster.key,
        "sentence": state.sentences.get(cluster.sentence_id or 0),
        "tuple": _cell(cluster.unit, "tuple", state)
        | {"elements": elements(cluster), "origin": _origin_of_tuple(cluster, state)},
        "relation": _cell(cluster.unit, "discourse", state)
        | {"relation": gold_json(relation), "suggested": _suggested(claims, state)},
        "others": _other_cells(cluster.unit, state),
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
        "others": _other_cells(claim.unit, state),
        "removable": not claim.is_target and claim.version == 1 and claim.unit_id not in state.judged_units,
    }


def _suggested(claims: Sequence[Proposition], state: _State) -> str | None:
    inputs = [state.labels.get(p.unit_id, {}).get("polarity") for p in claims if not p.is_target]
    return suggested([str(gold.value) for gold in inputs if gold]) if inputs and all(inputs) else None
