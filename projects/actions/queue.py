"""The hand: which slots a person holds, and how more are claimed.

Every change of a slot is a compare-and-set (`UPDATE ... WHERE <what was read>`), so that however many people press at
once each slot has one owner, on SQLite and PostgreSQL alike. See docs/decisions/0002-slots.md.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache, partial

from django.db.models import F, OuterRef, QuerySet, Subquery

from sql.compiled import CompiledSelect, CompiledUpdate

from ..models import Assignment, Participant, Round, Unit
from ..models.round import WALK

#: How many candidates one search brings, so that losing a race costs no new search.
LOOKAHEAD = 4
#: How often a search is repeated when others took every candidate.
SEARCHES = 25
#: The cursor is written once in so many places: a search that begins a little behind finds the same.
STRIDE = 16


def _unless_had(slots: QuerySet[Assignment], person: int) -> QuerySet[Assignment]:
    """Leave out units of which the person has, or had, a slot: nobody gets a unit twice."""
    had = Assignment.objects.filter(
        round=OuterRef("round"), unit=OuterRef("unit"), repeat=OuterRef("repeat"), person=person
    )
    # As a value, not as NOT EXISTS: of that PostgreSQL makes a join, and, where it knows nothing of the round yet, one
    # that walks all of the round for each candidate. A value is looked up by its index, whatever is known.
    return slots.alias(had=Subquery(had.values("pk")[:1])).filter(had=None)


def _search(
    size: int, round: int, person: int, now: object, cursor: int, end: int | None = None
) -> QuerySet[Assignment]:
    """What the person holds, up to ``size``; what was given up and what is free ahead, up to `LOOKAHEAD` each."""
    slots = Assignment.objects.filter(round=round)
    held = slots.filter(person=person).counted().unanswered().order_by(*WALK)[:size]
    second_hand = _unless_had(slots.second_hand(now), person)[:LOOKAHEAD]
    ahead = _unless_had(slots.filter(position__gt=cursor).free(), person).order_by(*WALK)
    ahead = (ahead if end is None else ahead.filter(position__lt=end))[:LOOKAHEAD]
    # Each in a query of its own: SQLite wants no order and no limit in the parts of a union.
    parts = [Assignment.objects.filter(pk__in=part.values("pk")).values("pk") for part in (held, second_hand, ahead)]
    found = parts[0].union(*parts[1:], all=True)
    return Assignment.objects.filter(pk__in=found).select_related("unit").order_by(*WALK)


# What runs at every answer, compiled once (sql.compiled).
@cache
def _searches(size: int) -> tuple[CompiledSelect[Assignment], CompiledSelect[Assignment]]:
    """For hands of a size: to the end of the walk, and to a place in it."""
    search, values = partial(_search, size), {"round": int, "person": int, "now": datetime, "cursor": int}
    return CompiledSelect(search, **values), CompiledSelect(search, **values, end=int)


_TAKE_FREE = CompiledUpdate(
    lambda slot, person, until: (
        Assignment.objects.filter(pk=slot, person=None, leased_until=None, current_answer=None),
        {"person": person, "leased_until": until},
    ),
    slot=int,
    person=int,
    until=datetime,
)
_MOVE_CURSOR = CompiledUpdate(
    lambda participant, cursor: (Participant.objects.filter(pk=participant), {"cursor": cursor}),
    participant=int,
    cursor=int,
)


def turn(participant: Participant) -> bool:
    """Take the person's turn until the transaction ends; False for whoever has left the round."""
    return bool(Participant.objects.select_for_update(no_key=True).filter(pk=participant.pk, left_at=None))


