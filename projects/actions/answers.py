"""Storing what a person said: idempotent by UUID, ordered by revision, never lost, never changed."""

import uuid as uuids
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, QuerySet
from django.utils import timezone

from accounts.models import User
from accounts.prepared import Change, Read, insert
from accounts.problems import Conflict, NotFound, Refused, RoundClosed, StaleRevision, UuidReused
from audit.digests import digest_of

from .. import kinds
from ..leaves import answer_content
from ..models import Answer, Assignment, Outcome, Participant, Round
from . import queue
from .participation import require_consent


@dataclass(frozen=True)
class Submission:
    """One submission as the client sent it; ``digest`` is the SHA-256 of its bytes."""

    uuid: uuids.UUID
    digest: str
    assignment: int
    revision: int
    kind: str
    outcome: str
    shown: int
    value: kinds.Value | None = None
    reason: str = ""
    active_ms: int = 0
    comment: str = ""
    flag: bool = False


@dataclass(frozen=True)
class Submitted:
    """The stored answer and the person's hand after it. ``new`` is False when it had been stored before."""

    answer: Answer
    hand: list[Assignment]
    new: bool


#: Annotations of a slot: the fields of the asking person's participation, which says where the next slots are.
PLACE = ("pk", "member_id", "start", "cursor", "wrapped")


def _slots_with_participant() -> QuerySet[Any]:
    place = {f"place_{name}": F(f"round__participants__{name}") for name in PLACE}
    return Assignment.objects.select_related("round", "unit").annotate(
        worker=F("round__participants__member__user"), worker_left_at=F("round__participants__left_at"), **place
    )


def _participant(slot: Assignment) -> Participant:
    """The participation that was read with the slot."""
    fields = {name: vars(slot)[f"place_{name}"] for name in PLACE}
    return Participant(round_id=slot.round_id, **fields)


# What runs at every answer, compiled once (accounts.prepared).
_SLOT = Read(
    lambda slot, user, answer: (
        _slots_with_participant()
        .annotate(is_replay=Exists(Answer.objects.filter(pk=answer)))
        .filter(pk=slot, person__user=user, person__left_at=None, worker=user, worker_left_at=None)[:1]
    ),
    slot=int,
    user=int,
    answer=uuids.UUID,
)
_AT_WORK = Read(
    lambda round, person: Participant.objects.filter(round=round, member=person, left_at=None)[:1],
    round=int,
    person=int,
)
_PARTICIPANT = Read(
    lambda round, user: Participant.objects.select_related("member").filter(
        round=round, member__user=user, member__left_at=None, left_at=None
    )[:1],
    round=int,
    user=int,
)
# The revision is compared on the row itself: a subquery is not looked at again after waiting for a lock.
_MOVE = Change(
    lambda slot, round, revision, answer, following: (
        Assignment.objects.filter(
            pk=slot, revision=revision, round__in=Round.objects.filter(pk=round, status=Round.Status.OPEN)
        ),
        {"revision": following, "current_answer": answer},
    ),
    slot=int,
    round=int,
    revision=int,
    answer=uuids.UUID,
    following=int,
)


def submit(*, user: User, submission: Submission, now: datetime | None = None) -> Submitted:
    """Store one answer and top up the hand, in one transaction.

    The same UUID with the same bytes returns what is stored. Raises `UuidReused` for other bytes, `NotFound` for a
    slot that is not this person's, `RoundClosed`, `StaleRevision` (with the newer revision), `Refused`.
    """
    now = now or timezone.now()
    slot = _SLOT.first(slot=submission.assignment, user=user.pk, answer=submission.uuid)
    if slot is None or vars(slot)["is_replay"]:
        if stored := _replayed(user, submission):
            return Submitted(stored, _hand_again(stored.assignment, now), new=False)
        raise _not_yours()
    require_consent(user, slot.round)
    if not slot.round.is_open:
        raise RoundClosed("The round was closed. Your answer is kept on this computer and was not stored.")
    value = _checked(slot, submission)
    before, number = slot.current_answer_id, slot.number
    for careful in (False, True):
        try:
            with transaction.atomic():
                answer = _store(slot, submission, value, author=slot.person_id or 0, now=now)
                hand = queue.hand(round=slot.round, participant=_participant(slot), now=now, careful=careful)
                return Submitted(answer, hand, new=True)
        except IntegrityError:
            # The same submission on two connections at once, or another revision that was a moment faster; or the
            # hand met its own person in another tab, and is then topped up slot by slot.
            if stored := _replayed(user, submission):
                return Submitted(stored, _hand_again(stored.assignment, now), new=False)
            slot.revision, slot.current_answer_id, slot.number = submission.revision, before, number
            if careful:
                raise _stale(slot) from None
    raise AssertionError("the second attempt returns or raises")


def _replayed(user: User, submission: Submission) -> Answer | None:
    stored = (
        Answer.objects.filter(pk=submission.uuid)
        .select_related("author", "assignment__round", "assignment__unit")
        .first()
    )
    if stored is None:
        return None
    is_theirs = stored.author.user_id == user.pk
    if not is_theirs and not _SLOT.all(slot=submission.assignment, user=user.pk, answer=submission.uuid):
        # Whoever has no business with the slot is told no more than if there were no such answer.
        raise _not_yours()
    if not is_theirs or stored.body_digest != submission.digest:
        raise UuidReused("This identifier was used for another answer. Nothing was stored or changed.")
    return stored


def _not_yours() -> NotFound:
    return NotFound("This is not one of your slots.")


