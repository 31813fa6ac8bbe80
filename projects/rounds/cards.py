"""Cards: what a person is shown of the units in hand, built by their kind, batch by batch."""

from collections.abc import Iterable, Sequence
from typing import Any

from .. import kinds
from ..models import Assignment, Decision, Member, Reference, Round, Unit
from ..values.in_force import newest_decisions, of_kind, values_of


def cards(round: Round, slots: Sequence[Assignment]) -> list[dict[str, Any]]:
    """The cards of some slots of one round, in their order. A fixed number of queries, whatever their number."""
    if not slots:
        return []
    kind = kinds.get(round.kind)
    batch = kind.load(slots, round)
    said = [slot.current_answer_id for slot in slots if slot.current_answer_id]
    values = kind.values(said) if said else {}
    # Nothing of it in a round that tells people afterwards: who holds a card must not know what is expected.
    shown_of = _to_be_reviewed(slots, kind.key) if round.meaning.shows_value else {}
    out = []
    for slot in slots:
        answer = slot.current_answer
        shown, references = shown_of.get(slot.pk, (None, []))
        out.append(
            {
                "kind": kind.key,
                "assignment": slot.pk,
                "revision": slot.revision,
                "shown": slot.unit.revision,
                "position": slot.position,
                "unit": {"id": slot.unit_id, "key": "" if kind.blind else slot.unit.key},
                "answered_at": answer.received_at if answer else None,
                "outcome": answer.outcome if answer else None,
                "comment": answer.comment if answer else "",
                "flag": answer.flag if answer else False,
                "references": references,
                "value": values.get(answer.pk) if answer else shown,
                **kind.card(slot, batch, round),
            }
        )
    return out


def of_curator(unit: Unit, kind: str, person: Member) -> dict[str, Any]:
    """A unit as its kind shows it to a curator, outside of rounds and without a value: the page has that."""
    slot = kinds.place(unit, kind, person)
    slot.pk, slot.position = 0, 0
    return cards(slot.round, [slot])[0]


def _to_be_reviewed(slots: Sequence[Assignment], kind: str) -> dict[int, tuple[dict[str, Any] | None, list[int]]]:
    """By slot the value to be reviewed, and the decisions that it consists of: those in force, or of an answered slot
    those that its answer was given of."""
    units = {slot.unit_id: slot.unit for slot in slots}
    now: dict[int, list[Decision]] = {unit: [] for unit in units}
    for (unit, _), decision in of_kind(newest_decisions(units, kind), kind).items():
        now[unit].append(decision)
    values = values_of(list(units.values()), kind, [d for found in now.values() for d in found])
    found = {slot.pk: (values[slot.unit_id] or None, sorted(d.pk for d in now[slot.unit_id])) for slot in slots}
    answered = {slot.current_answer_id: slot for slot in slots if slot.current_answer_id}
    if answered:
        of: dict[int, list[int]] = {}
        for answer, pk in (
            Reference.objects.filter(answer__in=answered).order_by("decision").values_list("answer", "decision")
        ):
            of.setdefault(answered[answer].pk, []).append(pk)
        found |= {slot: (found[slot][0], decisions) for slot, decisions in of.items()}
    return found


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
