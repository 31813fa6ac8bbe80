"""Overview of a project: progress of rounds, people at work, and answers per day."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q

from sql.expressions import UtcDay, first_moment

from .. import kinds
from ..gates import queries as gates_queries
from ..inbox import queries as inbox_queries
from ..jobs import jobs
from ..models import Answer, Assignment, Decision, JobStatus, Member, Outcome, Project, Round
from ..models.project import verbs_of
from ..permissions import hidden_from, may
from ..rounds import queries as rounds_queries

#: Maximum number of open rounds, and of closed ones. Every open round can need the lead.
OPEN_SHOWN, CLOSED_SHOWN = 50, 4
#: Number of days, including today.
DAYS = 14
#: Failed jobs that ended earlier, and more of them, are not listed.
FAILED_SINCE, FAILED_SHOWN = timedelta(days=30), 20
UNFINISHED_SHOWN = 50


def overview(member: Member, *, now: datetime) -> dict[str, Any]:
    """Return the open rounds of the member's project and the newest closed ones.

    For leads and curators, add unsettled matters, people at work and failed jobs. The number of queries is fixed.
    """
    project, watches = member.project, may(member, "curate")
    counted = rounds_queries.with_counts(Round.objects.filter(project=project).opened_by_people())
    counted = counted.select_related("guideline")
    shown_rounds = list(counted.filter(status=Round.Status.OPEN)[:OPEN_SHOWN])
    shown_rounds += list(counted.filter(status=Round.Status.CLOSED)[:CLOSED_SHOWN])
    contested = _contested(project) if watches else []
    unsettled = inbox_queries.totals_by_round(project) if watches else {}
    at_work = rounds_queries.at_work([r for r in shown_rounds if r.is_open], now=now) if watches else {}
    return {
        "rounds": [
            rounds_queries.row(r) | _unsettled(unsettled.get(r.pk, {})) | {"at_work": at_work.get(r.pk, [])}
            for r in shown_rounds
        ],
        "contested": contested,
        "waiting": _waiting(project) if watches else [],
        "unsettled": inbox_queries.sum_of(unsettled) if watches else None,
        "failed_jobs": _failed_jobs(member, now) if may(member, "read reports of jobs") else [],
        "unfinished": _unfinished([r for r in shown_rounds if r.is_open], now) if watches else [],
        "days": _days(project, now),
    }


def with_progress(page: list[Any]) -> list[Any]:
    """Set ``progress`` on each project: the number of rounds, and the answers of the open ones. Two queries.

    Each project must have the ``role`` of the requesting person. ``progress`` is None if the role may not read rounds.
    """
    read = [project.pk for project in page if "read rounds" in verbs_of(project.role)]
    rounds = Round.objects.filter(project__in=read).opened_by_people()
    is_open = Q(status=Round.Status.OPEN)
    counts = rounds.order_by().values("project").annotate(n=Count("pk"), n_open=Count("pk", filter=is_open))
    by_project: dict[int, Any] = {row["project"]: row for row in counts}
    assignments = Assignment.objects.counted().filter(round__in=rounds.filter(is_open).order_by(), repeat=0)
    answers = assignments.order_by().values("round__project").annotate(n=Count("pk"), done=Count("current_answer"))
    answered: dict[int, Any] = {row["round__project"]: row for row in answers}
    none: dict[str, int] = {}
    for project in page:
        round_counts, answer_counts = by_project.get(project.pk, none), answered.get(project.pk, none)
        project.progress = (
            None
            if project.pk not in read
            else {
                "rounds": round_counts.get("n", 0),
                "open_rounds": round_counts.get("n_open", 0),
                "answered": answer_counts.get("done", 0),
                "assignments": answer_counts.get("n", 0),
            }
        )
    return page


def _contested(project: Project) -> list[dict[str, Any]]:
    """Return the closed rounds with fields that wait for a curator, newest first."""
    closed = project.rounds.filter(status=Round.Status.CLOSED)
    waiting = Decision.objects.filter(round__in=closed, unit__superseded_by=None).contested().order_by()
    counted = waiting.values("round", "round__name").annotate(n=Count("pk")).order_by("-round")
    return [{"round": row["round"], "name": row["round__name"], "count": row["n"]} for row in counted]


def _waiting(project: Project) -> list[dict[str, Any]]:
    """Return the rounds whose closed pilot did not meet its bar, newest first."""
    return [{"round": round.pk, "name": round.name} for round in gates_queries.unmet(project)]


def _unfinished(rounds: Sequence[Round], now: datetime) -> list[dict[str, Any]]:
    """Return the units that people began and left, in rounds of tasks that take days. No other person has done them.

    A person left the round, or did not return before the assignment lapsed. One query, none without such rounds.
    """
    long = [r.pk for r in rounds if kinds.get(r.kind).lease_seconds]
    if not long:
        return []
    begun = Assignment.objects.filter(round__in=long, current_answer=None, repeat=0, person__isnull=False)
    begun = begun.filter(Q(number__lt=0, leased_until__isnull=False) | Q(number__gte=1, leased_until__lte=now))
    open_ = Assignment.objects.counted().unanswered().filter(round=OuterRef("round"), unit=OuterRef("unit"))
    rows = (
        begun.filter(Exists(open_)).select_related("unit", "person__user", "round").order_by("round", "position", "pk")
    )
    return [
        {
            "round": row.round_id,
            "name": row.round.name,
            "unit": row.unit_id,
            "key": row.unit.key,
            "person": row.person.name or row.person.pseudonym if row.person else "",
        }
        for row in rows[:UNFINISHED_SHOWN]
    ]


def _failed_jobs(member: Member, now: datetime) -> list[dict[str, Any]]:
    """Return the failed jobs without a later job for the same work, newest first. Two queries, and those of hiding."""
    listed = member.project.jobs.filter(kind__in=jobs.pages).order_by("-pk")
    shown = listed.filter(status=JobStatus.FAILED, is_dismissed=False)
    failed = list(shown.filter(finished_at__gte=now - FAILED_SINCE)[:FAILED_SHOWN])
    hidden = hidden_from(member)
    oldest = min((job.pk for job in failed), default=0)
    later = listed.filter(kind__in={job.kind for job in failed}, pk__gt=oldest).only("project", "kind", "params")
    newest: dict[tuple[str, tuple[str, str]], int] = {}
    for job in later:
        newest.setdefault((job.kind, jobs.page_of(job)), job.pk)
    return [
        {"id": job.pk, "what": what, "error": job.error, "page": page, "at": job.finished_at}
        for job, (what, page) in ((job, jobs.page_of(job)) for job in failed)
        if newest.get((job.kind, (what, page)), 0) <= job.pk
        and not any(job.params.get(object_type) in ids for object_type, ids in hidden.items())
    ]


def _unsettled(totals: Mapping[str, int]) -> dict[str, int]:
    skipped = totals.get("skipped", 0)
    return {"raised": totals.get("open", 0) - skipped, "skipped": skipped}


def _days(project: Project, now: datetime) -> list[dict[str, Any]]:
    """Return the number of first answers per day, today last. Days without answers are included."""
    first = (now - timedelta(days=DAYS - 1)).date()
    first_answers = Answer.objects.filter(
        assignment__round__in=Round.objects.filter(project=project).opened_by_people().order_by(),
        outcome=Outcome.ANSWERED,
        revision=1,
        received_at__gte=first_moment(first),
    )
    by_day = first_answers.annotate(day=UtcDay("received_at")).order_by().values_list("day").annotate(n=Count("pk"))
    counts = dict(by_day)
    days = [first + timedelta(days=n) for n in range(DAYS)]
    return [{"day": day, "answers": counts.get(day, 0)} for day in days]
