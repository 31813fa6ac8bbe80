"""A sheet's rows stored as answers of the people whose slots they are.

It is one person's act in others' names. So the log says who brings which file before the first row is stored, every
answer points at that entry, and a second entry, in the transaction in which the job ends, says what came of it however
it ended: cancelled, overtaken by the round's closing, or given up after its workers died.
"""

from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from typing import Any

from api.problems import Problem, RoundClosed
from audit.log import record
from audit.models import Entry
from sql import planner

from ..background import batches
from ..background.jobs import RunningJob
from ..models import Answer, Job, JobStatus, Round
from ..sheets.checking import Tally, check
from ..sheets.reading import read
from ..uploads.upload import HOW
from .answers import submit
from .sheets import needed, report

BEGIN, END = "import sheet", "end sheet import"
COUNTS = ("rows", "new", "corrections", "unchanged", "empty", "missing")


def import_sheet(*, round: Round, path: Path, name: str, job: RunningJob) -> dict[str, Any]:
    """Store the rows that are answers, each as the person whose slot it is, by the same action as the browser.

    Rows that are none stay out and are named by cell. The same sheet again changes nothing; a row that was answered
    in the browser in the meantime is kept out, not overwritten. Every row is a transaction of its own, in which the
    worker proves that it still has the job: one that dies has stored what it has stored, and the next goes on.
    """
    if not round.is_open:
        raise RoundClosed("The round was closed. Nothing was imported.")
    entry = _begun(round, path, name, job)
    progress, tally = job.paced(), Tally()
    for ready in check(round, read(path, name, needed=needed(round)), tally):
        progress(tally.rows, None, "storing answers")
        try:
            person = ready.slot.person
            assert person is not None
            with batches.batch(tally.rows):
                submit(user=person.user, submission=replace(ready.submission, entry=entry.pk))
        except RoundClosed:
            raise
        except Problem as problem:
            tally.kept_out.add(ready.row.file, ready.row.number, "assignment", str(problem))
            if ready.slot.current_answer:
                tally.corrections -= 1
            else:
                tally.new -= 1
    planner.look_at_grown(*planner.hanging_on(Answer))
    return report(round, tally) | {"stored": _stored(entry)}


def _begun(round: Round, path: Path, name: str, job: RunningJob) -> Entry:
    """The entry of this import: written now, or by a worker before this one."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    with batches.batch(0):
        return entry_of(job.job) or record(
            actor=job.by, verb=BEGIN, obj=round, project_id=round.project_id,
            after={"file": name, "sha256": digest, "job": job.job.pk},
        )  # fmt: skip


def entry_of(job: Job) -> Entry | None:
    """The entry that the import of a job was begun with; None where it has not begun."""
    of_round = Entry.objects.filter(object_type="round", object_id=str(job.params["round"]), verb=BEGIN)
    return of_round.filter(after__job=job.pk).first()


def _stored(entry: Entry) -> int:
    return Answer.objects.filter(entry=entry).count()


def ended(job: Job) -> None:
    """In the transaction in which the job ends: what came of the import, in the log."""
    entry = entry_of(job)
    if entry is None:
        return
    counts = _counts(job.result) if job.status == JobStatus.DONE and job.result else {}
    record(
        actor=job.created_by, verb=END, object_type=entry.object_type, object_id=entry.object_id,
        project_id=entry.project, reason=job.error,
        after={"entry": entry.pk, "job": job.pk, "how": HOW[JobStatus(job.status)], "stored": _stored(entry)} | counts,
    )  # fmt: skip


def _counts(report: dict[str, Any]) -> dict[str, int]:
    totals = {f"{name}_total": report[name]["total"] for name in ("faults", "kept_out")}
    return {name: report[name] for name in COUNTS} | totals
