"""Actions on sheets: export assignments, check a filled-in sheet, import it."""

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import file_digest
from pathlib import Path
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Problem, Refused, RoundClosed
from audit.log import record
from audit.models import Entry
from sql import planner

from .. import uploads
from ..jobs import batches
from ..jobs.batches import Progress, silent
from ..jobs.running import RunningJob
from ..models import Answer, Assignment, Job, JobStatus, Member, Participant, Round
from ..models.round import WALK
from ..practice.actions import require_ready
from ..queue import assignments
from ..queue.actions import submit
from ..spreadsheets.reading import Row, read
from ..uploads import actions as uploads_actions
from ..uploads.faults import Unreadable
from ..uploads.upload import HOW
from .checking import Tally, check
from .writing import KEYS, answer_columns, kind_of

#: Maximum number of assignments in one file, because the file is written during the request.
MOST = 2000
#: Lease of exported assignments of a shared queue, in days: default and maximum.
DAYS, MOST_DAYS = 14, 90


def hold_for_sheet(
    *, round: Round, member: Member, by: User, limit: int = MOST, days: int = DAYS, now: datetime | None = None
) -> list[Assignment]:
    """Return up to ``limit`` unanswered assignments of a person for a sheet.

    With a shared queue, more assignments are claimed for ``days``.
    """
    if not round.is_open:
        raise RoundClosed("The round is closed and accepts no answers.")
    if obstacle := _obstacle(round):
        raise Refused(obstacle)
    now = now or timezone.now()
    participant = Participant.objects.filter(round=round, member=member, left_at=None).first()
    if participant is None:
        raise _not_at_work()
    require_ready(round, member)
    limit, days = min(limit, MOST), min(days, MOST_DAYS)
    held = list(assignments.held_assignments(round, participant)[:limit])
    held += _claim(limit - len(held), round, participant, now, days)
    with transaction.atomic():
        if not assignments.lock_participation(participant):
            raise _not_at_work()
        until = now + timedelta(days=days)
        leased = [s.pk for s in held if s.leased_until is not None]
        Assignment.objects.filter(pk__in=leased, person=member, current_answer=None).update(leased_until=until)
        record(
            actor=by,
            verb="take home",
            obj=round,
            project_id=round.project_id,
            after={"person": member.pseudonym, "slots": len(held), "until": until.isoformat() if leased else None},
        )
    ids = [s.pk for s in held]
    found = Assignment.objects.filter(pk__in=ids).select_related("unit", "current_answer", "round")
    return list(found.order_by(*WALK))


def _not_at_work() -> Refused:
    return Refused.field("person", "This person is not a participant of this round.")


def _claim(wanted: int, round: Round, participant: Participant, now: datetime, days: int) -> list[Assignment]:
    """Claim assignments as the browser does, with a lease of ``days``.

    Each claim has its own transaction. Holding claimed rows while waiting for another row can deadlock on PostgreSQL.
    After an interruption the next sheet contains the assignments that were claimed.
    """
    away = copy(round)
    away.lease_seconds = days * 86_400
    claimed: list[Assignment] = []
    while len(claimed) < wanted:
        with transaction.atomic():
            more = assignments.lock_participation(participant) and assignments.claim(
                1, round=away, participant=participant, now=now
            )
        if not more:
            break
        claimed += more
    return claimed


def start_import(*, round: Round, file: "File[bytes]", by: User) -> Job:
    """Queue the import of a sheet without a check. Used by the command, which has printed the check."""
    return uploads_actions.start_write(
        uploads.get("sheet"), project=round.project, file=file, by=by, params={"round": round.pk}
    )


def check_sheet(*, round: Round, path: Path, name: str, progress: Progress = silent) -> Tally:
    """Return the tally of a sheet without storing anything. Unreadable content is added to the faults."""
    tally = Tally()
    try:
        for _ in check(round, read_sheet(round, path, name, tally), tally):
            progress(tally.rows, None, "checking")
    except Unreadable as unreadable:
        unreadable.add_to(tally.faults)
    return tally


