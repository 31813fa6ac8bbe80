"""Run a job from a command, with a bar and Ctrl-C."""

import os
import socket
import sys
import threading

from django.db import connection
from django.utils import timezone
from tqdm import tqdm

from ..jobs import jobs
from ..jobs.running import run_job
from ..models import Job, JobStatus

#: Polling interval in seconds, for a job of another worker and for the progress bar.
POLL_SECONDS = 0.5
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)


def run_in_foreground(job: Job, *, unit: str) -> Job:
    """Run a job in this process, or wait for the worker that claimed it first. Return the finished job.

    Ctrl-C cancels the job.
    """
    ended = threading.Event()
    with tqdm(unit=f" {unit}", disable=None, leave=False, file=sys.stderr) as bar:
        watcher = threading.Thread(target=_watch, args=(job, bar, ended), daemon=True)
        watcher.start()
        try:
            while Job.objects.filter(pk=job.pk, status__in=UNFINISHED).exists():
                if not run_job(job.pk):
                    ended.wait(POLL_SECONDS)
        except KeyboardInterrupt:
            _cancel_now(job)
            raise
        finally:
            ended.set()
            watcher.join(timeout=5)
    job.refresh_from_db()
    return job


def _cancel_now(job: Job) -> None:
    """End the job as cancelled now: without other workers nobody would notice the expired lease."""
    jobs.cancel(job)
    here = Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, worker=f"{socket.gethostname()}:{os.getpid()}")
    if here.update(leased_until=timezone.now()):
        run_job(job.pk)


def _watch(job: Job, bar: "tqdm[None]", ended: threading.Event) -> None:
    while not bar.disable and not ended.wait(POLL_SECONDS):
        try:
            done, note = Job.objects.values_list("done", "note").get(pk=job.pk)
            bar.set_description(note)
            bar.update(done - bar.n)
        finally:
            connection.close()
