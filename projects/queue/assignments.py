"""Held assignments: which assignments a person holds, and how the person claims more.

Every change of an assignment is a compare-and-set (`UPDATE ... WHERE <values that were read>`). Each assignment
therefore has one owner, however many people claim at once, on both SQLite and PostgreSQL. See
docs/decisions/0010-assignments.md.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache, partial

from django.db.models import F, OuterRef, QuerySet, Subquery

from sql.compiled import CompiledSelect, CompiledUpdate

from ..models import Assignment, Participant, Round, Unit
from ..models.round import RETURNED, WALK

#: Candidates per search, so that losing a race needs no new search.
LOOKAHEAD = 4
#: Searches before giving up if others claim all candidates.
SEARCHES = 25
#: The cursor is stored once per this many positions. A search from slightly before it finds the same assignments.
STRIDE = 16


def _exclude_known_units(assignments: QuerySet[Assignment], person: int) -> QuerySet[Assignment]:
    """Exclude units of which the person has or had an assignment, so that nobody gets a unit twice."""
    own = Assignment.objects.filter(
        round=OuterRef("round"), unit=OuterRef("unit"), repeat=OuterRef("repeat"), person=person
    )
    # A scalar subquery, not NOT EXISTS: PostgreSQL turns the latter into a join. Without statistics of the round, that
    # join scans the whole round for each candidate. A scalar subquery always uses its index.
    return assignments.alias(had=Subquery(own.values("pk")[:1])).filter(had=None)


def _search(
    size: int, round: int, person: int, now: object, cursor: int, end: int | None = None
) -> QuerySet[Assignment]:
    """Find up to ``size`` assignments that the person holds, and candidates for more.

    The candidates are up to `LOOKAHEAD` assignments that were given up, and as many free ones after the cursor.
    """
    assignments = Assignment.objects.filter(round=round)
    own_open = assignments.filter(person=person).counted().unanswered().order_by(*WALK)[:size]
    reclaimable = _exclude_known_units(assignments.reclaimable(now), person)[:LOOKAHEAD]
    ahead = _exclude_known_units(assignments.filter(position__gt=cursor).free(), person).order_by(*WALK)
    ahead = (ahead if end is None else ahead.filter(position__lt=end))[:LOOKAHEAD]
    # Separate subqueries: SQLite allows no ORDER BY and LIMIT in the parts of a union.
    parts = [
        Assignment.objects.filter(pk__in=part.values("pk")).values("pk") for part in (own_open, reclaimable, ahead)
    ]
    candidates = parts[0].union(*parts[1:], all=True)
    return Assignment.objects.filter(pk__in=candidates).select_related("unit").order_by(*WALK)


# Compiled once, because these statements run for every answer (sql.compiled).
@cache
def _searches(size: int) -> tuple[CompiledSelect[Assignment], CompiledSelect[Assignment]]:
    """Return the compiled searches for a batch size: to the end of the queue, and to a position in it."""
    search, values = partial(_search, size), {"round": int, "person": int, "now": datetime, "cursor": int}
    return CompiledSelect(search, **values), CompiledSelect(search, **values, end=int)


_TAKE_FREE = CompiledUpdate(
    lambda assignment, person, until: (
        Assignment.objects.filter(pk=assignment, person=None, leased_until=None, current_answer=None),
        {"person": person, "leased_until": until},
    ),
    assignment=int,
    person=int,
    until=datetime,
)
_MOVE_CURSOR = CompiledUpdate(
    lambda participant, cursor: (Participant.objects.filter(pk=participant), {"cursor": cursor}),
    participant=int,
    cursor=int,
)


def lock_participation(participant: Participant) -> bool:
    """Lock the participation until the transaction ends. Return False if the person has left the round."""
    return bool(Participant.objects.select_for_update(no_key=True).filter(pk=participant.pk, left_at=None))


def top_up(*, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Renew and top up the assignments that the person holds in an open round, and return them in working order.

    Idempotent except for leases: it never claims more than the round allows a person to hold. The caller must hold the
    participant lock. The person's browser tabs then claim one after the other, and the person cannot be removed
    meanwhile.
    """
    most = round.held_limit if participant.quota is None else min(round.held_limit, quota_left(round, participant))
    candidates = _search_candidates(round, participant, now)
    own_open = [assignment for assignment in candidates if assignment.person_id == participant.member_id]
    own_open = _renew(own_open[:most], round=round, now=now)
    if len(own_open) < most:
        claim = _Claim(round, participant, now)
        own_open += claim.up_to(
            most - len(own_open),
            [assignment for assignment in candidates if assignment.person_id != participant.member_id],
        )
    return own_open


def quota_left(round: Round, participant: Participant) -> int:
    """Return how many more units a person with a quota may answer. Skipped units do not count."""
    answered = Assignment.objects.filter(round=round, person=participant.member_id, current_answer__isnull=False)
    return max(0, (participant.quota or 0) - answered.counted().count())


def held_assignments(round: Round, participant: Participant) -> QuerySet[Assignment]:
    """Return the unanswered assignments that the person holds, in working order."""
    own = Assignment.objects.filter(round=round, person=participant.member_id)
    return own.counted().unanswered().select_related("unit").order_by(*WALK)


