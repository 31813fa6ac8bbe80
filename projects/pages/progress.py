"""How far rounds are: counts for the lead and for the people at work, a fixed number of queries each."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDate

from accounts.models import User

from .. import kinds
from ..models import Answer, Assignment, Job, Outcome, Participant, Remark, Round
from ..rounds import practice, readiness
from ..rounds.counted import opinions
from . import outcomes

COUNTED = Q(assignments__number__gte=1, assignments__repeat=0)
ANSWERED = COUNTED & Q(assignments__current_answer__isnull=False)


def with_counts(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """Annotate ``slots``, ``answered`` and ``people``; newest first."""
    at_work = Participant.objects.filter(round=OuterRef("pk"), left_at=None).values("round").annotate(n=Count("pk"))
    return rounds.annotate(
        slots=Count("assignments", filter=COUNTED),
        answered=Count("assignments", filter=ANSWERED),
        people=Subquery(at_work.values("n")),
    ).order_by("-pk")  # counting drops the order of the model


def row(round: Any) -> dict[str, Any]:
    """A row of the lead's list from a round with counts."""
    return {
        "id": round.pk, "name": round.name, "kind": round.kind, "kind_title": kinds.get(round.kind).title,
        "purpose": round.purpose, "status": round.status,
        "overlap": round.overlap, "units": round.units_count, "slots": round.slots, "answered": round.answered,
        "people": round.people or 0, "guideline": round.guideline.number, "opened_at": round.opened_at,
        "closed_at": round.closed_at,
    }  # fmt: skip


def of_round(round: Round, *, now: datetime) -> dict[str, Any]:
    """Everything on the page of one round."""
    slots = Assignment.objects.filter(round=round)
    # What people are asked again is told apart: it makes no unit more complete.
    counted, again = slots.counted().filter(repeat=0), slots.counted().filter(repeat__gt=0)
    # What was skipped counts no more, so the answers themselves need not be looked at: PostgreSQL, where it knows
    # nothing of the tables yet, would hold every slot against every answer.
    open_ = counted.filter(current_answer=None)
    finish = Job.objects.filter(kind="finish_round", params__round=round.pk).order_by("-pk").first()
    wanted = counted.count()
    return {
        "slots": wanted,
        "answered": wanted - open_.count(),
        "units": round.units_count,
        "units_complete": counted.values("unit").distinct().count() - open_.values("unit").distinct().count(),
        "repeats": again.count(),
        "repeats_answered": again.exclude(current_answer=None).count(),
        "surplus": slots.filter(number__lt=0, current_answer__outcome=Outcome.ANSWERED).count(),
        "people": _people(round),
        "days": list(
            # The same answers that are counted above, so that the days add up to them.
            opinions(round)
            .annotate(day=TruncDate("received_at"))
            .values("day")
            .annotate(answers=Count("pk"))
            .order_by("day")
        ),
        "flagged": _flagged(round),
        "gold": dict(round.decisions.order_by().values_list("origin").annotate(n=Count("pk"))),
        "job": finish.pk if finish else None,
    }


def _people(round: Round) -> list[dict[str, Any]]:
    said: dict[int, dict[str, Any]] = {
        r["author"]: dict(r)
        for r in Answer.objects.filter(assignment__round=round)
        .values("author")
        .annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.ANSWERED)),
            skipped=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.SKIPPED)),
            ms=Sum("active_ms"),
            last=Max("received_at"),
        )
    }
    left = dict(
        Assignment.objects.filter(round=round)
        .counted()
        .unanswered()
        .exclude(person=None)
        .values_list("person")
        .annotate(n=Count("pk"))
    )
    out = []
    for participant in round.participants.select_related("member__user").order_by("pk"):
        mine = said.get(participant.member_id, {"answered": 0, "skipped": 0, "ms": 0, "last": None})
        seconds = (mine["ms"] or 0) / 1000
        done = mine["answered"] + mine["skipped"]
        out.append(
            {
                "member": participant.member_id,
                "pseudonym": participant.member.pseudonym,
                "name": participant.member.user.name,
                "answered": mine["answered"],
                "skipped": mine["skipped"],
                "left": left.get(participant.member_id, 0) if round.has_known_share else None,
                "active_seconds": seconds,
                "seconds_an_answer": seconds / done if done and seconds else None,
                "last_answer_at": mine["last"],
                "working": participant.left_at is None,
            }
        )
    return out


