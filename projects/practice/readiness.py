"""Prerequisites of a round's first unit: the questions of its guideline, and a passed practice round."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.db.models import Q

from accounts.models import User

from ..models import Admission, Member, Participant, QuestionTry, Round
from . import queries as practice_queries
from .queries import Attempt

QUESTIONS, PRACTICE = "questions", "practice"
PASSED, TO_DO, ASK = "passed", "to do", "ask the lead"
#: As API choices.
STATES = [(one, one) for one in (TO_DO, PASSED, ASK)]

Prerequisite = dict[str, Any]


def open_prerequisite(round: Round, member: Member) -> Prerequisite | None:
    """Return the open prerequisite of the first unit, or None. No query if the round has no prerequisites."""
    if round.asks_questions and (state := _questions(round, member)) != PASSED:
        return _prerequisite(QUESTIONS, state, round)
    wanted = round.requires_practice
    if wanted is not None and (state := _practice(round, wanted, member)) != PASSED:
        return _prerequisite(PRACTICE, state, wanted)
    return None


def open_prerequisites(rounds: Iterable[Round], user: User) -> dict[int, Prerequisite]:
    """Return the open prerequisites of one person's rounds, by round id. Rounds without any are left out.

    Four queries; none if no round has prerequisites.
    """
    asking = [r for r in rounds if r.is_open and (r.asks_questions or r.requires_practice is not None)]
    if not asking:
        return {}
    wanted = {r.requires_practice.pk: r.requires_practice for r in asking if r.requires_practice}
    tries: dict[int, list[QuestionTry]] = defaultdict(list)
    for one in QuestionTry.objects.filter(round__in=asking, member__user=user):
        tries[one.round_id].append(one)
    admitted = set(Admission.objects.filter(round__in=asking, member__user=user).values_list("round", flat=True))
    participations = Participant.objects.filter(round__in=wanted, member__user=user, left_at=None)
    at_work = set(participations.values_list("round", flat=True))
    # A user has one membership in the project of a round.
    attempts = {
        pk: next(iter(by_person.values()), [])
        for pk, by_person in practice_queries.attempts_in(wanted.values(), Q(person__user=user)).items()
    }
    prerequisites: dict[int, Prerequisite] = {}
    for round in asking:
        let_in, needed = round.pk in admitted, round.requires_practice
        if round.asks_questions and (state := questions_state(tries[round.pk], let_in)) != PASSED:
            prerequisites[round.pk] = _prerequisite(QUESTIONS, state, round)
        elif needed and (state := practice_state(needed, needed.pk in at_work, attempts[needed.pk], let_in)) != PASSED:
            prerequisites[round.pk] = _prerequisite(PRACTICE, state, needed)
    return prerequisites


def _prerequisite(what: str, state: str, round: Round) -> Prerequisite:
    return {"what": what, "state": state, "round": round.pk, "name": round.name}


def questions_state(tries: Sequence[QuestionTry], admitted: bool) -> str:
    if admitted or any(one.passed for one in tries):
        return PASSED
    return ASK if len(tries) >= QuestionTry.MOST else TO_DO


def practice_state(wanted: Round, at_work: bool, attempts: Sequence[Attempt], admitted: bool) -> str:
    """Return the state of the required practice.

    An admitted person keeps the remaining attempts, because admission is for people who have none left.
    """
    state = practice_queries.practice_state(wanted, attempts)
    if state == practice_queries.PASSED:
        return PASSED
    if at_work and state != practice_queries.FAILED:
        return TO_DO
    return PASSED if admitted else ASK


def _questions(round: Round, member: Member) -> str:
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    state = questions_state(tries, False)
    return state if state == PASSED or not _is_admitted(round, member) else PASSED


def _practice(round: Round, wanted: Round, member: Member) -> str:
    attempts = practice_queries.attempts(wanted, [member.pk])[member.pk]
    if any(attempt.passed for attempt in attempts):
        return PASSED
    at_work = Participant.objects.filter(round=wanted, member=member, left_at=None).exists()
    state = practice_state(wanted, at_work, attempts, False)
    return PASSED if state == ASK and _is_admitted(round, member) else state


def _is_admitted(round: Round, member: Member) -> bool:
    return Admission.objects.filter(round=round, member=member).exists()


def questions_for(round: Round, member: Member) -> dict[str, Any]:
    """Return the questions as a person sees them, without the correct options, and the results of earlier tries."""
    tries = list(QuestionTry.objects.filter(round=round, member=member))
    last = tries[-1] if tries else None
    state = _questions(round, member)
    # An explanation would reveal the answer to a question that can still be tried.
    may_explain = state != TO_DO
    return {
        "state": state,
        "tries_left": max(0, QuestionTry.MOST - len(tries)) if state == TO_DO else 0,
        "questions": [
            {
                "question": one["question"],
                "options": one["options"],
                "chosen": last.chosen[n] if last else None,
                "right": last.chosen[n] == one["right"] if last else None,
                "explanation": one["explanation"] if last and (may_explain or last.chosen[n] == one["right"]) else "",
            }
            for n, one in enumerate(round.guideline.questions)
        ],
    }


def of_everyone(round: Round) -> list[dict[str, Any]]:
    """Return the prerequisites of each participant, and who was admitted. A fixed number of queries."""
    of, wanted = len(round.guideline.questions) if round.asks_questions else 0, round.requires_practice
    tries: dict[int, list[QuestionTry]] = defaultdict(list)
    for one in QuestionTry.objects.filter(round=round):
        tries[one.member_id].append(one)
    admitted = set(Admission.objects.filter(round=round).values_list("member", flat=True))
    practising, attempts = set[int](), dict[int, list[Attempt]]()
    if wanted is not None:
        practising = set(wanted.participants.filter(left_at=None).values_list("member", flat=True))
        attempts = practice_queries.attempts(wanted)
    out = []
    for p in round.participants.select_related("member__user").order_by("pk"):
        pk, let_in = p.member_id, p.member_id in admitted
        questions = questions_state(tries[pk], let_in) if round.asks_questions else PASSED
        practice = (
            practice_state(wanted, pk in practising, attempts.get(pk, []), let_in) if wanted is not None else None
        )
        blocking = questions if questions != PASSED else practice
        out.append(
            {
                "member": pk,
                "pseudonym": p.member.pseudonym,
                "name": p.member.name,
                "of": of,
                "tries": [one.right for one in tries[pk]],
                "passed": any(one.passed for one in tries[pk]),
                "practice": practice,
                "admitted": let_in,
                "waits_for_lead": blocking == ASK,
            }
        )
    return out
