"""Thin wrappers: what workers run by id."""

from typing import Any

from celery import shared_task

from accounts import sweeping

from . import jobs
from .actions import gold
from .models import Round


@shared_task(name="projects.run_job")  # type: ignore[untyped-decorator]
def run(job_id: int) -> None:
    jobs.run_job(job_id)


@shared_task(name="projects.resend_lost")  # type: ignore[untyped-decorator]
def resend_lost() -> int:
    return jobs.resend_lost()


@shared_task(name="projects.sweep")  # type: ignore[untyped-decorator]
def sweep() -> dict[str, int]:
    return sweeping.sweep()


@jobs.handler("finish_round")
def finish_round(job: jobs.RunningJob) -> dict[str, Any]:
    return gold.finish_round(round=Round.objects.get(pk=job.params["round"]), by=job.by, progress=job.progress)
