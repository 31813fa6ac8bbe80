"""Places and people of a recruitment link, for leads. The number of queries per page is fixed."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from ..models import Answer, Outcome, Recruit, Recruitment
from ..spreadsheets.cells import neutral

State = Recruit.State
HOUR_MS = 3_600_000
#: Columns of the file.
COLUMNS = (
    "external id",
    "study id",
    "session id",
    "pseudonym",
    "state",
    "begun",
    "ended",
    "active minutes",
    "answers",
    "checks passed",
    "checks",
    "pay",
    "pay per hour",
    "currency",
)


def summary(recruitment: Recruitment) -> dict[str, Any]:
    """Return the settings of a link, the number of people by state, and the median pay per hour."""
    link = recruitment.link
    by_state = dict(recruitment.recruits.order_by().values_list("state").annotate(n=Count("pk")))
    return {
        "link": link.pk,
        "label": link.label,
        "platform": recruitment.platform,
        "parameters": recruitment.parameters,
        "completed_end": recruitment.ends.get(State.COMPLETED, ""),
        "screened_out_end": recruitment.ends.get(State.SCREENED_OUT, ""),
        "failed_checks_end": recruitment.ends.get(State.FAILED_CHECKS, ""),
        "questions": recruitment.questions,
        "units": recruitment.units,
        "checks_allowed": recruitment.checks_allowed,
        "minutes": recruitment.minutes,
        "pay": recruitment.pay,
        "currency": recruitment.currency,
        "keep_days": recruitment.keep_days,
        "places": link.capacity,
        "free": link.capacity - link.used,
        "in_progress": by_state.get(State.IN_PROGRESS, 0),
        "completed": by_state.get(State.COMPLETED, 0),
        "failed_checks": by_state.get(State.FAILED_CHECKS, 0),
        "screened_out": by_state.get(State.SCREENED_OUT, 0),
        "returned": by_state.get(State.TIMED_OUT, 0) + by_state.get(State.WITHDRAWN, 0),
        "median_per_hour": _median_per_hour(recruitment),
    }


def _median_per_hour(recruitment: Recruitment) -> float | None:
    if recruitment.pay is None:
        return None
    completed = recruitment.recruits.filter(state=State.COMPLETED).values_list("link__member", flat=True)
    work = _work(recruitment, Q(author__in=completed))
    rates = [rate for each in work.values() if (rate := _per_hour(recruitment.pay, each["ms"])) is not None]
    return median(rates) if rates else None


def _per_hour(pay: Decimal, active_ms: int | None) -> float | None:
    return round(float(pay) * HOUR_MS / active_ms, 2) if active_ms else None


def _work(recruitment: Recruitment, who: Q) -> dict[int, Mapping[str, Any]]:
    """Return answers and active milliseconds by member."""
    answers = Answer.objects.filter(who, assignment__round=recruitment.link.round_id).order_by()
    current = Q(current_of__isnull=False, outcome=Outcome.ANSWERED, assignment__number__gte=1)
    rows = answers.values("author").annotate(answers=Count("pk", filter=current), ms=Sum("active_ms"))
    return {row["author"]: row for row in rows}


def people_of(recruitment: Recruitment) -> QuerySet[Recruit]:
    """Return the people of a link, oldest first."""
    return recruitment.recruits.select_related("link__member", "external").order_by("pk")


def rows(recruitment: Recruitment, people: Sequence[Recruit]) -> list[dict[str, Any]]:
    """Return one row for each person from `people_of`. One query."""
    work = _work(recruitment, Q(author__in=[person.link.member_id for person in people]))
    return [_row(recruitment, person, work.get(person.link.member_id or 0, {})) for person in people]


def _row(recruitment: Recruitment, person: Recruit, work: Mapping[str, Any]) -> dict[str, Any]:
    assert person.link.member
    external = getattr(person, "external", None)
    passed, had = person.checks or (None, None)
    pay = recruitment.pay if person.state == State.COMPLETED else None
    return {
        "id": person.pk,
        "external_id": external.external_id if external else "",
        "study_id": external.study_id if external else "",
        "session_id": external.session_id if external else "",
        "pseudonym": person.link.member.pseudonym,
        "state": person.state,
        "begun_at": person.begun_at,
        "ended_at": person.ended_at,
        "active_minutes": round((work.get("ms") or 0) / 60_000, 1),
        "answers": work.get("answers", 0),
        "checks_passed": passed,
        "checks": had,
        "pay": pay,
        "per_hour": None if pay is None else _per_hour(pay, work.get("ms")),
    }


def csv_lines(recruitment: Recruitment) -> Iterator[str]:
    """Yield the file of all people, with cells made safe for spreadsheets."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\n").writerow
    write(COLUMNS)
    for row in rows(recruitment, list(people_of(recruitment))):
        cells = [*list(row.values())[1:], recruitment.currency if row["pay"] is not None else ""]
        write([_cell(cell) for cell in cells])
    yield out.getvalue()


def _cell(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat(timespec="seconds")
    return neutral(value) if isinstance(value, str) else value


def outcome(recruit: Recruit) -> dict[str, Any]:
    """Return what a person sees of the place: its state, and the code or address of that state only."""
    end = recruit.recruitment.ends.get(recruit.state, "")
    is_address = end.startswith("https://")
    return {
        "state": recruit.state,
        "questions": recruit.asked(),
        "code": "" if is_address else end,
        "address": end if is_address else "",
        "due_at": recruit.due_at if recruit.state == State.IN_PROGRESS else None,
    }
