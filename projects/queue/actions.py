"""Submission of answers: idempotent by UUID and ordered by revision. Stored answers are never changed."""

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
from projects.answers.integrity import AnswerContext, answer_content
from projects.practice.queries import references
from projects.practice.queries import store as store_references
from sql.compiled import CompiledSelect, CompiledUpdate, insert
from sql.expressions import LockedExists

from .. import kinds
from ..answers.queries import Submission
from ..models import Answer, Assignment, Member, Outcome, Participant, Reference, Round, SuggestionOutcome
from ..models.round import RETURNED
from ..practice import queries as practice_queries
from ..practice import readiness
from ..practice.actions import require_consent, require_ready
from ..practice.participants import PARTICIPANT_LOCK, participant_of, require_participant
from ..suggestions.queries import outcomes_of
from . import assignments


@dataclass(frozen=True)
class Submitted:
    """The stored answer, and the assignments that the person holds then. ``new`` is False for a repeated submission."""

    answer: Answer
    held: list[Assignment]
    new: bool


#: Fields of the user's participation that are read with an assignment. They say where to search for the next ones.
PARTICIPANT_FIELDS = ("pk", "member_id", "start", "cursor", "wrapped", "quota")


def _assignments_with_participant() -> QuerySet[Any]:
    fields = {f"participant_{name}": F(f"round__participants__{name}") for name in PARTICIPANT_FIELDS}
    return Assignment.objects.select_related("round", "unit").annotate(
        worker=F("round__participants__member__user"), worker_left_at=F("round__participants__left_at"), **fields
    )


def _participant(assignment: Assignment) -> Participant:
    """Return the participation that was read with the assignment."""
    fields = {name: vars(assignment)[f"participant_{name}"] for name in PARTICIPANT_FIELDS}
    return Participant(round_id=assignment.round_id, **fields)


# Compiled once, because these statements run for every answer (sql.compiled).
_ASSIGNMENT = CompiledSelect(
    lambda assignment, user, answer: (
        _assignments_with_participant()
        .annotate(is_replay=Exists(Answer.objects.filter(pk=answer)))
        .filter(pk=assignment, person__user=user, person__left_at=None, worker=user, worker_left_at=None)[:1]
    ),
    assignment=int,
    user=int,
    answer=uuids.UUID,
)
# The update compares everything that was read of the assignment. It also locks the open round and the active
# participation until the answer is committed. Closing the round or removing the person therefore happens strictly
# before or after the answer.
_MOVE = CompiledUpdate(
    lambda assignment, round, participant, person, number, revision, answer, following: (
        Assignment.objects.filter(
            LockedExists(Round.objects.filter(pk=round, status=Round.Status.OPEN)),
            LockedExists(Participant.objects.filter(pk=participant, left_at=None), lock="NO KEY UPDATE"),
            pk=assignment,
            person=person,
            number=number,
            revision=revision,
        ),
        {"revision": following, "current_answer": answer},
    ),
    assignment=int,
    round=int,
    participant=int,
    person=int,
    number=int,
    revision=int,
    answer=uuids.UUID,
    following=int,
)
#: Attempts if the assignment changes while it is answered. Two are usually enough.
TRIES = 5


class _AssignmentChanged(Exception):
    """The assignment changed since it was read, or the round or the participation has ended."""


#: Answer rates of users, as seen by this process.
_PACE = limits.Pace()


def check_answer_rate(user: User) -> None:
    """Raise `TooMuch` if the user exceeds the limit of answers per minute.

    The database is queried only if this process alone has received a quarter of the limit from the user. Manual work is
    therefore never counted. With n processes the effective limit may be up to n/4 times as high.
    """
    if _PACE.is_fast("LIMIT_ANSWERS_PER_MINUTE", user.pk):
        limits.check("LIMIT_ANSWERS_PER_MINUTE", Answer.objects.filter(author__user=user), at="received_at")


def submit(*, user: User, submission: Submission, now: datetime | None = None) -> Submitted:
    """Store one answer and claim further assignments, in one transaction.

    The same UUID with the same bytes returns the stored answer. Raise `UuidReused` for other bytes, `NotFound` if the
    assignment is not the user's, `RoundClosed`, `StaleRevision` with the newer revision, or `Refused`.
    """
    now = now or timezone.now()
    for _ in range(TRIES):
        assignment = _ASSIGNMENT.first(assignment=submission.assignment, user=user.pk, answer=submission.uuid)
        if assignment is None or vars(assignment)["is_replay"]:
            if stored := _stored_answer(user, submission):
                return Submitted(stored, _held_after_replay(user, stored.assignment, now), new=False)
            raise _not_yours()
        require_consent(user, assignment.round)
        if not assignment.round.is_open:
            raise RoundClosed("The round was closed. Your answer was not stored on the server; this computer keeps it.")
        author = Member(pk=assignment.person_id, user_id=user.pk)  # reading the row would cost a query
        require_ready(assignment.round, author)
        value = _validate_value(assignment, submission)
        answer_references = references(assignment, value, list(submission.references))
        outcomes = outcomes_of(assignment, value, rejects=submission.rejects_suggestion)
        try:
            with transaction.atomic():
                answer = _store(assignment, submission, value, answer_references, author=author, now=now)
                _store_outcomes(answer, outcomes)
                held = _held_assignments(assignment.round, _participant(assignment), now)
                return Submitted(answer, held, new=True)
        except _AssignmentChanged:
            continue
        except IntegrityError:
            # The same submission arrived on two connections at once, or another revision was stored first.
            if stored := _stored_answer(user, submission):
                return Submitted(stored, _held_after_replay(user, stored.assignment, now), new=False)
            raise _stale(assignment) from None
    raise Conflict("This assignment was changed at the same moment. Send the answer again.")


