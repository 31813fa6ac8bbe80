"""Cards: what people see of their assignments. Each kind builds its cards in batches."""

from collections.abc import Iterable, Sequence
from typing import Any

from .. import kinds
from ..gold.queries import newest_decisions, of_kind, values_of
from ..models import Assignment, Decision, Member, Participant, Reference, Round, Unit


def cards(round: Round, slots: Sequence[Assignment]) -> list[dict[str, Any]]:
    """Return the cards of assignments of one round, in their order. The number of queries is fixed."""
    if not slots:
        return []
    kind = kinds.get(round.kind)
    batch = kind.load(slots, round)
    answer_ids = [slot.current_answer_id for slot in slots if slot.current_answer_id]
    values = kind.values(answer_ids) if answer_ids else {}
    # Not in practice rounds: their participants must not learn the expected value from the card.
    shown_of = _values_to_review(slots, kind.key) if round.meaning.shows_value else {}
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
    """Return the card of a unit for a curator, outside of rounds and without a value."""
    slot = kinds.curator_assignment(unit, kind, person)
    slot.pk, slot.position = 0, 0
    return cards(slot.round, [slot])[0]


def _values_to_review(slots: Sequence[Assignment], kind: str) -> dict[int, tuple[dict[str, Any] | None, list[int]]]:
    """Return the value to review and the ids of its decisions, by assignment id.

    They are the current decisions, or, for an answered assignment, the references of its answer.
    """
    units = {slot.unit_id: slot.unit for slot in slots}
    now: dict[int, list[Decision]] = {unit: [] for unit in units}
    for (unit, _), decision in of_kind(newest_decisions(units, kind), kind).items():
        now[unit].append(decision)
    values = values_of(list(units.values()), kind, [d for by_assignment in now.values() for d in by_assignment])
    by_assignment = {slot.pk: (values[slot.unit_id] or None, sorted(d.pk for d in now[slot.unit_id])) for slot in slots}
    answered = {slot.current_answer_id: slot for slot in slots if slot.current_answer_id}
    if answered:
        of: dict[int, list[int]] = {}
        for answer, pk in (
            Reference.objects.filter(answer__in=answered).order_by("decision").values_list("answer", "decision")
        ):
            of.setdefault(answered[answer].pk, []).append(pk)
        by_assignment |= {slot: (by_assignment[slot][0], decisions) for slot, decisions in of.items()}
    return by_assignment


def reply(round: Round, hand: Sequence[Assignment], *, have: Iterable[int]) -> dict[str, Any]:
    """Return the ids of all held assignments, and the cards that the client does not have yet."""
    known = set(have)
    return {"hand": [slot.pk for slot in hand], "fetched": cards(round, [s for s in hand if s.pk not in known])}


def recent(round: Round, member: Member, limit: int) -> list[dict[str, Any]]:
    """Return the cards of the member's last answers in a round, newest first."""
    slots = (
        Assignment.objects.filter(round=round, person=member, current_answer__isnull=False)
        .select_related("unit", "current_answer")
        .order_by("-current_answer__received_at", "-pk")[:limit]
    )
    return cards(round, list(slots))


def of_person(round: Round, participant: Participant) -> dict[str, int | None]:
    """Return one person's progress.

    The ``total`` is known for a fixed allocation, and for a shared queue in which every participant answers every unit.
    """
    own = Assignment.objects.filter(round=round, person=participant.member_id)
    done = own.filter(current_answer__isnull=False).count()
    if round.has_known_share:
        return {"done": done, "total": done + own.counted().unanswered().count()}
    everyone = round.participants.filter(left_at=None).count() <= round.overlap
    return {"done": done, "total": round.units_count if everyone else None}
