"""What a person has to do before the first unit of a round: its guideline's questions, and a practice to pass."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from accounts.models import User

from ..models import Admission, Member, Participant, QuestionTry, Round
from . import practice
from .practice import Attempt

QUESTIONS, PRACTICE = "questions", "practice"
PASSED, TO_DO, ASK = "passed", "to do", "ask the lead"
#: As choices of the API.
STATES = [(one, one) for one in (TO_DO, PASSED, ASK)]

First = dict[str, Any]


def before(round: Round, member: Member) -> First | None:
    """What stands before the first unit, and how far the person is with it; None where nothing does. No query where
    the round asks for nothing."""
    if round.asks_questions and (state := _questions(round, member)) != PASSED:
        return _first(QUESTIONS, state, round)
    wanted = round.requires_practice
    if wanted is not None and (state := _practice(round, wanted, member)) != PASSED:
        return _first(PRACTICE, state, wanted)
    return None


def before_each(rounds: Iterable[Round], user: User) -> dict[int, First]:
    """As `before` for rounds in which one person works, by round id, without those in which nothing stands before.
    Four queries, none where no round asks for anything."""
    asking = [r for r in rounds if r.is_open and (r.asks_questions or r.requires_practice is not None)]
    if not asking:
        return {}
    wanted = {r.requires_practice.pk: r.requires_practice for r in asking if r.requires_practice}
    tries: dict[int, list[QuestionTry]] = defaultdict(list)
    for one in QuestionTry.objects.filter(round__in=asking, member__user=user):
        tries[one.round_id].append(one)
    admitted = set(Admission.objects.filter(round__in=asking, member__user=user).values_list("round", flat=True))
    there = Participant.objects.filter(round__in=wanted, member__user=user, left_at=None)
    at_work = set(there.values_list("round", flat=True))
    # One person is one member of the project that a round is of.
    mine = {
        pk: next(iter(by_person.values()), [])
        for pk, by_person in practice.attempts_in(wanted.values(), Q(person__user=user)).items()
    }
    found: dict[int, First] = {}
    for round in asking:
        let_in, needed = round.pk in admitted, round.requires_practice
        if round.asks_questions and (state := questions_state(tries[round.pk], let_in)) != PASSED:
            found[round.pk] = _first(QUESTIONS, state, round)
        elif needed and (state := practice_state(needed, needed.pk in at_work, mine[needed.pk], let_in)) != PASSED:
            found[round.pk] = _first(PRACTICE, state, needed)
    return found


def _first(what: str, state: str, round: Round) -> First:
    return {"what": what, "state": state, "round": round.pk, "name": round.name}


def questions_state(tries: Sequence[QuestionTry], admitted: bool) -> str:
    if admitted or any(one.passed for one in tries):
        return PASSED
    return ASK if len(tries) >= QuestionTry.MOST else TO_DO


def practice_state(wanted: Round, at_work: bool, mine: Sequence[Attempt], admitted: bool) -> str:
    """Whoever was let in still takes the attempts that are left: being let in is for who can do nothing more."""
    state = practice.standing(wanted, mine)
    if state == practice.PASSED:
        return PASSED
    if at_work and state != practice.FAILED:
        return TO_DO
    return PASSED if admitted else ASK


def _questions(round: Round, member: Member) -> str:
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    state = questions_state(tries, False)
    return state if state == PASSED or not _is_admitted(round, member) else PASSED


def _practice(round: Round, wanted: Round, member: Member) -> str:
    mine = practice.attempts(wanted, [member.pk])[member.pk]
    if any(attempt.passed for attempt in mine):
        return PASSED
    at_work = Participant.objects.filter(round=wanted, member=member, left_at=None).exists()
    state = practice_state(wanted, at_work, mine, False)
    return PASSED if state == ASK and _is_admitted(round, member) else state


def _is_admitted(round: Round, member: Member) -> bool:
    return Admission.objects.filter(round=round, member=member).exists()


def questions_for(round: Round, member: Member) -> dict[str, Any]:
    """The questions as a person is asked them, without what is right, and what came of the tries so far."""
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    last = tries[-1] if tries else None
    state = _questions(round, member)
    # The explanation would give an answer away that may still be tried.
    told = state != TO_DO
    return {
        "state": state,
        "tries_left": max(0, QuestionTry.MOST - len(tries)) if state == TO_DO else 0,
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
    """How far each person of a round is with what comes before its first unit, and who was let in. A fixed number of
    queries."""
    of, wanted = len(round.guideline.questions) if round.asks_questions else 0, round.requires_practice
    tries: dict[int, list[QuestionTry]] = defaultdict(list)
    for one in QuestionTry.objects.filter(round=round):
        tries[one.member_id].append(one)
    admitted = set(Admission.objects.filter(round=round).values_list("member", flat=True))
    there, mine = set[int](), dict[int, list[Attempt]]()
    if wanted is not None:
        there = set(wanted.participants.filter(left_at=None).values_list("member", flat=True))
        mine = practice.attempts(wanted)
    out = []
    for p in round.participants.select_related("member__user").order_by("pk"):
        pk, let_in = p.member_id, p.member_id in admitted
        asked = questions_state(tries[pk], let_in) if round.asks_questions else PASSED
        practised = practice_state(wanted, pk in there, mine.get(pk, []), let_in) if wanted is not None else None
        waits = asked if asked != PASSED else practised
        out.append(
            {
                "member": pk, "pseudonym": p.member.pseudonym, "name": p.member.user.name, "of": of,
                "tries": [one.right for one in tries[pk]],
                "passed": any(one.passed for one in tries[pk]),
                "practice": practised,
                "admitted": let_in,
                "waits_for_lead": waits == ASK,
            }
        )  # fmt: skip
    return out
