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
from api import limits
from api.problems import Conflict, NotFound, Refused, RoundClosed, StaleRevision, UuidReused
from audit.digests import digest_of
from sql.compiled import CompiledSelect, CompiledUpdate, insert
from sql.held import Held

from .. import kinds
from ..models import Answer, Assignment, Member, Outcome, Participant, Reference, Round
from ..rounds import practice, readiness
from ..rounds.submission import Submission
from ..values.leaves import Place, answer_content
from . import queue
from .participation import require_consent
from .readiness import require_ready
from .references import references
from .references import store as store_references


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


def _at_work(round: int, user: int) -> QuerySet[Participant]:
    found = Participant.objects.select_related("member")
    return found.filter(round=round, member__user=user, member__left_at=None, left_at=None)


# What runs at every answer, compiled once (sql.compiled).
_SLOT = CompiledSelect(
    lambda slot, user, answer: (
        _slots_with_participant()
        .annotate(is_replay=Exists(Answer.objects.filter(pk=answer)))
        .filter(pk=slot, person__user=user, person__left_at=None, worker=user, worker_left_at=None)[:1]
    ),
    slot=int,
    user=int,
    answer=uuids.UUID,
)
_PARTICIPANT = CompiledSelect(lambda round, user: _at_work(round, user)[:1], round=int, user=int)
# And the person's turn (see `queue.hand`).
_TURN = CompiledSelect(
    lambda round, user: _at_work(round, user).select_for_update(of=("self",), no_key=True)[:1], round=int, user=int
)
# All that was read of the slot is compared, and what it depends on is held: the round stays open and the person in it
# until the answer is committed, so that who closes the round, or takes the person out, comes before it or after it.
_MOVE = CompiledUpdate(
    lambda slot, round, place, person, number, revision, answer, following: (
        Assignment.objects.filter(
            Held(Round.objects.filter(pk=round, status=Round.Status.OPEN)),
            Held(Participant.objects.filter(pk=place, left_at=None), lock="NO KEY UPDATE"),
            pk=slot,
            person=person,
            number=number,
            revision=revision,
        ),
        {"revision": following, "current_answer": answer},
    ),
    slot=int,
    round=int,
    place=int,
    person=int,
    number=int,
    revision=int,
    answer=uuids.UUID,
    following=int,
)
#: How often a slot is read that changes hands while it is answered. Twice, as a rule: what is over does not come back.
TRIES = 5


class _ChangedHands(Exception):
    """The slot is not as it was read, or the round or the person's part in it has ended."""


#: What this process has seen of each person's answers.
_PACE = limits.Pace()


def refuse_faster(user: User) -> None:
    """`TooMuch` for who gives more answers in a minute than the limit. The data base is asked of those alone of whom
    this process has seen a quarter of it, so that who works by hand is never counted: with more than four processes it
    may be exceeded by as many times as there are fours of them."""
    if _PACE.is_fast("LIMIT_ANSWERS_PER_MINUTE", user.pk):
        limits.check("LIMIT_ANSWERS_PER_MINUTE", Answer.objects.filter(author__user=user), at="received_at")


def submit(*, user: User, submission: Submission, now: datetime | None = None) -> Submitted:
    """Store one answer and top up the hand, in one transaction.

    The same UUID with the same bytes returns what is stored. Raises `UuidReused` for other bytes, `NotFound` for a
    slot that is not this person's, `RoundClosed`, `StaleRevision` (with the newer revision), `Refused`.
    """
    now = now or timezone.now()
    for _ in range(TRIES):
        slot = _SLOT.first(slot=submission.assignment, user=user.pk, answer=submission.uuid)
        if slot is None or vars(slot)["is_replay"]:
            if stored := _replayed(user, submission):
                return Submitted(stored, _hand_again(user, stored.assignment, now), new=False)
            raise _not_yours()
        require_consent(user, slot.round)
        if not slot.round.is_open:
            raise RoundClosed("The round was closed. Your answer is kept on this computer and was not stored.")
        author = Member(pk=slot.person_id, user_id=user.pk)  # as the slot was found by; reading it would cost a query
        require_ready(slot.round, author)
        value = _checked(slot, submission)
        held = references(slot, value, list(submission.references))
        try:
            with transaction.atomic():
                answer = _store(slot, submission, value, held, author=author, now=now)
                hand = _hand(slot.round, _participant(slot), now)
                return Submitted(answer, hand, new=True)
        except _ChangedHands:
            continue
        except IntegrityError:
            # The same submission on two connections at once, or another revision that was a moment faster.
            if stored := _replayed(user, submission):
                return Submitted(stored, _hand_again(user, stored.assignment, now), new=False)
            raise _stale(slot) from None
    raise Conflict("Others change this slot at the same moment. Send the answer again.")


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
    if slot.round.meaning.gives_feedback:
        _refuse_practice(slot, submission)
    if submission.outcome == Outcome.SKIPPED:
        if submission.reason not in {r.code for r in kind.skip_reasons}:
            raise Refused.field("reason", "Say why it is skipped: one of the reasons of this kind.")
        return None
    if submission.value is None:
        raise Refused.field("value", "An answer needs a value.")
    kind.check(slot, submission.value)
    return submission.value


