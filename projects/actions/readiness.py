"""Answering a guideline's questions, letting somebody in, and refusing who is not ready."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Forbidden, Refused
from audit.log import record

from ..models import Admission, Member, QuestionTry, Round
from ..rounds import readiness


class NotReady(Forbidden):
    type = "not-ready"
    title = "Something comes first"


def require_ready(round: Round, member: Member) -> None:
    """Raise `NotReady` for who has not done what comes before the first unit. No query where nothing does."""
    if (first := readiness.before(round, member)) is not None:
        what = {
            readiness.QUESTIONS: "Answer the guideline's questions first.",
            readiness.PRACTICE: f"Pass the practice round {first['name']!r} first.",
        }
        raise NotReady(what[first["what"]])


def answer_questions(*, round: Round, member: Member, chosen: Sequence[int]) -> QuestionTry:
    """Store one try at all questions. `Refused` for what is no option, `Conflict` where no try is left."""
    questions = round.guideline.questions
    if not round.is_open or not round.asks_questions:
        raise Conflict("This round asks no questions now.")
    if len(chosen) != len(questions):
        raise Refused.field("chosen", f"There are {len(questions)} questions: answer each.")
    for n, (one, choice) in enumerate(zip(questions, chosen, strict=True)):
        if not 0 <= choice < len(one["options"]):
            raise Refused.field(f"chosen.{n}", "This is none of the options.")
    right = sum(choice == one["right"] for one, choice in zip(questions, chosen, strict=True))
    tries = QuestionTry.objects.filter(round=round, member=member)
    try:
        with transaction.atomic():
            done = tries.count()
            if done >= QuestionTry.MOST or tries.filter(passed=True).exists():
                raise Conflict("You have answered these questions. The lead of the project can let you in.")
            return QuestionTry.objects.create(
                round=round, member=member, number=done + 1, chosen=list(chosen), right=right,
                passed=right == len(questions), at=timezone.now(),
            )  # fmt: skip
    except IntegrityError:
        raise Conflict("These questions were answered a moment ago. Reload the page to see it.") from None


def let_in(*, round: Round, member: Member, reason: str, by: User) -> Admission:
    """Let a person of the round work in it though the questions were not answered rightly, or no attempt at the
    required practice is left."""
    if not round.asks_questions and round.requires_practice_id is None:
        raise Conflict("Nothing comes before the first unit of this round.")
    if not round.participants.filter(member=member, left_at=None).exists():
        raise Refused.field("member", "This person is not at work in this round.")
    with transaction.atomic():
        made, new = Admission.objects.get_or_create(
            round=round, member=member, defaults={"by": by, "reason": reason, "at": timezone.now()}
        )
        if new:
            record(
                actor=by, verb="let in", obj=round, project_id=round.project_id, reason=reason,
                after={"person": member.pseudonym},
            )  # fmt: skip
    return made
