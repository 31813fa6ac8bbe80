"""Thin wrappers: what workers run by id."""

import os
import signal
from typing import Any

from celery import shared_task

from accounts import sweeping
from audit.actions import seal_if_due

from .actions import digests, gold, measuring, preparing, rolling
from .background import jobs
from .models import Round
from .notifications import listing
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
    return sweeping.sweep() | {"notifications": listing.sweep()}


@shared_task(name="projects.seal")  # type: ignore[untyped-decorator]
def seal() -> bool:
    """Asked every minute: rounds that an earlier version finished are settled, and the record is sealed when due."""
    pointers.settle_old()
    return seal_if_due()


@shared_task(name="projects.mail")  # type: ignore[untyped-decorator]
def mail() -> int:
    """Asked every minute; sends nothing where no mail server is named."""
    return digests.send_digests()


@jobs.handler("finish_round", short=True, told=("Closing", "rounds/{round}"))
def finish_round(job: jobs.RunningJob) -> dict[str, Any]:
    round = _round(job)
    found = gold.finish_round(round=round, by=job.by, progress=job.progress)
    measuring.after_closing(round=round)
    return found


@jobs.handler(preparing.OPEN, told=("Opening", "rounds/{round}"))
def open_round(job: jobs.RunningJob) -> dict[str, Any]:
    """Lay out a large round in short transactions, and open it."""
    people = job.params["people"]
    return preparing.lay_out_and_open(round=_round(job), people=people, by=job.by, progress=job.progress)


@jobs.handler(preparing.DISCARD)
def discard_round(job: jobs.RunningJob) -> dict[str, Any]:
    """Remove a round that never opened. A second attempt may find that it is gone."""
    round = Round.objects.select_related("project").filter(pk=job.params["round"]).first()
    return preparing.remove(round=round, by=job.by, progress=job.progress) if round else {}


@jobs.handler(rolling.KIND, short=True)
def take_in_units(job: jobs.RunningJob) -> dict[str, Any]:
    """Take units that fit by now into an open rolling round."""
    return rolling.take_in(round=_round(job), by=job.by, progress=job.paced())


@jobs.handler(measuring.KIND, told=("Agreement", "rounds/{round}/agreement"))
def measure_agreement(job: jobs.RunningJob) -> dict[str, Any]:
    """Measure the agreement of a large round, and keep it."""
    return measuring.measure(round=_round(job), progress=job.paced())


def _round(job: jobs.RunningJob) -> Round:
    return Round.objects.select_related("project").get(pk=job.params["round"])
