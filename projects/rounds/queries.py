"""Progress of rounds for leads and annotators, with a fixed number of queries each."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from accounts.models import User
from sql.expressions import UtcDay, first_moment, last_moment

from .. import kinds
from ..adjudication import queries as adjudication
from ..answers.queries import opinions
from ..gates import queries as gates_queries
from ..gold import queries as gold_queries
from ..models import Answer, Assignment, Job, Member, Origin, Outcome, Participant, Remark, Round
from ..models.decision import WAITING
from ..models.project import MAY
from ..models.round import RETURNED
from ..practice import queries as practice_queries
from ..practice import readiness
from ..practice.warnings import warnings_of_user
from ..purposes import which
from ..queue.assignments import quota_left

#: Time without an answer after which a person with open work is quiet.
QUIET = timedelta(days=3)
#: Maximum number of names in a row of the lead's list.
NAMES_SHOWN = 5


def with_counts(rounds: QuerySet[Round]) -> QuerySet[Round]:
    """Annotate ``assignment_count``, ``answered``, ``left`` (with repeats) and ``people``; newest first.

    The rows are counted in subqueries, because grouping them by round would sort the texts of its guideline with each.
    """
    planned = Assignment.objects.counted().filter(round=OuterRef("pk"))
    return rounds.annotate(
        assignment_count=_count(planned.filter(repeat=0)),
        answered=_count(planned.filter(repeat=0, current_answer__isnull=False)),
        left=_count(planned.exclude(repeat=RETURNED).filter(current_answer__isnull=True)),
        people=_count(Participant.objects.filter(round=OuterRef("pk"), left_at=None)),
    ).order_by("-pk")


def _count(rows: QuerySet[Any]) -> Coalesce:
    """Return the number of rows of each round, as a subquery."""
    return Coalesce(Subquery(rows.order_by().values("round").annotate(n=Count("*")).values("n")), 0)


def row(round: Any) -> dict[str, Any]:
    """Return a row of the lead's list from a round with counts."""
    return {
        "id": round.pk,
        "name": round.name,
        "kind": round.kind,
        "kind_title": kinds.get(round.kind).title,
        "purpose": round.get_purpose_display(),
        "status": round.status,
        "overlap": round.overlap,
        "units": round.units_count,
        "assignments": round.assignment_count,
        "answered": round.answered,
        "left": round.left,
        "people": round.people,
        "guideline": round.guideline.number,
        "opened_at": round.opened_at,
        "closed_at": round.closed_at,
        "independent": round.meaning.independent,
        "rolling": round.is_rolling,
    }


def rows(rounds: Sequence[Any], *, watches: bool, now: datetime) -> list[dict[str, Any]]:
    """Return rows of the lead's list from rounds with counts.

    With ``watches``, add names, quiet people and the number of units to adjudicate. The number of queries is fixed.
    """
    open_rounds = [r for r in rounds if r.is_open]
    by_person = _progress_by_person(open_rounds)
    last: dict[int, datetime] = {}
    for (pk, _), progress in by_person.items():
        last[pk] = max(last.get(pk, progress["last"]), progress["last"])
    names: dict[int, list[str]] = defaultdict(list)
    quiet: dict[int, list[dict[str, Any]]] = {}
    waiting: dict[int, int] = {}
    gates = gates_queries.states([r for r in rounds if r.status == Round.Status.PREPARING], watches=watches)
    if watches:
        people = Participant.objects.filter(round__in=rounds, left_at=None).order_by("pk")
        for pk, *name in people.values_list("round", "member__rater", "member__user__name", "member__pseudonym"):
            names[pk].append(next(filter(None, name)))
        for pk, working in at_work(open_rounds, now=now, by_person=by_person).items():
            quiet[pk] = [person for person in working if person["quiet_days"]]
        closed = [r.pk for r in rounds if r.status == Round.Status.CLOSED and r.meaning.makes_gold]
        waiting = adjudication.count_queued_units(Round.objects.filter(pk__in=closed))
    designed: dict[str, list[Round]] = defaultdict(list)
    for r in rounds:
        if kinds.get(r.kind).designed:
            designed[r.kind].append(r)
    blind = {pk for kind, of_kind in designed.items() for pk in kinds.get(kind).blind_among(of_kind)}
    return [
        row(r)
        | {
            "designed": kinds.get(r.kind).designed,
            "kept_blind": r.pk in blind,
            "gate": gate if (gate := gates.get(r.pk)) and gate["waits"] else None,
            "names": names[r.pk][:NAMES_SHOWN],
            "quiet": quiet.get(r.pk, []),
            "to_adjudicate": waiting.get(r.pk, 0),
            "last_answer_at": last.get(r.pk),
        }
        for r in rounds
    ]