def report(round: Round, tally: Tally) -> dict[str, Any]:
    """Return a tally as JSON. ``missing`` counts unanswered assignments of people that the sheet does not contain."""
    handed_out = Assignment.objects.counted().unanswered().filter(round=round, person__isnull=False)
    missing = sum(1 for pk in handed_out.values_list("pk", flat=True) if pk not in tally.seen)
    return {
        "rows": tally.rows,
        "new": tally.new,
        "corrections": tally.corrections,
        "unchanged": tally.unchanged,
        "empty": tally.empty,
        "missing": missing,
        "faults": tally.faults.as_json(),
        "kept_out": tally.kept_out.as_json(),
        "warnings": tally.warnings,
    }


def _obstacle(round: Round) -> str:
    """Return why a round cannot be answered in a spreadsheet, or an empty string."""
    if kind_of(round).sheet is None:
        return f"The task {kind_of(round).title!r} cannot be answered in a spreadsheet."
    if round.meaning.gives_feedback or round.meaning.shows_value:
        return f"Rounds with the purpose {round.get_purpose_display()!r} can be answered in the browser only."
    return ""


def read_sheet(round: Round, path: Path, name: str, tally: Tally) -> Iterator[Row]:
    """Return the rows of a file that was exported for a round, and add warnings to the tally."""
    if obstacle := _obstacle(round):
        raise Conflict(obstacle)
    own = [column.name for column in KEYS]
    needed = [*own, *(column.name for column in answer_columns(round))]
    return read(path, name, needed=needed, own_columns=own, warn=tally.warnings.append)


BEGIN, END = "import sheet", "end sheet import"
COUNTS = ("rows", "new", "corrections", "unchanged", "empty", "missing")


def import_sheet(*, round: Round, path: Path, name: str, job: RunningJob) -> dict[str, Any]:
    """Store each valid row as an answer of the assignment's person, with the same action as the browser.

    Invalid rows are skipped and reported by cell. A row that was answered in the browser in the meantime is skipped,
    not overwritten. Idempotent. Each row has its own transaction, which checks that the worker still holds the job.
    If a worker stops, the stored rows remain and the next worker continues.
    """
    if not round.is_open:
        raise RoundClosed("The round was closed. Nothing was imported.")
    entry = _begun(round, path, name, job)
    progress, tally = job.paced(), Tally()
    for ready in check(round, read_sheet(round, path, name, tally), tally):
        progress(tally.rows, None, "storing answers")
        try:
            person = ready.assignment.person
            assert person is not None
            with batches.batch(tally.rows):
                submit(user=person.user, submission=replace(ready.submission, entry=entry.pk))
        except RoundClosed:
            raise
        except Problem as problem:
            tally.kept_out.add(ready.row.file, ready.row.number, "assignment", str(problem))
            if ready.assignment.current_answer:
                tally.corrections -= 1
            else:
                tally.new -= 1
    planner.analyze_grown_tables(*planner.dependents_of(Answer))
    return report(round, tally) | {"stored": _stored(entry)}


def _begun(round: Round, path: Path, name: str, job: RunningJob) -> Entry:
    """Return the audit entry of this import; create it unless an earlier worker did."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    with batches.batch(0):
        return entry_of(job.job) or record(
            actor=job.by,
            verb=BEGIN,
            obj=round,
            project_id=round.project_id,
            after={"file": name, "sha256": digest, "job": job.job.pk},
        )


def entry_of(job: Job) -> Entry | None:
    """Return the audit entry of a job's import, or None if the import has not started."""
    of_round = Entry.objects.filter(object_type="round", object_id=str(job.params["round"]), verb=BEGIN)
    return of_round.filter(after__job=job.pk).first()


def _stored(entry: Entry) -> int:
    return Answer.objects.filter(entry=entry).count()


def ended(job: Job) -> None:
    """Log the result of the import, in the transaction in which the job ends."""
    entry = entry_of(job)
    if entry is None:
        return
    counts = _counts(job.result) if job.status == JobStatus.DONE and job.result else {}
    record(
        actor=job.created_by,
        verb=END,
        object_type=entry.object_type,
        object_id=entry.object_id,
        project_id=entry.project,
        reason=job.error,
        after={"entry": entry.pk, "job": job.pk, "how": HOW[JobStatus(job.status)], "stored": _stored(entry)} | counts,
    )


def _counts(report: dict[str, Any]) -> dict[str, int]:
    totals = {f"{name}_total": report[name]["total"] for name in ("faults", "kept_out")}
    return {name: report[name] for name in COUNTS} | totals
