"""Rounds away from the browser: slots taken home as a sheet, and what the sheet comes to when it is back."""

from copy import copy
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused, RoundClosed
from audit.log import record

from .. import uploads
from ..background.progress import Progress, silent
from ..models import Assignment, Job, Member, Participant, Round
from ..models.round import WALK
from ..sheets.checking import Tally, check
from ..sheets.layout import KEYS, asked, kind_of
from ..sheets.reading import read
from ..uploads import flow
from ..uploads.faults import Unreadable
from . import queue
from .readiness import require_ready

#: The most slots in one file: what is written while a person waits.
MOST = 2000
#: How long slots of a pool stay with whom they were taken home by, in days.
DAYS, MOST_DAYS = 14, 90


def take_home(
    *, round: Round, member: Member, by: User, limit: int = MOST, days: int = DAYS, now: datetime | None = None
) -> list[Assignment]:
    """The unanswered slots of a person, at most ``limit``, for a sheet. Of a pool, more are claimed for ``days``."""
    if not round.is_open:
        raise RoundClosed("The round is closed: nothing can be answered any more.")
    if obstacle := _obstacle(round):
        raise Refused(obstacle)
    now = now or timezone.now()
    participant = Participant.objects.filter(round=round, member=member, left_at=None).first()
    if participant is None:
        raise _not_at_work()
    require_ready(round, member)
    limit, days = min(limit, MOST), min(days, MOST_DAYS)
    held = list(queue.held(round, participant)[:limit])
    held += _claim(limit - len(held), round, participant, now, days)
    with transaction.atomic():
        if not queue.turn(participant):
            raise _not_at_work()
        until = now + timedelta(days=days)
        leased = [s.pk for s in held if s.leased_until is not None]
        Assignment.objects.filter(pk__in=leased, person=member, current_answer=None).update(leased_until=until)
        record(
            actor=by, verb="take home", obj=round, project_id=round.project_id,
            after={"person": member.pseudonym, "slots": len(held), "until": until.isoformat() if leased else None},
        )  # fmt: skip
    ids = [s.pk for s in held]
    found = Assignment.objects.filter(pk__in=ids).select_related("unit", "current_answer", "round")
    return list(found.order_by(*WALK))


def _not_at_work() -> Refused:
    return Refused.field("person", "This person is not at work in this round.")


def _claim(wanted: int, round: Round, participant: Participant, now: datetime, days: int) -> list[Assignment]:
    """Claims as the browser does, with a lease as long as people are away.

    One at a time, each in a transaction of its own: whoever holds slots while waiting for one that another has may
    lock both out (PostgreSQL ends one of them). Cut off, the next sheet has what was claimed.
    """
    away = copy(round)
    away.lease_seconds = days * 86_400
    claimed: list[Assignment] = []
    while len(claimed) < wanted:
        with transaction.atomic():
            more = queue.turn(participant) and queue.claim(1, round=away, participant=participant, now=now)
        if not more:
            break
        claimed += more
    return claimed


def start_import(*, round: Round, file: "File[bytes]", by: User) -> Job:
    """Queue the import of a sheet without a check before: for who has seen it on the command line."""
    return flow.start_write(uploads.get("sheet"), project=round.project, file=file, by=by, asked={"round": round.pk})


def check_sheet(*, round: Round, path: Path, name: str, progress: Progress = silent) -> Tally:
    """What importing a sheet would come to; stores nothing. From where it cannot be read on is a fault too."""
    tally = Tally()
    try:
        for _ in check(round, read(path, name, needed=needed(round)), tally):
            progress(tally.rows, None, "checking")
    except Unreadable as unreadable:
        unreadable.add_to(tally.faults)
    return tally


def report(round: Round, tally: Tally) -> dict[str, Any]:
    """A tally as JSON. ``missing``: slots handed out and unanswered that the sheet does not hold."""
    handed_out = Assignment.objects.counted().unanswered().filter(round=round, person__isnull=False)
    missing = sum(1 for pk in handed_out.values_list("pk", flat=True) if pk not in tally.seen)
    return {
        "rows": tally.rows, "new": tally.new, "corrections": tally.corrections, "unchanged": tally.unchanged,
        "empty": tally.empty, "missing": missing, "faults": tally.faults.as_json(),
        "kept_out": tally.kept_out.as_json(),
    }  # fmt: skip


def _obstacle(round: Round) -> str:
    """Why a round cannot be worked on in a spreadsheet; empty where it can."""
    if kind_of(round).sheet is None:
        return f"{kind_of(round).title} cannot be done in a spreadsheet."
    if round.meaning.gives_feedback or round.meaning.shows_value:
        return f"A round of the purpose {round.purpose!r} is worked on in the browser: a spreadsheet does not answer."
    return ""


def needed(round: Round) -> list[str]:
    if obstacle := _obstacle(round):
        raise Conflict(obstacle)
    return [c.name for c in (*KEYS, *asked(round))]
