"""Which decisions an answer is given of, or held against, and whether it says the same."""

from api.problems import Refused

from .. import kinds
from ..models import Answer, Assignment, Decision, Reference, Round
from ..values.in_force import decisions_in_force, values_of


def references(slot: Assignment, value: kinds.Value | None, shown: list[int]) -> list[Reference]:
    """What is to be stored with an answer to this slot; nothing in rounds that neither show values nor give feedback.

    ``shown``: ids of the decisions that the person had before them. Raises `Refused` where they are no decisions of
    this unit, or are not said though something was in force when the round began.
    """
    round = slot.round
    if value is None:
        return []
    if round.meaning.gives_feedback:
        return _expected(slot, value)
    if round.meaning.shows_value:
        return _reviewed(slot, value, shown)
    return []


def store(answer: Answer, held: list[Reference]) -> None:
    for reference in held:
        reference.answer = answer
    Reference.objects.bulk_create(held)


def _expected(slot: Assignment, value: kinds.Value) -> list[Reference]:
    kind, round = kinds.get(slot.round.kind), slot.round
    found = decisions_in_force([slot.unit_id], kind.key)
    decisions = [d for name in kind.fields_of(round) if (d := found.get((slot.unit_id, name)))]
    expected = values_of([slot.unit], kind.key, decisions)[slot.unit_id]
    judged = [(d, kind.matches(d.field, value, expected, round)) for d in decisions]
    return [Reference(decision=d, same=right) for d, right in judged if right is not None]


def _reviewed(slot: Assignment, value: kinds.Value, shown: list[int]) -> list[Reference]:
    kind = kinds.get(slot.round.kind)
    decisions = list(Decision.objects.values_said().filter(pk__in=shown, unit=slot.unit_id, kind=kind.key).order_by())
    if len(decisions) != len(set(shown)) or len({d.field for d in decisions}) != len(decisions):
        raise Refused.field("references", "Send back the decisions of this unit that its card names.")
    if not decisions and _was_decided(slot, slot.round):
        raise Refused.field("references", "Say which decisions were shown: the card names them.")
    before = values_of([slot.unit], kind.key, decisions)[slot.unit_id]
    return [Reference(decision=d, same=kind.says_same(d.field, before, value)) for d in decisions]


def _was_decided(slot: Assignment, round: Round) -> bool:
    """What is decided since the round began may have come after the card was shown."""
    standing = decisions_in_force([slot.unit_id], round.kind).values()
    return any(decision.decided_at <= round.opened_at for decision in standing)
