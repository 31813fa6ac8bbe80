"""What a seal covers of an answer and of a decision: their own columns and the typed rows that hang on them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from .. import kinds
from ..models import Answer, Assignment, Decision, Member, Outcome, Reference


@dataclass(frozen=True)
class Place:
    """Of what an answer is, and by whom: ids of the unit, the round and the author's account."""

    unit: int
    round: int
    user: int

    @classmethod
    def of(cls, slot: Assignment, author: Member) -> "Place":
        return cls(unit=slot.unit_id, round=slot.round_id, user=author.user_id)


def answer_content(
    answer: Answer, value: kinds.Value | None, place: Place, references: Sequence[tuple[int, bool]] = ()
) -> dict[str, Any]:
    """The content whose digest is the answer's leaf; ``value`` is the stored value, None for a skip.

    Answers from before it was recorded how they came were sealed without that, and without their place. ``references``:
    the decisions that it was given of or held against, and whether it says the same; left out where there are none.
    """
    later = {"came_by": answer.came_by, "entry": answer.entry_id, **asdict(place)} if answer.came_by else {}
    held = {"references": [[decision, same] for decision, same in sorted(references)]} if references else {}
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
        **later,
        **held,
    }


def answer_contents(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """The contents of a batch of answers, read back from their rows: a few queries a kind, whatever the number."""
    found = {
        pk: (kind, Place(*place))
        for pk, kind, *place in Answer.objects.filter(pk__in=[a.pk for a in answers]).values_list(
            "pk", "assignment__round__kind", "assignment__unit", "assignment__round", "author__user"
        )
    }
    by_kind: dict[str, list[UUID]] = defaultdict(list)
    for answer in answers:
        if answer.outcome == Outcome.ANSWERED:
            by_kind[found[answer.pk][0]].append(answer.pk)
    values = {pk: v for key, rows in by_kind.items() for pk, v in kinds.get(key).values(rows).items()}
    references: dict[UUID, list[tuple[int, bool]]] = defaultdict(list)
    said = Reference.objects.filter(answer__in=[a.pk for a in answers]).order_by()
    for answer_id, decision, same in said.values_list("answer", "decision", "same"):
        references[answer_id].append((decision, same))
    return [answer_content(a, values.get(a.pk), found[a.pk][1], references[a.pk]) for a in answers]


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
