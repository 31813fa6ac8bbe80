"""Thin wrappers: what workers run by id."""

import os
import signal
from pathlib import Path
from typing import Any

from celery import shared_task

from accounts import sweeping
from api.problems import Conflict
from audit.actions import seal_if_due

from . import kinds
from .actions import elsewhere, gold, measuring, preparing, sheet_import, sheets
from .background import jobs, uploads
from .models import Project, Round
from .rounds import pointers


@shared_task(name="projects.run_job")  # type: ignore[untyped-decorator]
def run(job_id: int) -> None:
    try:
        jobs.woken(job_id)
    except jobs.Unfit:
        # Celery ends a worker that is asked to; a child of its pool is followed by another.
        os.kill(os.getpid(), signal.SIGTERM)


@shared_task(name="projects.resend_lost")  # type: ignore[untyped-decorator]
def resend_lost() -> int:
    return jobs.resend_lost()


@shared_task(name="projects.sweep")  # type: ignore[untyped-decorator]
def sweep() -> dict[str, int]:
    return sweeping.sweep()


@shared_task(name="projects.seal")  # type: ignore[untyped-decorator]
def seal() -> bool:
    """Asked every minute: rounds that an earlier version finished are settled, and the record is sealed when due."""
    pointers.settle_old()
    return seal_if_due()


@jobs.handler("finish_round", short=True)
def finish_round(job: jobs.RunningJob) -> dict[str, Any]:
    round = _round(job)
    found = gold.finish_round(round=round, by=job.by, progress=job.progress)
    measuring.after_closing(round=round)
    return found


@jobs.handler(preparing.OPEN)
def open_round(job: jobs.RunningJob) -> dict[str, Any]:
    """Lay out a large round in short transactions, and open it."""
    people = job.params["people"]
    return preparing.lay_out_and_open(round=_round(job), people=people, by=job.by, progress=job.progress)


@jobs.handler(preparing.DISCARD)
def discard_round(job: jobs.RunningJob) -> dict[str, Any]:
    """Remove a round that never opened. A second attempt may find that it is gone."""
    round = Round.objects.select_related("project").filter(pk=job.params["round"]).first()
    return preparing.remove(round=round, by=job.by, progress=job.progress) if round else {}


@jobs.handler(measuring.KIND)
def measure_agreement(job: jobs.RunningJob) -> dict[str, Any]:
    """Measure the agreement of a large round, and keep it."""
    return measuring.measure(round=_round(job), progress=job.paced())


@jobs.handler("check_sheet")
def check_sheet(job: jobs.RunningJob) -> dict[str, Any]:
    """Read a sheet and say what importing it would come to; changes nothing."""
    return sheets.check_sheet(round=_round(job), path=_upload(job), name=job.params["name"], progress=job.paced())


@jobs.handler("import_sheet", ended=sheet_import.ended)
def import_sheet(job: jobs.RunningJob) -> dict[str, Any]:
    """Store a sheet's answers. A second attempt after the worker died goes on where the first was."""
    if job.by is None:
        raise Conflict("Whoever asked for this import no longer has an account.")
    return sheet_import.import_sheet(round=_round(job), path=_upload(job), name=job.params["name"], job=job)


@jobs.handler("check_elsewhere")
def check_elsewhere(job: jobs.RunningJob) -> dict[str, Any]:
    """Read ratings that were made elsewhere and say what importing them would come to; changes nothing."""
    kind = kinds.get(job.params["kind"])
    ratings = elsewhere.read_ratings(
        project=_project(job), kind=kind, path=_upload(job), name=job.params["name"], progress=job.paced()
    )  # fmt: skip
    return elsewhere.report(ratings)


@jobs.handler("import_elsewhere", ended=uploads.remove_when_done)
def import_elsewhere(job: jobs.RunningJob) -> dict[str, Any]:
    """Store ratings that were made elsewhere. A second attempt finds the import done, or nothing of it."""
    if job.by is None:
        raise Conflict("Whoever asked for this import no longer has an account.")
    chosen = {key: job.params[key] for key in ("kind", "name", "round_name", "purpose")}
    return elsewhere.import_ratings(project=_project(job), path=_upload(job), by=job.by, job=job, **chosen)


def _project(job: jobs.RunningJob) -> Project:
    if job.project is None:
        raise Conflict("This work needs a project.")
    return job.project


def _round(job: jobs.RunningJob) -> Round:
    return Round.objects.select_related("project").get(pk=job.params["round"])


def _upload(job: jobs.RunningJob) -> Path:
    path = uploads.path_of(job.params["upload"])
    if not path.exists():
        raise Conflict("This upload is no longer kept; upload the file again.")
    return path
