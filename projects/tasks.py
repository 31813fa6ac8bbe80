"""Celery tasks and job handlers: thin wrappers around actions."""

import os
import signal
from typing import Any

from celery import shared_task

from accounts import sessions
from audit.actions import create_checkpoints_if_due
from projects.jobs.batches import KIND
from projects.notifications import queries

from .agreement import actions as agreement_actions
from .answers import integrity
from .drift import actions as drift_actions
from .gold import actions as gold_actions
from .jobs import jobs
from .jobs.running import RunningJob, WorkerUnhealthy, handle_wake_up
from .models import Round
from .notifications import queries as notifications_queries
from .recruitment import actions as recruitment_actions
from .rounds import preparing, rolling, waiting
from .stored_figures import actions as figures_actions
from .stored_figures import queries as figures_queries


@shared_task(name="projects.run_job")  # type: ignore[untyped-decorator]
def run(job_id: int) -> None:
    try:
        handle_wake_up(job_id)
    except WorkerUnhealthy:
        # Celery shuts the worker down cleanly on SIGTERM. Its pool replaces a child process.
        os.kill(os.getpid(), signal.SIGTERM)


@shared_task(name="projects.resend_lost")  # type: ignore[untyped-decorator]
def resend_lost() -> int:
    return jobs.resend_lost()


@shared_task(name="projects.sweep")  # type: ignore[untyped-decorator]
def sweep() -> dict[str, int]:
    deleted_ids = recruitment_actions.sweep()
    return sessions.sweep() | {"notifications": notifications_queries.sweep(), "external ids": deleted_ids}


@shared_task(name="projects.return_late_places")  # type: ignore[untyped-decorator]
def return_late_places() -> int:
    """Return places of recruitment links of which the time limit is over. Runs every minute."""
    return recruitment_actions.return_late_places()


@shared_task(name="projects.check_accuracy")  # type: ignore[untyped-decorator]
def check_accuracy() -> int:
    """Warn people whose accuracy on returning gold items has fallen. Runs every minute."""
    return drift_actions.check_open_rounds()


@shared_task(name="projects.create_checkpoints")  # type: ignore[untyped-decorator]
def create_checkpoints() -> bool:
    """Settle rounds that an earlier version finished, and create an audit checkpoint when one is due.

    Also enqueue missing figures. Runs every minute.
    """
    integrity.store_finished_earlier()
    figures_actions.enqueue_missing()
    return create_checkpoints_if_due()


@shared_task(name="projects.mail")  # type: ignore[untyped-decorator]
def mail() -> int:
    """Send due digests. Runs every minute; does nothing without a mail server."""
    return queries.send_digests()


@jobs.handler("finish_round", short=True, notification=("Closing", "rounds/{round}"))
def finish_round(job: RunningJob) -> dict[str, Any]:
    round = _round(job)
    found = gold_actions.finish_round(round=round, by=job.by, progress=job.progress)
    agreement_actions.start_after_closing(round=round)
    waiting.read_after_closing(pilot=round)
    return found


@jobs.handler(preparing.OPEN, notification=("Opening", "rounds/{round}"))
def open_round(job: RunningJob) -> dict[str, Any]:
    """Create the assignments of a large round in short transactions, and open it."""
    people = job.params["people"]
    return preparing.lay_out_and_open(round=_round(job), people=people, by=job.by, progress=job.progress)


@jobs.handler(preparing.READ_PILOT, short=True, notification=("Pilot of a round", "rounds/{round}"))
def read_pilot(job: RunningJob) -> dict[str, Any]:
    """Read the closed pilot of a waiting round. A repeated attempt may find the round discarded."""
    round = Round.objects.select_related("project").filter(pk=job.params["round"]).first()
    return waiting.read_pilot(round=round, by=job.by, progress=job.paced()) if round else {}


@jobs.handler(preparing.DISCARD, page=("Discarding a round", "rounds/{round}"))
def discard_round(job: RunningJob) -> dict[str, Any]:
    """Remove a round that was never opened. A repeated attempt may find it already removed."""
    round = Round.objects.select_related("project").filter(pk=job.params["round"]).first()
    return preparing.remove(round=round, by=job.by, progress=job.progress) if round else {}


@jobs.handler(KIND, short=True, page=("New units of a round", "rounds/{round}"))
def take_in_units(job: RunningJob) -> dict[str, Any]:
    """Add units that now match to an open rolling round."""
    return rolling.add_matching_units(round=_round(job), by=job.by, progress=job.paced())


@jobs.handler(agreement_actions.KIND, notification=("Agreement", "rounds/{round}/agreement"))
def measure_agreement(job: RunningJob) -> dict[str, Any]:
    """Compute the agreement of a large round and store it."""
    return agreement_actions.compute_and_store(round=_round(job), progress=job.paced())


@jobs.handler(figures_queries.KIND, page=("Figures of the corpus", "corpus"))
def compute_figures(job: RunningJob) -> dict[str, Any]:
    """Compute the stored figures of a project. A second attempt computes the sets that are left."""
    assert job.project
    return figures_actions.compute_and_store(
        project=job.project, since=job.job.started_at, job=job.job.pk, progress=job.paced()
    )


def _round(job: RunningJob) -> Round:
    return Round.objects.select_related("project").get(pk=job.params["round"])
