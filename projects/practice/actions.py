"""Practice rounds and the prerequisites of rounds: assignments, attempts, questions, admission and consent."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Forbidden, Refused
from audit.log import record

from ..models import Admission, Assignment, Member, Participant, ParticipantLink, QuestionTry, Round
from . import queries as practice_queries
from . import readiness


def assign_all_units(round: Round, member: Member) -> None:
    """Assign all units to a person who joins, in the caller's transaction.

    A person who returns continues with the earlier assignments.
    """
    number = max(1, (Assignment.objects.filter(round=round).aggregate(most=Max("number"))["most"] or 0) + 1)
    own_assignments = Assignment.objects.filter(round=round, person=member)
    assigned_units = set(own_assignments.values_list("unit", flat=True))
    own_assignments.filter(number__lt=0, unit__superseded_by=None).update(number=number)
    Assignment.objects.bulk_create(
        Assignment(round=round, unit_id=unit, position=position, number=number, person=member)
        for unit, position in practice_queries.units_of(round)
        if unit not in assigned_units
    )


def start_attempt(*, round: Round, user: User) -> None:
    """Start another attempt at all units. Earlier attempts are kept. Raise `Conflict` if none is allowed."""
    with transaction.atomic():
        locked = Participant.objects.select_for_update(no_key=True).filter(
            round=round, member__user=user, left_at=None, member__left_at=None
        )
        participant = locked.select_related("member").first() if round.meaning.gives_feedback else None
        if participant is None:
            raise Conflict("You are not a participant of this practice round.")
        member = participant.member
        attempts = practice_queries.attempts(round, [member.pk])[member.pk]
        if not practice_queries.may_start_attempt(round, attempts):
            raise Conflict(
                "You cannot start another attempt: the last one is unfinished or passed, or no attempt is left."
            )
        before = Assignment.objects.filter(round=round, person=member, repeat=0, unit__superseded_by=None).counted()
        Assignment.objects.bulk_create(
            Assignment(
                round=round,
                unit_id=assignment.unit_id,
                position=assignment.position,
                number=assignment.number,
                person=member,
                repeat=len(attempts),
            )
            for assignment in before.order_by("position")
        )
        record(
            actor=user,
            verb="practise again",
            obj=round,
            project_id=round.project_id,
            after={"person": member.pseudonym, "attempt": len(attempts) + 1},
        )


class NotReady(Forbidden):
    type = "not-ready"
    title = "Prerequisite not met"


def require_ready(round: Round, member: Member) -> None:
    """Raise `NotReady` if a prerequisite of the first unit is open. No query if the round has none."""
    if (prerequisite := readiness.open_prerequisite(round, member)) is not None:
        what = {
            readiness.QUESTIONS: "Answer the questions about the guideline first.",
            readiness.PRACTICE: f"Pass the practice round {prerequisite['name']!r} first.",
        }
        raise NotReady(what[prerequisite["what"]])


def answer_questions(*, round: Round, member: Member, chosen: Sequence[int]) -> QuestionTry:
    """Store one try at all questions. Raise `Refused` for invalid options, `Conflict` if no try is left."""
    questions = round.guideline.questions
    if not round.is_open or not round.asks_questions:
        raise Conflict("This round has no open questions.")
    if len(chosen) != len(questions):
        raise Refused.field("chosen", f"Answer all {len(questions)} questions.")
    for n, (one, choice) in enumerate(zip(questions, chosen, strict=True)):
        if not 0 <= choice < len(one["options"]):
            raise Refused.field(f"chosen.{n}", "Choose one of the options.")
    right = sum(choice == one["right"] for one, choice in zip(questions, chosen, strict=True))
    tries = QuestionTry.objects.filter(round=round, member=member)
    try:
        with transaction.atomic():
            done = tries.count()
            if done >= QuestionTry.MOST or tries.filter(passed=True).exists():
                raise Conflict(
                    "You have no try left for these questions, or have passed them. The project's lead can admit you."
                )
            return QuestionTry.objects.create(
                round=round,
                member=member,
                number=done + 1,
                chosen=list(chosen),
                right=right,
                passed=right == len(questions),
                at=timezone.now(),
            )
    except IntegrityError:
        raise Conflict("These questions were answered at the same moment. Reload the page to see the result.") from None


def admit(*, round: Round, member: Member, reason: str, by: User) -> Admission:
    """Admit a participant despite failed guideline questions or a failed practice."""
    if not round.asks_questions and round.requires_practice_id is None:
        raise Conflict("This round has no prerequisites, so nobody needs to be admitted.")
    if not round.participants.filter(member=member, left_at=None).exists():
        raise Refused.field("member", "This person is not a participant of this round.")
    with transaction.atomic():
        admission, is_new = Admission.objects.get_or_create(
            round=round, member=member, defaults={"by": by, "reason": reason, "at": timezone.now()}
        )
        if is_new:
            record(
                actor=by,
                verb="let in",
                obj=round,
                project_id=round.project_id,
                reason=reason,
                after={"person": member.pseudonym},
            )
    return admission


class ConsentNeeded(Forbidden):
    type = "consent-needed"
    title = "Consent needed"


def require_consent(user: User, round: Round) -> None:
    """Raise `ConsentNeeded` if the user is a volunteer who has not agreed to the current text."""
    if not user.is_guest:
        return
    link = ParticipantLink.objects.filter(member__user=user, round=round, revoked_at=None).first()
    if link is None or not link.stands:
        raise ConsentNeeded(
            "The consent text has changed, or you withdrew. Open My work and agree to the text to continue."
        )
