"""One cluster with everything that hangs on it: what the corpus page opens. A fixed number of queries."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects

from measures.consistency import suggested
from projects import kinds
from projects.actions.staleness import stale_units
from projects.models import Answer, Decision, Member, Outcome, Round
from projects.values.in_force import sentences

from ..models import Cluster, Proposition
from ..values import counterfactuals
from ..values.in_force import Gold, gold_labels, gold_relations
from . import consistency

Json = dict[str, Any]


def page(cluster: Cluster, *, with_answers: bool, with_findings: bool) -> Json:
    """The cluster as JSON; ``with_answers``: also what people answered in rounds that are closed, by pseudonym;
    ``with_findings``: also what the consistency check found in it."""
    prefetch_related_objects([cluster], "pico__fragments")
    propositions = list(cluster.propositions.current().select_related("study").order_by("position"))
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
        "pico": slots(cluster),
        "relation": relation and {"value": relation.value, "origin": relation.origin},
        "relation_is_stale": (cluster.unit_id, "discourse") in stale,
        "suggested_relation": suggested(polarities) if polarities else None,
        "propositions": [
            _proposition(p, labels.get(p.unit_id, {}), answers)
            | {"is_stale": (p.unit_id, "label") in stale, "earlier": earlier.get(p.position, [])}
            for p in propositions
        ],
        "counterfactuals": counterfactuals.of_cluster(cluster, target, labels) if target else [],
        "findings": consistency.about(cluster.project, [cluster.unit_id, *units]) if with_findings else [],
        "history": _history(cluster, propositions),
    }


def _earlier(cluster: Cluster) -> dict[int, list[Json]]:
    """The texts that were corrected, by position, newest first."""
    rows = cluster.propositions.exclude(unit__superseded_by=None).order_by("position", "-version")
    found: dict[int, list[Json]] = defaultdict(list)
    for position, unit, version, text in rows.values_list("position", "unit", "version", "text"):
        found[position].append({"unit": unit, "version": version, "text": text})
    return found


def slots(cluster: Cluster) -> list[Json]:
    """The tuple; prefetch ``pico__fragments`` for many clusters."""
    return [
        {
            "slot": slot.slot,
            "form": slot.form,
            "text": slot.text,
            "fragments": [{"start": f.start, "end": f.end} for f in slot.fragments.all()],
        }
        for slot in cluster.pico.all()
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
        "polarity": gold_json(labels.get("polarity")),
        "polarity_cue": gold_json(labels.get("polarity_cue")),
        "modality": gold_json(labels.get("modality")),
        "modality_cue": gold_json(labels.get("modality_cue")),
        "answers": None if answers is None else answers.get(proposition.unit_id, []),
    }


def gold_json(gold: Gold | None) -> Json | None:
    """A field in force, None where nothing was decided."""
    if gold is None:
        return None
    value = gold.value if gold.value is None or isinstance(gold.value, str) else asdict(gold.value)
    return {"value": value, "origin": gold.origin}


def _answers(units: Sequence[int]) -> dict[int, list[Json]]:
    """The standing answers of closed rounds by unit, with the person's pseudonym; surplus ones say so."""
    rows = (
        Answer.objects.filter(assignment__unit__in=units, assignment__round__status=Round.Status.CLOSED)
        .filter(assignment__current_answer__isnull=False)
        .select_related("assignment__round", "author")
        .order_by("assignment__round_id", "assignment__number", "revision")
    )
    standing = [a for a in rows if a.assignment.current_answer_id == a.pk]
    values = _values_of(standing)
    found: dict[int, list[Json]] = defaultdict(list)
    for answer in standing:
        slot = answer.assignment
        found[slot.unit_id].append(
            {
                "uuid": str(answer.pk),
                "round": slot.round.name,
                "kind": slot.round.kind,
                "person": answer.author.pseudonym,
                "outcome": answer.outcome,
                "reason": answer.reason,
                "counted": slot.number >= 1,
                "received_at": answer.received_at,
                "comment": answer.comment,
                "said": _in_words(slot.round.kind, values.get(answer.pk)),
            }
        )
    return found


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
    """All decisions about the cluster and its propositions, oldest first."""
    places = {p.unit_id: "target" if p.is_target else f"input {p.position}" for p in propositions}
    places[cluster.unit_id] = "cluster"
    decisions = list(
        Decision.objects.filter(unit__in=places)
        .select_related("unit", "round", "answer__assignment__round", "imported")
        .defer("imported__report")
        .order_by("id")
    )
    said = sentences(decisions)
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
            "value": said.get(d.pk),
            "round": d.round and d.round.name,
            "file_name": d.imported and d.imported.file_name,
            "decided_by": people.get(d.decided_by_id or 0),
            "decided_at": d.decided_at,
            "reason": d.reason,
        }
        for d in decisions
    ]