def _checked(slot: Assignment, submission: Submission) -> kinds.Value | None:
    """The value after every check of its kind; None for a skip."""
    kind = kinds.get(slot.round.kind)
    if submission.kind != kind.key:
        raise Refused.field("kind", f"This round asks for {kind.key!r}, not {submission.kind!r}.")
    if submission.outcome == Outcome.SKIPPED:
        if submission.reason not in {r.code for r in kind.skip_reasons}:
            raise Refused.field("reason", "Say why it is skipped: one of the reasons of this kind.")
        return None
    if submission.value is None:
        raise Refused.field("value", "An answer needs a value.")
    kind.check(slot.unit, submission.value)
    return submission.value


def _store(
    slot: Assignment, submission: Submission, value: kinds.Value | None, *, author: int, now: datetime
) -> Answer:
    """Insert the answer and its typed rows, and move the slot's two pointers by compare-and-set."""
    if submission.revision != slot.revision:
        raise _stale(slot)
    answer = insert_answer(slot, submission, value, author=author, now=now)
    moved = _MOVE.run(
        slot=slot.pk, round=slot.round_id, revision=submission.revision, answer=answer.pk, following=answer.revision
    )
    if not moved:
        raise _stale(slot)
    slot.revision, slot.current_answer = answer.revision, answer
    if submission.outcome == Outcome.SKIPPED:
        _pass_on(slot, now)
    elif slot.number < 0:
        _take_back(slot)
    return answer


def insert_answer(
    slot: Assignment, submission: Submission, value: kinds.Value | None, *, author: int, now: datetime
) -> Answer:
    """Insert one answer with its typed rows and its digest. The caller has checked it and moves the pointers."""
    answer = _answer(slot, slot.round, submission, value, author=author, now=now)
    insert([answer])
    if value is not None:
        kinds.get(slot.round.kind).store([(answer, value)])
    return answer


def insert_answers(
    round: Round, given: Sequence[tuple[Assignment, Submission, kinds.Value]], *, author: int, now: datetime
) -> list[Answer]:
    """As `insert_answer` for many slots of one round, in a fixed number of queries."""
    rows = [_answer(slot, round, submission, value, author=author, now=now) for slot, submission, value in given]
    answers = Answer.objects.bulk_create(rows)
    kinds.get(round.kind).store([(a, value) for a, (_, _, value) in zip(answers, given, strict=True)])
    return answers


def _answer(
    slot: Assignment, round: Round, submission: Submission, value: kinds.Value | None, *, author: int, now: datetime
) -> Answer:
    answer = Answer(
        uuid=submission.uuid,
        assignment=slot,
        author_id=author,
        revision=submission.revision + 1,
        outcome=submission.outcome,
        reason=submission.reason,
        guideline_id=round.guideline_id,
        body_digest=submission.digest,
        shown=submission.shown,
        received_at=now,
        active_ms=submission.active_ms,
        comment=submission.comment,
        flag=submission.flag,
    )
    answer.digest = digest_of(answer_content(answer, value))
    return answer


def _stale(slot: Assignment) -> Conflict:
    """What to tell the person whose revision is not the newest: both versions, and nothing deleted."""
    now = Assignment.objects.select_related("round", "current_answer").get(pk=slot.pk)
    if not now.round.is_open:
        return RoundClosed("The round was closed. Your answer is kept on this computer and was not stored.")
    current = now.current_answer
    value = kinds.get(now.round.kind).values([current]).get(current.pk) if current else None
    return StaleRevision(
        "A newer revision of this answer is stored. Nothing was deleted: compare the two and decide.",
        current={
            "revision": now.revision,
            "outcome": current.outcome if current else None,
            "value": value,
            "received_at": current.received_at.isoformat() if current else None,
        },
    )


def _pass_on(slot: Assignment, now: datetime) -> None:
    """A skip frees the slot for another person; the skipper keeps the retired one, and the unit only once."""
    if slot.number < 1:
        return
    number = slot.number
    Assignment.objects.filter(pk=slot.pk).update(number=-slot.pk)
    slot.number = number
    queue.replacement(slot, person_id=None, leased_until=now)
    slot.number = -slot.pk


def _take_back(slot: Assignment) -> None:
    """An answer on a retired slot counts after all while a fresh slot of the unit is still unclaimed."""
    unclaimed = Assignment.objects.filter(
        round=slot.round_id, unit=slot.unit_id, repeat=slot.repeat, number__gte=1, person=None, current_answer=None
    ).order_by("number")
    for free in unclaimed:
        same = Assignment.objects.filter(pk=free.pk, person=None, current_answer=None, number=free.number)
        if same.update(number=-free.pk, leased_until=None):
            Assignment.objects.filter(pk=slot.pk).update(number=free.number)
            slot.number = free.number
            return


def _hand_again(slot: Assignment, now: datetime) -> list[Assignment]:
    """The hand of the slot's person, for a reply that was sent before."""
    participant = _AT_WORK.first(round=slot.round_id, person=slot.person_id)
    if participant is None or not slot.round.is_open:
        return []
    with transaction.atomic():
        return queue.hand(round=slot.round, participant=participant, now=now)


def participant_of(user: User, round: Round) -> Participant:
    """The user's participation in a round, or `NotFound`."""
    found = _PARTICIPANT.first(round=round.pk, user=user.pk)
    if found is None:
        raise NotFound("You are not at work in this round.")
    require_consent(user, round)
    return found


def next_hand(*, user: User, round: Round, now: datetime | None = None) -> list[Assignment]:
    """The person's hand, renewed and topped up; empty in a closed round. Repeating it claims nothing more."""
    participant = participant_of(user, round)
    if not round.is_open:
        return []
    with transaction.atomic():
        return queue.hand(round=round, participant=participant, now=now or timezone.now())
