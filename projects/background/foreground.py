"""A job done by the command that asked for it, beside whatever workers there are, while a person may watch."""

import os
import socket
import sys
import threading

from django.db import connection
from django.utils import timezone
from tqdm import tqdm

from ..models import Job, JobStatus
from . import jobs

#: Seconds between looks at a job in other hands, and between moves of the progress bar.
LOOK = 0.5
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)


def do(job: Job, *, unit: str) -> Job:
    """Do a job here, or wait for a worker that was faster; the job as it ended. Ctrl-C cancels it."""
    ended = threading.Event()
    with tqdm(unit=f" {unit}", disable=None, leave=False, file=sys.stderr) as bar:
        watcher = threading.Thread(target=_watch, args=(job, bar, ended), daemon=True)
        watcher.start()
        try:
            while Job.objects.filter(pk=job.pk, status__in=UNFINISHED).exists():
                if not jobs.run_job(job.pk):
                    ended.wait(LOOK)
        except KeyboardInterrupt:
            _break_off(job)
            raise
        finally:
            ended.set()
            watcher.join(timeout=5)
    job.refresh_from_db()
    return job


def _break_off(job: Job) -> None:
    """End it as cancelled now: nobody may be there to see that the lease lapses."""
    jobs.cancel(job)
    here = Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING, worker=f"{socket.gethostname()}:{os.getpid()}")
    if here.update(leased_until=timezone.now()):
        jobs.run_job(job.pk)


def _watch(job: Job, bar: "tqdm[None]", ended: threading.Event) -> None:
    while not bar.disable and not ended.wait(LOOK):
        try:
            done, note = Job.objects.values_list("done", "note").get(pk=job.pk)
            bar.set_description(note)
            bar.update(done - bar.n)
        finally:
            connection.close()