def _flagged(round: Round, limit: int = 200) -> list[dict[str, Any]]:
    rows = (
        Answer.objects.filter(assignment__round=round, current_of__isnull=False)
        .filter(Q(flag=True) | ~Q(comment="") | Q(outcome=Outcome.SKIPPED))
        .select_related("assignment__unit", "author")
        .order_by("-received_at")[:limit]
    )
    kind = kinds.get(round.kind)
    return [
        {
            "unit": a.assignment.unit_id, "key": a.assignment.unit.key, "pseudonym": a.author.pseudonym,
            "comment": a.comment, "flag": a.flag, "outcome": a.outcome, "reason": kinds.reason_in_words(kind, a.reason),
            "at": a.received_at,
        }
        for a in rows
    ]  # fmt: skip


def of_person(round: Round, participant: Participant) -> dict[str, int | None]:
    """How far one person is: ``total`` is known where slots were dealt, and in a pool that each must walk whole."""
    mine = Assignment.objects.filter(round=round, person=participant.member_id)
    done = mine.filter(current_answer__isnull=False).count()
    if round.has_known_share:
        return {"done": done, "total": done + mine.counted().unanswered().count()}
    everyone = round.participants.filter(left_at=None).count() <= round.overlap
    return {"done": done, "total": round.units_count if everyone else None}


def my_work(user: User, *, now: datetime) -> list[dict[str, Any]]:
    """The rounds in which a person works, open ones first. A fixed number of queries, whatever their number."""
    found = Round.objects.worked_on_by(user).select_related("project", "requires_practice")
    rounds = list(found.order_by("-status", "-pk")[:100])
    said: dict[int, dict[str, Any]] = {
        r["assignment__round"]: dict(r)
        for r in Answer.objects.filter(assignment__round__in=rounds, author__user=user)
        .values("assignment__round")
        .annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False)),
            today=Count("pk", filter=Q(received_at__date=now.date(), revision=1)),
            ms=Sum("active_ms"),
        )
    }
    fared = _fared(rounds, user)
    left, replies, first = _left(rounds, user), _replies(rounds, user), readiness.before_each(rounds, user)
    return [
        {
            "id": r.pk, "name": r.name, "project": r.project.slug, "project_name": r.project.name, "kind": r.kind,
            "kind_title": kinds.get(r.kind).title, "status": r.status,
            "answered": said.get(r.pk, {}).get("answered", 0),
            "left": left.get(r.pk, 0) if r.is_open else 0,
            "practice": practice.standing(r, fared[r.pk]) if r.pk in fared else None,
            "today": said.get(r.pk, {}).get("today", 0),
            "active_seconds": (said.get(r.pk, {}).get("ms") or 0) / 1000,
            "replies": replies.get(r.pk, 0),
            "outcomes": outcomes.are_shown(r),
            "first": first.get(r.pk),
        } | _of_tries(r, fared.get(r.pk))
        for r in rounds
    ]  # fmt: skip


def _fared(rounds: list[Round], user: User) -> dict[int, list[practice.Attempt]]:
    """The attempts of one person in the rounds that are practice, by round id. One query, none where there is none."""
    told = [r for r in rounds if r.meaning.gives_feedback]
    found = practice.attempts_in(told, Q(person__user=user)) if told else {}
    return {pk: next(iter(mine.values()), []) for pk, mine in found.items()}


def _of_tries(round: Round, mine: list[practice.Attempt] | None) -> dict[str, int]:
    """In open practice a unit is done when it is right, or no try is left; nothing for other rounds."""
    if mine is None or not round.is_open:
        return {}
    return {"answered": sum(a.done for a in mine), "left": sum(a.units - a.done for a in mine)}


def _replies(rounds: list[Round], user: User) -> dict[int, int]:
    """How many words, with a text, others said to the person's answers."""
    said = Remark.objects.filter(answer__assignment__round__in=rounds, answer__author__user=user)
    said = said.exclude(text="").order_by()
    return dict(said.values_list("answer__assignment__round").annotate(n=Count("pk")))


def _left(rounds: list[Round], user: User) -> dict[int, int]:
    """Distinct units that the person still can do: own open slots, and unclaimed ones of units that are not theirs."""
    mine = Assignment.objects.filter(
        round=OuterRef("round"), unit=OuterRef("unit"), repeat=OuterRef("repeat"), person__user=user
    )
    rows = (
        Assignment.objects.filter(round__in=[r for r in rounds if r.is_open], number__gte=1, current_answer=None)
        .filter(Q(person__user=user) | (Q(person=None) & ~Exists(mine)))
        .values(pk_of_round=F("round"))
        .annotate(n=Count("unit", distinct=True))
    )
    return {r["pk_of_round"]: r["n"] for r in rows}
