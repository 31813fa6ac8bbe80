"""What a person has to do before the first unit of a round: its guideline's questions, and a practice to pass."""

from typing import Any

from ..models import Admission, Member, Participant, QuestionTry, Round
from . import practice

QUESTIONS, PRACTICE = "questions", "practice"


def before(round: Round, member: Member) -> dict[str, Any] | None:
    """What stands before the first unit, and how far the person is with it; None where nothing does. No query where
    the round asks for nothing."""
    if round.asks_questions and (state := _questions(round, member)) != "passed":
        return {"what": QUESTIONS, "state": state, "round": round.pk, "name": round.name}
    wanted = round.requires_practice
    if wanted is not None and not practice.has_passed(wanted, member.pk):
        return {"what": PRACTICE, "state": _practice(wanted, member), "round": wanted.pk, "name": wanted.name}
    return None


def _questions(round: Round, member: Member) -> str:
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    if any(one.passed for one in tries):
        return "passed"
    if Admission.objects.filter(round=round, member=member).exists():
        return "passed"
    return "ask the lead" if len(tries) >= QuestionTry.MOST else "to do"


def _practice(wanted: Round, member: Member) -> str:
    if not Participant.objects.filter(round=wanted, member=member, left_at=None).exists():
        return "ask the lead"
    mine = practice.attempts(wanted, [member.pk])[member.pk]
    over = not wanted.is_open or (bool(mine) and mine[-1].is_done and not practice.may_begin_again(wanted, mine))
    return "ask the lead" if over else "to do"


def questions_for(round: Round, member: Member) -> dict[str, Any]:
    """The questions as a person is asked them, without what is right, and what came of the tries so far."""
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    last = tries[-1] if tries else None
    state = _questions(round, member)
    # The explanation would give an answer away that may still be tried.
    told = state != "to do"
    return {
        "state": state,
        "tries_left": max(0, QuestionTry.MOST - len(tries)) if state == "to do" else 0,
        "questions": [
            {
                "question": one["question"], "options": one["options"],
                "chosen": last.chosen[n] if last else None,
                "right": last.chosen[n] == one["right"] if last else None,
                "explanation": one["explanation"] if last and (told or last.chosen[n] == one["right"]) else "",
            }
            for n, one in enumerate(round.guideline.questions)
        ],
    }  # fmt: skip


def of_everyone(round: Round) -> list[dict[str, Any]]:
    """What each person of a round said to the questions, and who was let in. A fixed number of queries."""
    of = len(round.guideline.questions)
    tries: dict[int, list[QuestionTry]] = {}
    for one in QuestionTry.objects.filter(round=round):
        tries.setdefault(one.member_id, []).append(one)
    admitted = set(Admission.objects.filter(round=round).values_list("member", flat=True))
    return [
        {
            "member": p.member_id, "pseudonym": p.member.pseudonym, "name": p.member.user.name, "of": of,
            "tries": [one.right for one in tries.get(p.member_id, [])],
            "passed": any(one.passed for one in tries.get(p.member_id, [])),
            "admitted": p.member_id in admitted,
        }
        for p in round.participants.select_related("member__user").order_by("pk")
    ]  # fmt: skip
