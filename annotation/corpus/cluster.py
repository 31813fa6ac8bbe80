"""Build the JSON of one cluster for the corpus page, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects

from annotation.clusters.gold import Gold, gold_json, gold_labels, gold_relations
from measures.consistency import suggested
from projects import kinds
from projects.gold.queries import sentences
from projects.models import Answer, Decision, Member, Outcome, Round
from projects.staleness.actions import stale_units

from ..clusters import counterfactuals
from ..consistency import queries as consistency_queries
from ..models import Cluster, Proposition

Json = dict[str, Any]


def page(cluster: Cluster, *, with_answers: bool, with_findings: bool) -> Json:
    """Return the cluster as JSON.

    ``with_answers`` includes the answers of closed rounds by pseudonym. ``with_findings`` includes the findings of the
    consistency check.
    """
    prefetch_related_objects([cluster], "pico__fragments")
    propositions = list(cluster.propositions.current().select_related("study", "unit").order_by("position"))
    units = [p.unit_id for p in propositions]
    stale = stale_units([*units, cluster.unit_id])
    earlier = _earlier(cluster)
    labels = gold_labels(units)
    relation = gold_relations([cluster.unit_id]).get(cluster.unit_id)
    answers = _answers([*units, cluster.unit_id]) if with_answers else None
    target = propositions[0] if propositions else None
    polarities = [
        str(labels[p.unit_id]["polarity"].value) for p in propositions[1:] if "polarity" in labels.get(p.unit_id, {})
    ]
    return {
        "id": cluster.pk,
        "unit": cluster.unit_id,
        "key": cluster.key,
        "review": {"id": cluster.review_id, "pmid": cluster.review.pmid},
        "imported": cluster.imported and {"id": cluster.imported.pk, "file_name": cluster.imported.file_name},
        "pico": elements(cluster),
        "relation": relation and {"value": relation.value, "origin": relation.origin},
        "relation_is_stale": (cluster.unit_id, "discourse") in stale,
        "suggested_relation": suggested(polarities) if polarities else None,
        "propositions": [
            _proposition(p, labels.get(p.unit_id, {}), answers)
            | {"is_stale": (p.unit_id, "label") in stale, "earlier": earlier.get(p.position, [])}
            for p in propositions
        ],
        "counterfactuals": counterfactuals.of_cluster(cluster, target, labels) if target else [],
        "findings": consistency_queries.about(cluster.project, [cluster.unit_id, *units]) if with_findings else [],
        "history": _history(cluster, propositions),
    }


def _earlier(cluster: Cluster) -> dict[int, list[Json]]:
    """Return earlier texts, before corrections, by position and newest first."""
    rows = cluster.propositions.exclude(unit__superseded_by=None).order_by("position", "-version")
    texts: dict[int, list[Json]] = defaultdict(list)
    for position, unit, version, text in rows.values_list("position", "unit", "version", "text"):
        texts[position].append({"unit": unit, "version": version, "text": text})
    return texts


def elements(cluster: Cluster) -> list[Json]:
    """Return the PICO elements of a cluster. Prefetch ``pico__fragments`` for many clusters."""
    return [
        {
            "element": element.element,
            "form": element.form,
            "text": element.text,
            "fragments": [{"start": f.start, "end": f.end} for f in element.fragments.all()],
        }
        for element in cluster.pico.all()
    ]


def _proposition(
    proposition: Proposition, labels: Mapping[str, Gold], answers: Mapping[int, list[Json]] | None
) -> Json:
    study = proposition.study
    return {
        "id": proposition.pk,
        "unit": proposition.unit_id,
        "position": proposition.position,
        "role": "target" if proposition.is_target else "input",
        "study": study and {"id": study.pk, "pmid": study.pmid},
        "text": proposition.text,
        "shown": proposition.unit.revision,
        "seen": max((gold.decision for gold in labels.values()), default=0),
        "polarity": gold_json(labels.get("polarity")),
        "polarity_cue": gold_json(labels.get("polarity_cue")),
        "modality": gold_json(labels.get("modality")),
        "modality_cue": gold_json(labels.get("modality_cue")),
        "answers": None if answers is None else answers.get(proposition.unit_id, []),
    }


def _answers(units: Sequence[int]) -> dict[int, list[Json]]:
    """Return the current answers of closed rounds by unit, with the pseudonym of each person.

    ``counted`` is false for late answers, and for those to returning gold items.
    """
    rows = (
        Answer.objects.filter(assignment__unit__in=units, assignment__round__status=Round.Status.CLOSED)
        .filter(assignment__current_answer__isnull=False)
        .select_related("assignment__round", "author")
        .order_by("assignment__round_id", "assignment__number", "revision")
    )
    current = [a for a in rows if a.assignment.current_answer_id == a.pk]
    values = _values_of(current)
    by_unit: dict[int, list[Json]] = defaultdict(list)
    for answer in current:
        assignment = answer.assignment
        by_unit[assignment.unit_id].append(
            {
                "uuid": str(answer.pk),
                "round": assignment.round.name,
                "kind": assignment.round.kind,
                "person": answer.author.pseudonym,
                "outcome": answer.outcome,
                "reason": answer.reason,
                "counted": assignment.is_counted,
                "received_at": answer.received_at,
                "comment": answer.comment,
                "said": _in_words(assignment.round.kind, values.get(answer.pk)),
            }
        )
    return by_unit


def _values_of(answers: Sequence[Answer]) -> dict[Any, kinds.Value]:
    by_kind: dict[str, list[UUID]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == Outcome.ANSWERED:
            by_kind[answer.assignment.round.kind].append(answer.pk)
    return {pk: value for kind, rows in by_kind.items() for pk, value in kinds.get(kind).values(rows).items()}


def _in_words(kind: str, value: kinds.Value | None) -> list[Json]:
    if value is None:
        return []
    return [{"field": f, "value": v} for f, v in kinds.get(kind).in_words(value).items()]


def _history(cluster: Cluster, propositions: Sequence[Proposition]) -> list[Json]:
    """Return all decisions about the cluster and its propositions, oldest first."""
    places = {p.unit_id: "target" if p.is_target else f"input {p.position}" for p in propositions}
    places[cluster.unit_id] = "cluster"
    decisions = list(
        Decision.objects.filter(unit__in=places)
        .select_related("unit", "round", "answer__assignment__round", "imported")
        .defer("imported__report")
        .order_by("id")
    )
    values = sentences(decisions)
    deciders = {d.decided_by_id for d in decisions if d.decided_by_id}
    people = dict(
        Member.objects.filter(project=cluster.project_id, user__in=deciders).values_list("user_id", "pseudonym")
    )
    return [
        {
            "id": d.pk,
            "unit": d.unit_id,
            "place": places[d.unit_id],
            "kind": d.kind,
            "field": d.field,
            "origin": d.origin,
            "value": values.get(d.pk),
            "round": d.round and d.round.name,
            "file_name": d.imported and d.imported.file_name,
            "decided_by": people.get(d.decided_by_id or 0),
            "decided_at": d.decided_at,
            "reason": d.reason,
        }
        for d in decisions
    ]
