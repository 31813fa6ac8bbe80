"""A project's page: its rounds with how far they are, who is at work in them, and how much was said day by day."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, Sum
from django.db.models.functions import TruncDate

from ..models import Answer, Assignment, Decision, Outcome, Participant, Project, Round
from ..models.roles import verbs_of
from ..rounds.raised import SETTLED, SKIPPED, raised
from . import inbox, progress

#: Closed rounds on a project's page; older ones have pages of their own.
CLOSED_SHOWN, SHOWN = 4, 8
#: So many days are shown, today the last of them.
DAYS = 14


def overview(project: Project, *, watches: bool, now: datetime) -> dict[str, Any]:
    """Open rounds and the newest closed ones and, for who watches them, what needs attention and who is at work.
    A fixed number of queries, whatever the number of rounds."""
    counted = progress.with_counts(Round.objects.filter(project=project).opened_by_people())
    counted = counted.select_related("guideline")
    shown = list(counted.filter(status=Round.Status.OPEN)[:SHOWN])
    shown += list(counted.filter(status=Round.Status.CLOSED)[: min(CLOSED_SHOWN, SHOWN - len(shown))])
    contested = _contested(shown) if watches else {}
    unsettled = _unsettled(project, shown) if watches else {}
    at_work = _at_work([r for r in shown if r.is_open]) if watches else {}
    return {
        "rounds": [
            progress.row(r)
            | {"contested": contested.get(r.pk, 0), "raised": 0, "skipped": 0}
            | unsettled.get(r.pk, {})
            | {"independent": r.meaning.independent, "at_work": at_work.get(r.pk, [])}
            for r in shown
        ],
        "unsettled": inbox.totals(project)["open"] if watches else 0,
        "days": _days(project, now),
    }


def with_progress(page: list[Any]) -> list[Any]:
    """Projects with the ``role`` of the person who lists them, each with ``progress``: how many rounds there are, and
    of the open ones the answers. None for who may not read rounds. Two queries."""
    read = [project.pk for project in page if "read rounds" in verbs_of(project.role)]
    rounds = Round.objects.filter(project__in=read).opened_by_people()
    is_open = Q(status=Round.Status.OPEN)
    counts = rounds.order_by().values("project").annotate(n=Count("pk"), n_open=Count("pk", filter=is_open))
    by_project: dict[int, Any] = {row["project"]: row for row in counts}
    slots = Assignment.objects.counted().filter(round__in=rounds.filter(is_open).order_by(), repeat=0)
    answers = slots.order_by().values("round__project").annotate(n=Count("pk"), done=Count("current_answer"))
    answered: dict[int, Any] = {row["round__project"]: row for row in answers}
    none: dict[str, int] = {}
    for project in page:
        mine, given = by_project.get(project.pk, none), answered.get(project.pk, none)
        project.progress = None if project.pk not in read else {
            "rounds": mine.get("n", 0), "open_rounds": mine.get("n_open", 0),
            "answered": given.get("done", 0), "slots": given.get("n", 0),
        }  # fmt: skip
    return page


def _contested(rounds: list[Round]) -> dict[int, int]:
    """Fields whose newest word is a contest of the round."""
    open_ones = Decision.objects.filter(round__in=rounds).contested()
    return dict(open_ones.values_list("round").annotate(n=Count("pk")))


def _unsettled(project: Project, rounds: list[Round]) -> dict[int, dict[str, int]]:
    found = raised(project).exclude(SETTLED).filter(assignment__round__in=rounds).order_by()
    counts = found.values_list("assignment__round").annotate(
        raised=Count("pk", filter=~SKIPPED), skipped=Count("pk", filter=SKIPPED)
    )
    return {round: {"raised": n, "skipped": skipped} for round, n, skipped in counts}


def _at_work(rounds: list[Round]) -> dict[int, list[dict[str, Any]]]:
    """Who works in some open rounds and what each said there, by round, in the order in which they joined."""
    said: dict[tuple[int, int], dict[str, Any]] = {
        (r["assignment__round"], r["author"]): dict(r)
        for r in Answer.objects.filter(assignment__round__in=rounds)
        .values("assignment__round", "author")
        .annotate(
            answered=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.ANSWERED)),
            skipped=Count("pk", filter=Q(current_of__isnull=False, outcome=Outcome.SKIPPED)),
            ms=Sum("active_ms"),
            last=Max("received_at"),
        )
        .order_by()
    }
    open_slots = Assignment.objects.filter(round__in=rounds).counted().unanswered().exclude(person=None).order_by()
    left = {(r, person): n for r, person, n in open_slots.values_list("round", "person").annotate(n=Count("pk"))}
    known = {r.pk for r in rounds if r.has_known_share}
    out: dict[int, list[dict[str, Any]]] = defaultdict(list)
    people = Participant.objects.filter(round__in=rounds, left_at=None, member__left_at=None)
    for one in people.select_related("member__user").order_by("pk"):
        place = (one.round_id, one.member_id)
        mine = said.get(place, {"answered": 0, "skipped": 0, "ms": 0, "last": None})
        seconds, done = (mine["ms"] or 0) / 1000, mine["answered"] + mine["skipped"]
        out[one.round_id].append(
            {
                "member": one.member_id, "name": one.member.user.name, "pseudonym": one.member.pseudonym,
                "answered": mine["answered"], "skipped": mine["skipped"],
                "left": left.get(place, 0) if one.round_id in known else None,
                "seconds_an_answer": seconds / done if done and seconds else None, "last_answer_at": mine["last"],
            }
        )  # fmt: skip
    return out


def _days(project: Project, now: datetime) -> list[dict[str, Any]]:
    """First answers of people by day, today last; days on which nothing was said are there too."""
    first = (now - timedelta(days=DAYS - 1)).date()
    given = Answer.objects.filter(
        assignment__round__in=Round.objects.filter(project=project).opened_by_people().order_by(),
        outcome=Outcome.ANSWERED, revision=1, received_at__date__gte=first,
    )  # fmt: skip
    found = given.annotate(day=TruncDate("received_at")).order_by().values_list("day").annotate(n=Count("pk"))
    counts = dict(found)
    days = [first + timedelta(days=n) for n in range(DAYS)]
    return [{"day": day, "answers": counts.get(day, 0)} for day in days]
