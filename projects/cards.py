"""Cards: what a person is shown of the units in hand, built by their kind, batch by batch."""

from collections.abc import Iterable, Sequence
from typing import Any

from . import kinds
from .in_force import values_in_force
from .models import Assignment, Member, Purpose, Round


def cards(round: Round, slots: Sequence[Assignment]) -> list[dict[str, Any]]:
    """The cards of some slots of one round, in their order. A fixed number of queries, whatever their number."""
    if not slots:
        return []
    kind = kinds.get(round.kind)
    batch = kind.load(slots, round)
    said = [slot.current_answer_id for slot in slots if slot.current_answer_id]
    values = kind.values(said) if said else {}
    existing: dict[int, Any] = {}
    if round.purpose == Purpose.REVIEW_AND_CORRECT:
        existing = values_in_force([slot.unit for slot in slots], kind.key)
    out = []
    for slot in slots:
        answer = slot.current_answer
        shown = existing.get(slot.unit_id) or None
        out.append(
            {
                "kind": kind.key,
                "assignment": slot.pk,
                "revision": slot.revision,
                "shown": slot.unit.revision,
                "position": slot.position,
                "unit": {"id": slot.unit_id, "key": slot.unit.key},
                "answered_at": answer.received_at if answer else None,
                "outcome": answer.outcome if answer else None,
                "comment": answer.comment if answer else "",
                "flag": answer.flag if answer else False,
                "value": values.get(answer.pk) if answer else shown,
                **kind.card(slot, batch, round),
            }
        )
    return out


def reply(round: Round, hand: Sequence[Assignment], *, have: Iterable[int]) -> dict[str, Any]:
    """The hand as the client wants it: all ids, and the cards that it does not hold."""
    held = set(have)
    return {"hand": [slot.pk for slot in hand], "fetched": cards(round, [s for s in hand if s.pk not in held])}


def recent(round: Round, member: Member, limit: int) -> list[dict[str, Any]]:
    """The member's last answers in a round, newest first."""
    slots = (
        Assignment.objects.filter(round=round, person=member, current_answer__isnull=False)
        .select_related("unit", "current_answer")
        .order_by("-current_answer__received_at", "-pk")[:limit]
    )
    return cards(round, list(slots))
