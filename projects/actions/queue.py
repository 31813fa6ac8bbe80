"""The hand: which slots a person holds, and how more are claimed.

Every change of a slot is a compare-and-set (`UPDATE ... WHERE <what was read>`), so that however many people press at
once each slot has one owner, on SQLite and PostgreSQL alike. See docs/decisions/0002-slots.md.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from ..models import Assignment, Participant, Round, Unit
from ..models.round import WALK

#: How many slots a person holds at a time: the one that is worked on and the one that comes next.
HAND = 2
#: How many candidates one search brings, so that losing a race costs no new search.
LOOKAHEAD = 8
#: How often a search is repeated when others took every candidate.
SEARCHES = 25


def hand(*, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """The person's hand in an open round, renewed and topped up, in the order in which it is worked.

    Call it inside a transaction. Claims nothing beyond `HAND`, so repeating it changes nothing but leases.
    """
    mine = _renew(list(held(round, participant)[:HAND]), round=round, now=now)
    if len(mine) < HAND:
        mine += claim(HAND - len(mine), round=round, participant=participant, now=now)
    return mine


def held(round: Round, participant: Participant) -> QuerySet[Assignment]:
    """The slots that the person holds and has not answered, in the order of the walk."""
    return (
        Assignment.objects.filter(round=round, person=participant.member_id)
        .counted()
        .unanswered()
        .select_related("unit")
        .order_by(*WALK)
    )


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


def claim(wanted: int, *, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Up to ``wanted`` slots: given-up ones first, then, in a pool round, free ones along the person's walk."""
    claimed: list[Assignment] = []
    for slot in _unless_mine(Assignment.objects.filter(round=round).second_hand(now), participant)[:LOOKAHEAD]:
        if len(claimed) == wanted:
            break
        if slot.unit_id not in {c.unit_id for c in claimed} and (
            taken := _take_second_hand(slot, round=round, participant=participant, now=now)
        ):
            claimed.append(taken)
    if round.dealing == Round.Dealing.POOL and len(claimed) < wanted:
        claimed += _walk(wanted - len(claimed), claimed, round=round, participant=participant, now=now)
    return claimed


def _unless_mine(slots: QuerySet[Assignment], participant: Participant) -> QuerySet[Assignment]:
    """Leave out units of which the person has, or had, a slot: nobody gets a unit twice."""
    mine = Assignment.objects.filter(
        round=OuterRef("round"), unit=OuterRef("unit"), repeat=OuterRef("repeat"), person=participant.member_id
    )
    return slots.filter(~Exists(mine)).select_related("unit")


def _walk(
    wanted: int, claimed: Iterable[Assignment], *, round: Round, participant: Participant, now: datetime
) -> list[Assignment]:
    """Claim free slots from the person's cursor on, to the end and then from the beginning to where it started."""
    units = {slot.unit_id for slot in claimed}
    got: list[Assignment] = []
    for _ in range(SEARCHES):
        ahead = Assignment.objects.filter(round=round, position__gt=participant.cursor).free()
        if participant.wrapped:
            ahead = ahead.filter(position__lt=participant.start)
        candidates = list(_unless_mine(ahead, participant).order_by(*WALK)[:LOOKAHEAD])
        if not candidates:
            if participant.wrapped or participant.start == 0:
                break
            participant.wrapped, participant.cursor = True, -1
            continue
        for slot in candidates:
            if slot.unit_id in units or not _take_free(slot, round=round, participant=participant, now=now):
                continue
            units.add(slot.unit_id)
            got.append(slot)
            participant.cursor = slot.position
            if len(got) == wanted:
                break
        if len(got) == wanted:
            break
    # Written once, whatever was tried: losing this write to a second tab costs a longer search, never a slot.
    Participant.objects.filter(pk=participant.pk).update(cursor=participant.cursor, wrapped=participant.wrapped)
    return got


def _take_free(slot: Assignment, *, round: Round, participant: Participant, now: datetime) -> bool:
    until = now + timedelta(seconds=round.lease_seconds)
    with one_slot_per_person() as taken:
        taken.rows = Assignment.objects.filter(pk=slot.pk, person=None, leased_until=None, current_answer=None).update(
            person=participant.member_id, leased_until=until
        )
    if taken.rows:
        slot.person_id, slot.leased_until = participant.member_id, until
    return bool(taken.rows)


def _take_second_hand(slot: Assignment, *, round: Round, participant: Participant, now: datetime) -> Assignment | None:
    """Take over a slot that was skipped, or whose lease has lapsed: the lapsed one is retired with its person."""
    until = now + timedelta(seconds=round.lease_seconds)
    as_read = Assignment.objects.filter(
        pk=slot.pk, person=slot.person_id, leased_until=slot.leased_until, current_answer=None, number=slot.number
    )
    with one_slot_per_person() as taken:
        if slot.person_id is None:
            taken.rows = as_read.update(person=participant.member_id, leased_until=until)
            fresh = slot
        else:
            taken.rows = as_read.update(number=-slot.pk)
            if taken.rows:
                fresh = replacement(slot, person_id=participant.member_id, leased_until=until)
    if not taken.rows:
        return None
    fresh.person_id, fresh.leased_until = participant.member_id, until
    return fresh


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


class one_slot_per_person:  # noqa: N801 - reads as the guard it is
    """A savepoint in which losing to the unique constraints counts as losing the race."""

    rows = 0

    def __enter__(self) -> "one_slot_per_person":
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self.atomic.__exit__(kind, error, trace)  # type: ignore[arg-type]
        if isinstance(error, IntegrityError):
            self.rows = 0
            return True
        return False


def release_slots(slots: Iterable[Assignment], *, now: datetime) -> Iterator[Assignment]:
    """Retire unanswered slots of people who left, and put fresh ones, free to be taken over, in their place."""
    for slot in slots:
        same = Assignment.objects.filter(pk=slot.pk, person=slot.person_id, current_answer=None, number=slot.number)
        if same.update(number=-slot.pk):
            yield replacement(slot, person_id=None, leased_until=now)