def _stored_answer(user: User, submission: Submission) -> Answer | None:
    stored = (
        Answer.objects.filter(pk=submission.uuid)
        .select_related("author", "assignment__round", "assignment__unit")
        .first()
    )
    if stored is None:
        return None
    is_theirs = stored.author.user_id == user.pk
    if not is_theirs and not _ASSIGNMENT.all(assignment=submission.assignment, user=user.pk, answer=submission.uuid):
        # A user without access to the assignment gets the same error as if the answer did not exist.
        raise _not_yours()
    if not is_theirs or stored.body_digest != submission.digest:
        raise UuidReused("This UUID was already used for another answer. Nothing was stored. Send a new UUID.")
    return stored


def _not_yours() -> NotFound:
    return NotFound("This assignment does not exist or is not yours.")


def _validate_value(assignment: Assignment, submission: Submission) -> kinds.Value | None:
    """Return the value after all checks of its kind, or None for a skip."""
    kind = kinds.get(assignment.round.kind)
    if submission.kind != kind.key:
        raise Refused.field("kind", f"This round has the task {kind.key!r}, not {submission.kind!r}.")
    if submission.shown > assignment.unit.revision:
        # Such an answer would count as an answer to every later text of the unit.
        raise Refused.field(
            "shown",
            f"The newest revision of the unit is {assignment.unit.revision}. Send the revision that the card shows.",
        )
    if assignment.round.meaning.gives_feedback:
        _refuse_practice(assignment, submission)
    if submission.outcome == Outcome.SKIPPED:
        if submission.reason not in {r.code for r in kind.skip_reasons}:
            raise Refused.field("reason", "Choose one of the skip reasons of this task.")
        return None
    if submission.value is None:
        raise Refused.field("value", "The value is missing.")
    kind.check(assignment, submission.value)
    return submission.value


def _refuse_practice(assignment: Assignment, submission: Submission) -> None:
    """Raise `Refused` for a skip in a practice round, and for an answer without a try left."""
    if submission.outcome == Outcome.SKIPPED:
        raise Refused.field("outcome", "Units of a practice round cannot be skipped. Give your best answer.")
    # `_store` reports an older revision, with both versions.
    if (
        submission.revision == assignment.revision
        and assignment.revision
        and not practice_queries.tries_left(assignment.round, assignment)
    ):
        raise Refused.field("revision", "No try is left for this unit, because the expected value was shown.")


def _store(
    assignment: Assignment,
    submission: Submission,
    value: kinds.Value | None,
    answer_references: list[Reference],
    *,
    author: Member,
    now: datetime,
) -> Answer:
    """Insert the answer and its typed rows, and update the assignment by compare-and-set."""
    if submission.revision != assignment.revision:
        raise _stale(assignment)
    answer = insert_answer(assignment, submission, value, answer_references, author=author, now=now)
    moved = _MOVE.run(
        assignment=assignment.pk,
        round=assignment.round_id,
        participant=vars(assignment)["participant_pk"],
        person=author.pk,
        number=assignment.number,
        revision=submission.revision,
        answer=answer.pk,
        following=answer.revision,
    )
    if not moved:
        raise _AssignmentChanged
    assignment.revision, assignment.current_answer = answer.revision, answer
    if submission.outcome == Outcome.SKIPPED:
        _release_skipped(assignment, now)
    elif assignment.number < 0:
        _count_again(assignment)
    return answer


def _store_outcomes(answer: Answer, outcomes: list[SuggestionOutcome]) -> None:
    for outcome in outcomes:
        outcome.answer = answer
    if outcomes:
        SuggestionOutcome.objects.bulk_create(outcomes)