def _progress_by_person(rounds: Sequence[Round]) -> dict[tuple[int, int], dict[str, Any]]:
    """Return counts, working time and last answer by round and member. One query."""
    by_person = Answer.objects.filter(assignment__round__in=rounds).values("assignment__round", "author")
    # Not through `current_of`, which would join the assignments again.
    is_current = Q(assignment__current_answer=F("pk"))
    counted = by_person.annotate(
        answered=Count("pk", filter=is_current & Q(outcome=Outcome.ANSWERED)),
        skipped=Count("pk", filter=is_current & Q(outcome=Outcome.SKIPPED)),
        ms=Sum("active_ms"),
        last=Max("received_at"),
    )
    return {(r["assignment__round"], r["author"]): dict(r) for r in counted.order_by()}


def at_work(
    rounds: Sequence[Round], *, now: datetime, by_person: dict[tuple[int, int], dict[str, Any]] | None = None
) -> dict[int, list[dict[str, Any]]]:
    """Return the participants of open rounds and their progress, by round, in the order in which they joined."""
    if by_person is None:
        by_person = _progress_by_person(rounds)
    open_assignments = (
        Assignment.objects.filter(round__in=rounds).counted().unanswered().exclude(person=None).order_by()
    )
    open_counts = {
        (r, person): n for r, person, n in open_assignments.values_list("round", "person").annotate(n=Count("pk"))
    }
    known = {r.pk for r in rounds if r.has_known_share}
    out: dict[int, list[dict[str, Any]]] = defaultdict(list)
    people = Participant.objects.filter(round__in=rounds, left_at=None, member__left_at=None)
    for one in people.select_related("member__user").order_by("pk"):
        key = (one.round_id, one.member_id)
        left = open_counts.get(key, 0) if one.round_id in known else None
        out[one.round_id].append(_person(one, by_person.get(key), left, now))
    return out


def _person(participant: Participant, counts: dict[str, Any] | None, left: int | None, now: datetime) -> dict[str, Any]:
    """Return a participant's progress. ``quiet_days`` is 0 for people who are not quiet (`QUIET`)."""
    counts = counts or {"answered": 0, "skipped": 0, "ms": 0, "last": None}
    seconds, done = (counts["ms"] or 0) / 1000, counts["answered"] + counts["skipped"]
    silence = now - (counts["last"] or now) if left != 0 else timedelta()
    return {
        "member": participant.member_id,
        "name": participant.member.name,
        "pseudonym": participant.member.pseudonym,
        "answered": counts["answered"],
        "skipped": counts["skipped"],
        "left": left,
        "active_seconds": seconds,
        "seconds_an_answer": seconds / done if done and seconds else None,
        "last_answer_at": counts["last"],
        "quiet_days": silence.days if silence >= QUIET else 0,
    }