def hand(*, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """The person's hand in an open round, renewed and topped up, in the order in which it is worked.

    Claims nothing beyond what the round lets a person hold, so repeating it changes nothing but leases. Call it in the
    person's *turn*, a transaction that holds the participation: one's own tabs claim one after the other, and nobody is
    taken out of the round in the middle of it.
    """
    found = _found(round, participant, now)
    held = _renew([slot for slot in found if slot.person_id == participant.member_id], round=round, now=now)
    if len(held) < round.hand_size:
        claim = _Claim(round, participant, now)
        held += claim.up_to(
            round.hand_size - len(held), [slot for slot in found if slot.person_id != participant.member_id]
        )
    return held


def held(round: Round, participant: Participant) -> QuerySet[Assignment]:
    """The slots that the person holds and has not answered, in the order of the walk."""
    mine = Assignment.objects.filter(round=round, person=participant.member_id)
    return mine.counted().unanswered().select_related("unit").order_by(*WALK)


def claim(wanted: int, *, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Up to ``wanted`` slots more: given-up ones first, then free ones along the walk. In the person's turn."""
    found = [slot for slot in _found(round, participant, now) if slot.person_id != participant.member_id]
    return _Claim(round, participant, now).up_to(wanted, found)


def _found(round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """What `_search` finds from the person's cursor on: to the end, and then from the beginning to the start."""
    where = {"round": round.pk, "person": participant.member_id, "now": now, "cursor": participant.cursor}
    to_the_end, to_a_place = _searches(round.hand_size)
    return to_a_place.all(**where, end=participant.start) if participant.wrapped else to_the_end.all(**where)


def _renew(held: list[Assignment], *, round: Round, now: datetime) -> list[Assignment]:
    """Extend leases that have run half. A slot that another person took meanwhile drops out."""
    late = now + timedelta(seconds=round.lease_seconds / 2)
    until = now + timedelta(seconds=round.lease_seconds)
    kept = []
    for slot in held:
        if slot.leased_until is not None and slot.leased_until < late:
            same = Assignment.objects.filter(pk=slot.pk, person=slot.person_id, current_answer=None, number__gte=1)
            if not same.update(leased_until=until):
                continue
            slot.leased_until = until
        kept.append(slot)
    return kept


class _Claim:
    """Claiming slots for one person: given-up ones first, then, in a pool round, free ones along the person's walk."""

    def __init__(self, round: Round, participant: Participant, now: datetime) -> None:
        self.round, self.participant, self.now = round, participant, now
        self.until = now + timedelta(seconds=round.lease_seconds)
        self.got: list[Assignment] = []

    def up_to(self, wanted: int, found: list[Assignment]) -> list[Assignment]:
        """Claim among what was found and, where others were faster, search again."""
        for slot in found:
            if slot.leased_until is not None and len(self.got) < wanted and self._is_new(slot):
                taken = _take_second_hand(slot, round=self.round, participant=self.participant, now=self.now)
                self.got += [taken] if taken else []
        if self.round.dealing == Round.Dealing.POOL and len(self.got) < wanted:
            self._walk(wanted, _free(found))
        return self.got

    def _is_new(self, slot: Assignment) -> bool:
        return all(slot.unit_id != other.unit_id for other in self.got)

    def _walk(self, wanted: int, candidates: list[Assignment]) -> None:
        """Claim free slots from the person's cursor on, to the end and then from the beginning to the start."""
        participant, before = self.participant, self.participant.cursor
        for _ in range(SEARCHES):
            if not candidates:
                if participant.wrapped or participant.start == 0:
                    break
                participant.wrapped, participant.cursor, before = True, -1, -1
                Participant.objects.filter(pk=participant.pk).update(wrapped=True, cursor=-1)
            for slot in candidates:
                if self._is_new(slot) and self._take_free(slot):
                    self.got.append(slot)
                    participant.cursor = slot.position
                    if len(self.got) == wanted:
                        break
            if len(self.got) == wanted:
                break
            candidates = _free(_found(self.round, participant, self.now))
        if participant.cursor // STRIDE != before // STRIDE:
            _MOVE_CURSOR.run(participant=participant.pk, cursor=participant.cursor)

    def _take_free(self, slot: Assignment) -> bool:
        taken = _TAKE_FREE.run(slot=slot.pk, person=self.participant.member_id, until=self.until)
        if taken:
            slot.person_id, slot.leased_until = self.participant.member_id, self.until
        return bool(taken)


def _free(found: Iterable[Assignment]) -> list[Assignment]:
    """Those that nobody ever had."""
    return [slot for slot in found if slot.person_id is None and slot.leased_until is None]


def _take_second_hand(slot: Assignment, *, round: Round, participant: Participant, now: datetime) -> Assignment | None:
    """Take over a slot that was skipped, or whose lease has lapsed: the lapsed one is retired with its person."""
    until = now + timedelta(seconds=round.lease_seconds)
    as_read = Assignment.objects.filter(
        pk=slot.pk, person=slot.person_id, leased_until=slot.leased_until, current_answer=None, number=slot.number
    )
    if slot.person_id is not None:
        retired = as_read.update(number=-slot.pk)
        return replacement(slot, person_id=participant.member_id, leased_until=until) if retired else None
    if not as_read.update(person=participant.member_id, leased_until=until):
        return None
    slot.person_id, slot.leased_until = participant.member_id, until
    return slot


def replacement(
    slot: Assignment, *, person_id: int | None, leased_until: datetime | None, unit: Unit | None = None
) -> Assignment:
    """A fresh slot in the place of one that was retired just before, in the same transaction; of another unit where
    that one's text took its place."""
    return Assignment.objects.create(
        round_id=slot.round_id,
        unit=unit or slot.unit,
        number=slot.number,
        repeat=slot.repeat,
        position=slot.position,
        person_id=person_id,
        leased_until=leased_until,
    )


def retire_repeats(slot: Assignment) -> None:
    """Whoever gives a unit up is not asked it again."""
    if "repeats" in slot.round.sampling:
        again = Assignment.objects.filter(round=slot.round_id, unit=slot.unit_id, person=slot.person_id, repeat__gt=0)
        again.counted().unanswered().update(number=-F("pk"))


def release_slots(slots: Iterable[Assignment], *, now: datetime, pass_on: bool = True) -> Iterator[Assignment]:
    """Retire unanswered slots of people who left, and put fresh ones, free to be taken over, in their place; none where
    places are nobody else's (``pass_on``)."""
    for slot in slots:
        same = Assignment.objects.filter(pk=slot.pk, person=slot.person_id, current_answer=None, number=slot.number)
        if same.update(number=-slot.pk) and not slot.repeat and pass_on:
            yield replacement(slot, person_id=None, leased_until=now)