def insert_answer(
    assignment: Assignment,
    submission: Submission,
    value: kinds.Value | None,
    answer_references: list[Reference],
    *,
    author: Member,
    now: datetime,
) -> Answer:
    """Insert one answer with its typed rows, its references and its digest.

    The caller has checked the answer, and updates the assignment.
    """
    answer = new_answer(assignment, assignment.round, submission, value, answer_references, author=author, now=now)
    insert([answer])
    if value is not None:
        kinds.get(assignment.round.kind).store([(answer, value)])
    if answer_references:
        store_references(answer, answer_references)
    return answer


def insert_answers(
    round: Round, submissions: Sequence[tuple[Assignment, Submission, kinds.Value]], *, author: Member, now: datetime
) -> list[Answer]:
    """Insert the answers to several assignments of one round, as `insert_answer` does, in a fixed number of queries."""
    rows = [
        new_answer(assignment, round, submission, value, [], author=author, now=now)
        for assignment, submission, value in submissions
    ]
    answers = Answer.objects.bulk_create(rows)
    kinds.get(round.kind).store([(a, value) for a, (_, _, value) in zip(answers, submissions, strict=True)])
    return answers


def new_answer(
    assignment: Assignment,
    round: Round,
    submission: Submission,
    value: kinds.Value | None,
    answer_references: list[Reference],
    *,
    author: Member,
    now: datetime,
) -> Answer:
    answer = Answer(
        uuid=submission.uuid,
        assignment=assignment,
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
    reference_pairs = [(reference.decision_id, reference.same) for reference in answer_references]
    answer.digest = digest_of(answer_content(answer, value, AnswerContext.of(assignment, author), reference_pairs))
    return answer


def _stale(assignment: Assignment) -> Conflict:
    """Return the conflict for an outdated revision. It contains the stored revision, for comparison."""
    now = Assignment.objects.select_related("round", "current_answer").get(pk=assignment.pk)
    if not now.round.is_open:
        return RoundClosed("The round was closed. Your answer was not stored on the server; this computer keeps it.")
    current = now.current_answer
    value = kinds.get(now.round.kind).values([current.pk]).get(current.pk) if current else None
    return StaleRevision(
        "A newer revision of this answer is stored. Nothing was deleted. Compare both versions, then decide.",
        current={
            "revision": now.revision,
            "outcome": current.outcome if current else None,
            "value": value,
            "received_at": current.received_at.isoformat() if current else None,
        },
    )


def _release_skipped(assignment: Assignment, now: datetime) -> None:
    """Free a skipped assignment for another person.

    The person who skipped keeps the retired row, and so does not get the unit again.
    """
    if assignment.number < 1:
        return
    number = assignment.number
    Assignment.objects.filter(pk=assignment.pk).update(number=-assignment.pk)
    if assignment.repeat in (0, RETURNED):  # a repetition belongs to the same person and is not passed on
        assignments.retire_repeats(assignment)
        assignment.number = number
        assignments.create_replacement(assignment, person_id=None, leased_until=now)
    assignment.number = -assignment.pk


def _count_again(assignment: Assignment) -> None:
    """Count an answer to a retired assignment after all, if the new assignment of the unit is still unclaimed."""
    unclaimed = Assignment.objects.filter(
        round=assignment.round_id,
        unit=assignment.unit_id,
        repeat=assignment.repeat,
        number__gte=1,
        person=None,
        current_answer=None,
    ).order_by("number")
    for free in unclaimed:
        same = Assignment.objects.filter(pk=free.pk, person=None, current_answer=None, number=free.number)
        if same.update(number=-free.pk, leased_until=None):
            Assignment.objects.filter(pk=assignment.pk).update(number=free.number)
            assignment.number = free.number
            return


def _held_assignments(round: Round, participant: Participant, now: datetime) -> list[Assignment]:
    """Return the assignments that the person holds. The caller holds the participant lock.

    In a practice round, assignments with another try come first.
    """
    held = assignments.top_up(round=round, participant=participant, now=now)
    if not round.meaning.gives_feedback:
        return held
    return practice_queries.retryable_assignments(round, participant.member_id) + held


def _held_after_replay(user: User, assignment: Assignment, now: datetime) -> list[Assignment]:
    """Return the held assignments for a repeated submission. Empty if the person has left or the round is closed."""
    if not assignment.round.is_open:
        return []
    with transaction.atomic():
        participant = PARTICIPANT_LOCK.first(round=assignment.round_id, user=user.pk)
        return _held_assignments(assignment.round, participant, now) if participant else []


def next_assignments(*, user: User, round: Round, now: datetime | None = None) -> list[Assignment]:
    """Renew and top up the assignments that the user holds, and return them.

    Empty in a closed round, and while a prerequisite is open. Idempotent: a repeated call claims no more.
    """
    if not round.is_open:
        participant_of(user, round)
        return []
    with transaction.atomic():
        participant = require_participant(PARTICIPANT_LOCK.first(round=round.pk, user=user.pk), user, round)
        if readiness.open_prerequisite(round, participant.member) is not None:
            return []
        return _held_assignments(round, participant, now or timezone.now())