def of_round(round: Round, *, now: datetime) -> dict[str, Any]:
    """Return the progress of one round."""
    assignments = Assignment.objects.filter(round=round)
    # Repeats are counted separately, because they do not make a unit more complete.
    counted, repeats = assignments.counted().filter(repeat=0), assignments.counted().repeats()
    # Skipped assignments are not counted, so no join with the answers is needed. PostgreSQL without table statistics
    # would compare every assignment with every answer.
    open_ = counted.filter(current_answer=None)
    finish = Job.objects.filter(kind="finish_round", params__round=round.pk).order_by("-pk").first()
    wanted = counted.count()
    return {
        "assignments": wanted,
        "answered": wanted - open_.count(),
        "units": round.units_count,
        "units_complete": counted.values("unit").distinct().count() - open_.values("unit").distinct().count(),
        "repeats": repeats.count(),
        "repeats_answered": repeats.exclude(current_answer=None).count(),
        "uncounted": assignments.filter(number__lt=0, current_answer__outcome=Outcome.ANSWERED).count(),
        "people": _people(round, now),
        "days": list(
            # The same answers as counted above, so that the days add up.
            opinions(round)
            .annotate(day=UtcDay("received_at"))
            .values("day")
            .annotate(answers=Count("pk"))
            .order_by("day")
        ),
        "flagged": _flagged(round),
        "gold": _decisions(round),
        "to_adjudicate": 0 if round.is_open else _count_queued(round),
        "job": finish.pk if finish else None,
    }


def _count_queued(round: Round) -> int:
    return adjudication.count_queued_units(Round.objects.filter(pk=round.pk)).get(round.pk, 0)


def _decisions(round: Round) -> dict[str, int]:
    """Count decisions by origin. Only contested decisions that still wait for a curator are included."""
    counted = round.decisions.exclude(origin__in=WAITING).order_by().values_list("origin").annotate(n=Count("pk"))
    contested = round.decisions.filter(unit__superseded_by=None).contested().count()
    return dict(counted) | ({Origin.CONTESTED.value: contested} if contested else {})


def _people(round: Round, now: datetime) -> list[dict[str, Any]]:
    by_person = _progress_by_person([round])
    open_counts = dict(
        Assignment.objects.filter(round=round)
        .counted()
        .unanswered()
        .exclude(person=None)
        .values_list("person")
        .annotate(n=Count("pk"))
    )
    out = []
    for one in round.participants.select_related("member__user").order_by("pk"):
        left = open_counts.get(one.member_id, 0) if round.has_known_share else None
        person = _person(one, by_person.get((round.pk, one.member_id)), left, now)
        out.append(person | {"working": one.left_at is None})
    return out


def _flagged(round: Round, limit: int = 200) -> list[dict[str, Any]]:
    answers = Answer.objects.filter(assignment__round=round, current_of__isnull=False).order_by("-received_at", "-pk")
    raised = answers.filter(Q(flag=True) | ~Q(comment="") | Q(outcome=Outcome.SKIPPED))
    # Sort keys first, and load the rows of these afterwards. Otherwise, all full rows would be sorted.
    newest = list(raised.values_list("pk", flat=True)[:limit])
    rows = answers.filter(pk__in=newest).select_related("assignment__unit", "author")
    kind = kinds.get(round.kind)
    return [
        {
            "unit": a.assignment.unit_id,
            "key": a.assignment.unit.key,
            "pseudonym": a.author.pseudonym,
            "comment": a.comment,
            "flag": a.flag,
            "outcome": a.outcome,
            "reason": kinds.reason_in_words(kind, a.reason),
            "at": a.received_at,
        }
        for a in rows
    ]


def to_adjudicate(user: User) -> list[dict[str, Any]]:
    """Return closed rounds with units that wait for a curator, in projects that a user curates. Three queries."""
    curated = Member.objects.active().filter(user=user, role__in=MAY["curate"]).values("project")
    closed = Round.objects.filter(project__in=curated, status=Round.Status.CLOSED, purpose__in=which("makes_gold"))
    counts = adjudication.count_queued_units(closed)
    rounds = Round.objects.filter(pk__in=counts).order_by("-pk")
    return [
        {"round": pk, "name": name, "project": slug, "project_name": project, "units": counts[pk]}
        for pk, name, slug, project in rounds.values_list("pk", "name", "project__slug", "project__name")
    ]


