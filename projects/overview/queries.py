"""Overview of a project: progress of rounds, people at work, and answers per day."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q

from sql.expressions import UtcDay, first_moment

from ..inbox import queries as inbox_queries
from ..inbox.queries import SETTLED, SKIPPED, raised
from ..models import Answer, Assignment, Decision, Outcome, Project, Round
from ..models.project import verbs_of
from ..rounds import queries as rounds_queries

#: Maximum number of closed rounds, and of all rounds.
CLOSED_SHOWN, SHOWN = 4, 8
#: Number of days, including today.
DAYS = 14


def overview(project: Project, *, watches: bool, now: datetime) -> dict[str, Any]:
    """Return the open rounds and the newest closed ones.

    With ``watches``, add unsettled matters and people at work. The number of queries is fixed.
    """
    counted = rounds_queries.with_counts(Round.objects.filter(project=project).opened_by_people())
    counted = counted.select_related("guideline")
    shown_rounds = list(counted.filter(status=Round.Status.OPEN)[:SHOWN])
    shown_rounds += list(counted.filter(status=Round.Status.CLOSED)[: min(CLOSED_SHOWN, SHOWN - len(shown_rounds))])
    contested = _contested(project) if watches else []
    unsettled = _unsettled(project, shown_rounds) if watches else {}
    at_work = rounds_queries.at_work([r for r in shown_rounds if r.is_open]) if watches else {}
    return {
        "rounds": [
            rounds_queries.row(r)
            | {"raised": 0, "skipped": 0}
            | unsettled.get(r.pk, {})
            | {"at_work": at_work.get(r.pk, [])}
            for r in shown_rounds
        ],
        "contested": contested,
        "unsettled": inbox_queries.totals(project)["open"] if watches else 0,
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


def _unsettled(project: Project, rounds: list[Round]) -> dict[int, dict[str, int]]:
    unsettled_answers = raised(project).exclude(SETTLED).filter(assignment__round__in=rounds).order_by()
    counts = unsettled_answers.values_list("assignment__round").annotate(
        raised=Count("pk", filter=~SKIPPED), skipped=Count("pk", filter=SKIPPED)
    )
    return {round: {"raised": n, "skipped": skipped} for round, n, skipped in counts}


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