def claim(wanted: int, *, round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Claim up to ``wanted`` more assignments: given-up ones first, then free ones.

    The caller must hold the participant lock.
    """
    candidates = [
        assignment
        for assignment in _search_candidates(round, participant, now)
        if assignment.person_id != participant.member_id
    ]
    return _Claim(round, participant, now).up_to(wanted, candidates)


def _search_candidates(round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Search from the person's cursor to the end, or, after wrapping around, to the start position."""
    where = {"round": round.pk, "person": participant.member_id, "now": now, "cursor": participant.cursor}
    to_the_end, to_a_place = _searches(round.held_limit)
    return to_a_place.all(**where, end=participant.start) if participant.wrapped else to_the_end.all(**where)


def _renew(own_open: list[Assignment], *, round: Round, now: datetime) -> list[Assignment]:
    """Extend leases of which half has passed. Leave out assignments that another person has taken."""
    late = now + timedelta(seconds=round.lease_seconds / 2)
    until = now + timedelta(seconds=round.lease_seconds)
    renewed = []
    for assignment in own_open:
        if assignment.leased_until is not None and assignment.leased_until < late:
            same = Assignment.objects.filter(
                pk=assignment.pk, person=assignment.person_id, current_answer=None, number__gte=1
            )
            if not same.update(leased_until=until):
                continue
            assignment.leased_until = until
        renewed.append(assignment)
    return renewed


class _Claim:
    """Claims assignments for one person: given-up ones first, then, in a shared queue, free ones from the cursor on."""

    def __init__(self, round: Round, participant: Participant, now: datetime) -> None:
        self.round, self.participant, self.now = round, participant, now
        self.until = now + timedelta(seconds=round.lease_seconds)
        self.got: list[Assignment] = []

    def up_to(self, wanted: int, candidates: list[Assignment]) -> list[Assignment]:
        """Claim from the candidates, and search again if others claimed them first."""
        for assignment in candidates:
            if assignment.leased_until is not None and len(self.got) < wanted and self._is_new(assignment):
                claimed = _take_given_up(assignment, round=self.round, participant=self.participant, now=self.now)
                self.got += [claimed] if claimed else []
        if self.round.allocation == Round.Allocation.SHARED and len(self.got) < wanted:
            self._walk(wanted, _free(candidates))
        return self.got

    def _is_new(self, assignment: Assignment) -> bool:
        return all(assignment.unit_id != other.unit_id for other in self.got)

    def _walk(self, wanted: int, candidates: list[Assignment]) -> None:
        """Claim free assignments from the cursor to the end, then from the beginning to the start position."""
        participant, before = self.participant, self.participant.cursor
        for _ in range(SEARCHES):
            if not candidates:
                if participant.wrapped or participant.start == 0:
                    break
                participant.wrapped, participant.cursor, before = True, -1, -1
                Participant.objects.filter(pk=participant.pk).update(wrapped=True, cursor=-1)
            for assignment in candidates:
                if self._is_new(assignment) and self._take_free(assignment):
                    self.got.append(assignment)
                    participant.cursor = assignment.position
                    if len(self.got) == wanted:
                        break
            if len(self.got) == wanted:
                break
            candidates = _free(_search_candidates(self.round, participant, self.now))
        if participant.cursor // STRIDE != before // STRIDE:
            _MOVE_CURSOR.run(participant=participant.pk, cursor=participant.cursor)

    def _take_free(self, assignment: Assignment) -> bool:
        is_claimed = _TAKE_FREE.run(assignment=assignment.pk, person=self.participant.member_id, until=self.until)
        if is_claimed:
            assignment.person_id, assignment.leased_until = self.participant.member_id, self.until
        return bool(is_claimed)


def _free(candidates: Iterable[Assignment]) -> list[Assignment]:
    """Return the assignments that never had a person."""
    return [assignment for assignment in candidates if assignment.person_id is None and assignment.leased_until is None]


def _take_given_up(
    assignment: Assignment, *, round: Round, participant: Participant, now: datetime
) -> Assignment | None:
    """Take over an assignment that was skipped or whose lease has expired.

    An assignment that has a person is retired and replaced, and stays with that person.
    """
    until = now + timedelta(seconds=round.lease_seconds)
    as_read = Assignment.objects.filter(
        pk=assignment.pk,
        person=assignment.person_id,
        leased_until=assignment.leased_until,
        current_answer=None,
        number=assignment.number,
    )
    if assignment.person_id is not None:
        retired = as_read.update(number=-assignment.pk)
        return create_replacement(assignment, person_id=participant.member_id, leased_until=until) if retired else None
    if not as_read.update(person=participant.member_id, leased_until=until):
        return None
    assignment.person_id, assignment.leased_until = participant.member_id, until
    return assignment


def create_replacement(
    assignment: Assignment, *, person_id: int | None, leased_until: datetime | None, unit: Unit | None = None
) -> Assignment:
    """Create an assignment with the number of one that was just retired, in the same transaction.

    ``unit`` is given if another unit superseded the unit of the retired assignment.
    """
    return Assignment.objects.create(
        round_id=assignment.round_id,
        unit=unit or assignment.unit,
        number=assignment.number,
        repeat=assignment.repeat,
        position=assignment.position,
        person_id=person_id,
        leased_until=leased_until,
    )


def retire_repeats(assignment: Assignment) -> None:
    """Retire the person's repetitions of a unit that the person gave up."""
    if "repeats" in assignment.round.sampling:
        repeats = Assignment.objects.filter(
            round=assignment.round_id, unit=assignment.unit_id, person=assignment.person_id
        ).repeats()
        repeats.counted().unanswered().update(number=-F("pk"))


def release_assignments(
    assignments: Iterable[Assignment], *, now: datetime, pass_on: bool = True
) -> Iterator[Assignment]:
    """Retire unanswered assignments of people who left, and yield their free replacements.

    With ``pass_on`` False there are no replacements, because assignments belong to one person.
    """
    for assignment in assignments:
        same = Assignment.objects.filter(
            pk=assignment.pk, person=assignment.person_id, current_answer=None, number=assignment.number
        )
        if same.update(number=-assignment.pk) and assignment.repeat in (0, RETURNED) and pass_on:
            yield create_replacement(assignment, person_id=None, leased_until=now)