def my_work(user: User, *, now: datetime) -> list[dict[str, Any]]:
    """Return the rounds in which a user works, open rounds first. Uses a fixed number of queries."""
    worked_on = Round.objects.worked_on_by(user).select_related("project", "requires_practice")
    rounds = list(worked_on.order_by("-status", "-pk")[:100])
    today = first_moment(now.date()), last_moment(now.date())
    by_round: dict[int, dict[str, Any]] = {
        r["assignment__round"]: dict(r)
        for r in Answer.objects.filter(assignment__round__in=rounds, author__user=user)
        .values("assignment__round")
        .annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False)),
            today=Count("pk", filter=Q(received_at__range=today, revision=1)),
            ms=Sum("active_ms"),
        )
    }
    attempts, warnings = _attempts_of_user(rounds, user), warnings_of_user(rounds, user)
    open_units, replies, prerequisites = (
        _open_units(rounds, user),
        _replies(rounds, user),
        readiness.open_prerequisites(rounds, user),
    )
    return [
        {
            "id": r.pk,
            "name": r.name,
            "project": r.project.slug,
            "project_name": r.project.name,
            "kind": r.kind,
            "kind_title": kinds.get(r.kind).title,
            "status": r.status,
            "answered": by_round.get(r.pk, {}).get("answered", 0),
            "left": open_units.get(r.pk, 0) if r.is_open else 0,
            "practice": practice_queries.practice_state(r, attempts[r.pk]) if r.pk in attempts else None,
            "today": by_round.get(r.pk, {}).get("today", 0),
            "active_seconds": (by_round.get(r.pk, {}).get("ms") or 0) / 1000,
            "replies": replies.get(r.pk, 0),
            "outcomes": gold_queries.are_outcomes_shown(r),
            "prerequisite": prerequisites.get(r.pk),
            "accuracy": warnings.get(r.pk),
        }
        | _of_tries(r, attempts.get(r.pk))
        for r in rounds
    ]


def _attempts_of_user(rounds: list[Round], user: User) -> dict[int, list[practice_queries.Attempt]]:
    """Return the attempts of a user by id of the practice round. One query, or none without practice rounds."""
    practice_rounds = [r for r in rounds if r.meaning.gives_feedback]
    attempts = practice_queries.attempts_in(practice_rounds, Q(person__user=user)) if practice_rounds else {}
    return {pk: next(iter(by_person.values()), []) for pk, by_person in attempts.items()}


def _of_tries(round: Round, attempts: list[practice_queries.Attempt] | None) -> dict[str, int]:
    """Return the counts of an open practice round, and an empty dict for other rounds.

    A practice unit is done if it is correct or no attempt is left.
    """
    if attempts is None or not round.is_open:
        return {}
    return {"answered": sum(a.done for a in attempts), "left": sum(a.units - a.done for a in attempts)}


def _replies(rounds: list[Round], user: User) -> dict[int, int]:
    """Count the remarks with a text on the user's answers, by round."""
    remarks = Remark.objects.filter(answer__assignment__round__in=rounds, answer__author__user=user)
    remarks = remarks.exclude(text="").order_by()
    return dict(remarks.values_list("answer__assignment__round").annotate(n=Count("pk")))


def _open_units(rounds: list[Round], user: User) -> dict[int, int]:
    """Count the units that the user can still answer, by round.

    These are the user's own open assignments, and unclaimed assignments of units that the user does not have.
    """
    own = Assignment.objects.filter(
        round=OuterRef("round"), unit=OuterRef("unit"), repeat=OuterRef("repeat"), person__user=user
    )
    rows = (
        Assignment.objects.filter(round__in=[r for r in rounds if r.is_open], number__gte=1, current_answer=None)
        .filter(Q(person__user=user) | (Q(person=None) & ~Exists(own)))
        .values(pk_of_round=F("round"))
        .annotate(n=Count("unit", distinct=True))
    )
    open_units = {r["pk_of_round"]: r["n"] for r in rows}
    # Only people from a recruitment platform have a quota, in one round.
    if user.is_guest:
        participations = Participant.objects.filter(round__in=rounds, member__user=user, quota__isnull=False)
        for participant in participations.select_related("round"):
            most = quota_left(participant.round, participant)
            open_units[participant.round_id] = min(open_units.get(participant.round_id, 0), most)
    return open_units
