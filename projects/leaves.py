"""What a seal covers of an answer and of a decision: their own columns and the typed rows that hang on them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from . import kinds
from .models import Answer, Decision, Outcome


def answer_content(answer: Answer, value: kinds.Value | None) -> dict[str, Any]:
    """The content whose digest is the answer's leaf; ``value`` is the stored value, None for a skip."""
    return {
        "uuid": str(answer.uuid),
        "assignment": answer.assignment_id,
        "author": answer.author_id,
        "revision": answer.revision,
        "outcome": answer.outcome,
        "reason": answer.reason,
        "guideline": answer.guideline_id,
        "body": answer.body_digest,
        "shown": answer.shown,
        "received_at": answer.received_at,
        "active_ms": answer.active_ms,
        "comment": answer.comment,
        "flag": answer.flag,
        "value": value,
    }


def answer_contents(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The contents of a batch of answers, read back from their rows: a few queries a kind, whatever the number."""
    round_kinds = dict(
        Answer.objects.filter(pk__in=[a.pk for a in answers]).values_list("pk", "assignment__round__kind")
    )
    by_kind: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == Outcome.ANSWERED:
            by_kind[round_kinds[answer.pk]].append(answer)
    values = {pk: v for key, rows in by_kind.items() for pk, v in kinds.get(key).values(rows).items()}
    return [answer_content(a, values.get(a.pk)) for a in answers]


def decision_content(decision: Decision) -> dict[str, Any]:
    """The content whose digest is the decision's leaf."""
    return {
        "unit": decision.unit_id,
        "kind": decision.kind,
        "field": decision.field,
        "origin": decision.origin,
        "answer": str(decision.answer_id) if decision.answer_id else None,
        "imported": decision.imported_id,
        "round": decision.round_id,
        "decided_by": decision.decided_by_id,
        "reason": decision.reason,
        "decided_at": decision.decided_at,
    }


def decision_contents(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    return [decision_content(d) for d in decisions]