def _refuse_practice(slot: Assignment, submission: Submission) -> None:
    """In practice nothing is skipped, and nothing is said once more when the expected value was told."""
    if submission.outcome == Outcome.SKIPPED:
        raise Refused.field("outcome", "In practice every unit is answered: say what you would say.")
    # An older revision is told by `_store`, with both versions.
    if submission.revision == slot.revision and slot.revision and not practice.tries_left(slot.round, slot):
        raise Refused.field("revision", "You have no try left for this unit: what was expected has been shown.")


def _store(
    slot: Assignment, submission: Submission, value: kinds.Value | None, held: list[Reference], *, author: Member,
    now: datetime,
) -> Answer:  # fmt: skip
    """Insert the answer and its typed rows, and move the slot's two pointers by compare-and-set."""
    if submission.revision != slot.revision:
        raise _stale(slot)
    answer = insert_answer(slot, submission, value, held, author=author, now=now)
    moved = _MOVE.run(
        slot=slot.pk, round=slot.round_id, place=vars(slot)["place_pk"], person=author.pk, number=slot.number,
        revision=submission.revision, answer=answer.pk, following=answer.revision,
    )  # fmt: skip
    if not moved:
        raise _ChangedHands
    slot.revision, slot.current_answer = answer.revision, answer
    if submission.outcome == Outcome.SKIPPED:
        _pass_on(slot, now)
    elif slot.number < 0:
        _take_back(slot)
    return answer


def insert_answer(
    slot: Assignment, submission: Submission, value: kinds.Value | None, held: list[Reference], *, author: Member,
    now: datetime,
) -> Answer:  # fmt: skip
    """Insert one answer with its typed rows, the decisions it is ``held`` against and its digest. The caller has
    checked it and moves the pointers."""
    answer = _answer(slot, slot.round, submission, value, held, author=author, now=now)
    insert([answer])
    if value is not None:
        kinds.get(slot.round.kind).store([(answer, value)])
    if held:
        store_references(answer, held)
    return answer


def insert_answers(
    round: Round, given: Sequence[tuple[Assignment, Submission, kinds.Value]], *, author: Member, now: datetime
) -> list[Answer]:
    """As `insert_answer` for many slots of one round, in a fixed number of queries."""
    rows = [_answer(slot, round, submission, value, [], author=author, now=now) for slot, submission, value in given]
    answers = Answer.objects.bulk_create(rows)
    kinds.get(round.kind).store([(a, value) for a, (_, _, value) in zip(answers, given, strict=True)])
    return answers


def _answer(
    slot: Assignment, round: Round, submission: Submission, value: kinds.Value | None, held: list[Reference], *,
    author: Member, now: datetime,
) -> Answer:  # fmt: skip
    answer = Answer(
        uuid=submission.uuid,
        assignment=slot,
        author_id=author.pk,
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
        came_by=submission.came_by,
        entry_id=submission.entry,
    )
    said = [(reference.decision_id, reference.same) for reference in held]
    answer.digest = digest_of(answer_content(answer, value, Place.of(slot, author), said))
    return answer


def _stale(slot: Assignment) -> Conflict:
    """What to tell the person whose revision is not the newest: both versions, and nothing deleted."""
    now = Assignment.objects.select_related("round", "current_answer").get(pk=slot.pk)
    if not now.round.is_open:
        return RoundClosed("The round was closed. Your answer is kept on this computer and was not stored.")
    current = now.current_answer
    value = kinds.get(now.round.kind).values([current.pk]).get(current.pk) if current else None
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
    if not slot.repeat:  # what one is asked again is nobody else's
        queue.retire_repeats(slot)
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


def _hand(round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """The hand, in the person's turn. In practice what may be tried once more comes first."""
    hand = queue.hand(round=round, participant=participant, now=now)
    if not round.meaning.gives_feedback:
        return hand
    return practice.to_try_again(round, participant.member_id) + hand


def _hand_again(user: User, slot: Assignment, now: datetime) -> list[Assignment]:
    """The person's hand, for a reply that was sent before; empty for whoever has left."""
    if not slot.round.is_open:
        return []
    with transaction.atomic():
        participant = _TURN.first(round=slot.round_id, user=user.pk)
        return _hand(slot.round, participant, now) if participant else []


def participant_of(user: User, round: Round) -> Participant:
    """The user's participation in a round, or `NotFound`."""
    return _allowed(_PARTICIPANT.first(round=round.pk, user=user.pk), user, round)


def _allowed(found: Participant | None, user: User, round: Round) -> Participant:
    if found is None:
        raise NotFound("You are not at work in this round.")
    require_consent(user, round)
    return found


def next_hand(*, user: User, round: Round, now: datetime | None = None) -> list[Assignment]:
    """The person's hand, renewed and topped up; empty in a closed round, and for who has something to do before it.
    Repeating it claims nothing more."""
    if not round.is_open:
        participant_of(user, round)
        return []
    with transaction.atomic():
        participant = _allowed(_TURN.first(round=round.pk, user=user.pk), user, round)
        if readiness.before(round, participant.member) is not None:
            return []
        return _hand(round, participant, now or timezone.now())
