"""Execution of jobs by a worker that holds a lease."""

import mmap
import os
import socket
import threading
import time
import traceback
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from api.logs import saying
from api.problems import Problem
from sql.text import storable

from ..models import Job, JobProblem, JobStatus
from . import batches, supervision
from .arriving import ImportArriving
from .jobs import handlers, logger, notify_end, wake
from .pace import Pace
from .queries import NEEDS_TORCH, claimable, family
from .queries import claim_next as claim_next

LEASE = timedelta(seconds=45)


HEARTBEAT_SECONDS = 5.0


BACK_OFF = timedelta(seconds=5)


HUNG = "The worker process stopped responding and was killed."


#: Whether this worker was asked to exit. The memory is shared with the forked children of a Celery pool, because only
#: their parent gets the signal.
_leaving = mmap.mmap(-1, 1)


class LostLease(Exception):
    """Another worker has taken the job over. This worker must not write any more."""


class WorkerUnhealthy(Exception):
    """This process can do no more work, but another one could: for example, the GPU context is lost.

    The job is requeued, and the worker process exits so that it is restarted.
    """


class Cancelled(Exception):
    """The job stopped because somebody cancelled it."""


class RunningJob:
    """A job and the lease of the worker that runs it. Every write is fenced."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.params: dict[str, Any] = job.params
        self.project = job.project
        self.by = job.created_by
        self._stop = threading.Event()
        self._said: dict[str, Any] = {}
        self._cancelled = False
        self._pace = Pace(job.done)

    def _mine(self) -> Any:
        return Job.objects.filter(pk=self.job.pk, fence=self.job.fence, status=JobStatus.RUNNING)

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Store the progress and renew the lease.

        Raise `Cancelled` if the job was cancelled, and `LostLease` if another worker has the job.
        """
        now = timezone.now()
        fields: dict[str, Any] = {"heartbeat_at": now, "leased_until": now + LEASE} | self._done(done)
        if total is not None:
            fields["total"] = total
        if note:
            fields["note"] = note[:200]
        self._write(**fields)
        self.check_cancelled()

    def _done(self, done: int) -> dict[str, Any]:
        """Return the fields of a report of the number of items done."""
        self._pace.add(done)
        return {"done": done, "rate": self._pace.per_second()}

    def _write(self, **fields: Any) -> None:
        with batches.idempotent():
            if not self._mine().update(**fields):
                raise LostLease

    def check(self) -> None:
        """Raise `LostLease` if another worker has the job."""
        if not self._mine().exists():
            raise LostLease

    def check_cancelled(self) -> None:
        """Raise `Cancelled` if the job was cancelled."""
        if Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists():
            raise Cancelled

    def hold(self, done: int | None = None, total: int | None = None) -> None:
        """Renew the lease and store the progress, in the transaction that stores the work.

        The update locks the job until the transaction ends. `batches.batch` calls this at its end. Raise `LostLease` if
        another worker has the job.
        """
        if not transaction.get_connection().in_atomic_block:
            raise transaction.TransactionManagementError("A lease can only be renewed inside a transaction.")
        now = timezone.now()
        far = {} if done is None else self._done(done) | {"total": total}
        self._write(heartbeat_at=now, leased_until=now + LEASE, **far)
        batches.mark_fenced()

    def store(self, state: dict[str, Any]) -> None:
        """Store an intermediate result, at the end of a batch. A second attempt finds it as ``job.result``."""
        self._write(result=state)

    def paced(self) -> Callable[[int, int | None, str], None]:
        """Return a variant of `progress` for work that reports every item.

        It writes at most twice a second, and at the end.
        """
        last = 0.0

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= 0.5 or done == total:
                last = now
                self.progress(done, total, note)

        return progress

    def say(self, done: int, total: int | None = None, note: str = "") -> None:
        """Report progress from inside a transaction that must not write (a snapshot).

        The thread that renews the lease stores it within a second. Raise `Cancelled` if the job was cancelled.
        """
        self._said = self._done(done) | {"note": note[:200]} | ({} if total is None else {"total": total})
        if self._cancelled:
            raise Cancelled

    def pause(self, seconds: float) -> None:
        """Sleep. Raise `Cancelled` if the job is cancelled meanwhile."""
        until = time.monotonic() + seconds
        while (remaining := until - time.monotonic()) > 0:
            time.sleep(min(remaining, 1.0))
            self.check_cancelled()

    def problem(self, item: str, message: str) -> None:
        """Store an error of one item; the job continues. Raise `LostLease` as `progress` does."""
        with batches.idempotent(), transaction.atomic():
            self.hold()
            JobProblem.objects.create(job=self.job, item=item[:200], message=message)

    def beat(self) -> None:
        """Renew the lease, and store the progress of `say`, from a thread while the handler runs."""
        renewed = time.monotonic()
        while not self._stop.wait(1.0):
            reported, self._said = self._said, {}
            if not reported and time.monotonic() - renewed < HEARTBEAT_SECONDS:
                continue
            try:
                # Read this first, because it needs no lock: the supervisor gets the state from here.
                self._cancelled = Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists()
                now = timezone.now()
                reported |= {"rate": self._pace.per_second()}
                if not self._mine().update(heartbeat_at=now, leased_until=now + LEASE, **reported):
                    return
                renewed = time.monotonic()
            except Exception:
                logger.warning("Job %s could not renew its lease. Trying again.", self.job.pk, exc_info=True)
            finally:
                connection.close()

    def is_cancelled(self) -> bool:
        """Return whether this process knows that the job was cancelled. No query."""
        return self._cancelled

    def finish(self, status: JobStatus, **fields: Any) -> bool:
        # Not before the start, even if the clock was set back, because durations are shown and summed.
        now = max(timezone.now(), self.job.started_at or timezone.now())
        finished = None if status == JobStatus.QUEUED else now
        if "error" in fields:
            # Error texts of libraries may hold characters that databases reject, which would end the worker.
            fields["error"] = storable(fields["error"])
        with transaction.atomic():
            if not self._mine().update(status=status, finished_at=finished, leased_until=None, **fields):
                return False
            if status != JobStatus.QUEUED:
                notify_end(self.job.pk)
        return True

    def __enter__(self) -> "RunningJob":
        self._thread = threading.Thread(target=self.beat, daemon=True, name=f"lease-of-job-{self.job.pk}")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=5)


def _claim(pk: int, now: datetime) -> Job | None:
    """Claim one job by compare-and-set. Return None if another worker was faster or the job is not due."""
    job = Job.objects.filter(claimable(now), pk=pk).first()
    if job is None:
        return None
    claimed = Job.objects.filter(claimable(now), pk=pk, fence=job.fence).update(
        status=JobStatus.RUNNING,
        fence=F("fence") + 1,
        attempts=F("attempts") + 1,
        worker=_worker(os.getpid()),
        leased_until=now + LEASE,
        heartbeat_at=now,
        started_at=job.started_at or now,
        rate=None,
    )
    return Job.objects.select_related("project", "created_by").get(pk=pk) if claimed else None


def _worker(pid: int) -> str:
    """Return the name of a worker process on this machine."""
    return f"{socket.gethostname()}:{pid}"


def run_job(pk: int) -> bool:
    """Claim the job and run it. Return False if it could not be claimed."""
    job = _claim(pk, timezone.now())
    if job is None:
        return False
    running = RunningJob(job)
    with saying(job=job.pk, kind=job.kind):
        if job.attempts > job.max_attempts:
            running.finish(JobStatus.FAILED, error=f"The worker died {job.max_attempts} times while running this job.")
            logger.error("job given up", extra={"fields": {"attempts": job.attempts - 1}})
            return True
        began = time.monotonic()
        logger.info("job begins", extra={"fields": {"attempt": job.attempts}})
        with running, supervision.reporting(running.is_cancelled):
            how = _run_handler(running)
        logger.info("job ends", extra={"fields": {"how": how, "seconds": round(time.monotonic() - began, 2)}})
    return True


def request_exit() -> None:
    """Request that this worker exits. Jobs that can be interrupted should be requeued. Safe in a signal handler."""
    _leaving[0] = 1


def is_exit_requested() -> bool:
    return bool(_leaving[0])


def handle_wake_up(pk: int) -> bool:
    """Handle a wake-up: run the best job of the named job's queue family. Return whether a job ran.

    If another worker claims that job first, try the next best. Every job sends its own wake-up, so the named job is not
    lost if another one runs.
    """
    queue = Job.objects.filter(pk=pk).values_list("queue", flat=True).first()
    while queue and (best := claim_next([family(queue)])) is not None:
        if run_job(best):
            return True
    return False


def _run_handler(running: RunningJob) -> str:
    """Run the handler and store the outcome. Return the outcome as a word for the log."""
    job = running.job
    try:
        if job.cancel_requested:
            raise Cancelled
        with supervision.limit_memory(_memory_limit(job)), batches.run_fenced(running):
            result = handlers[job.kind](running)
    except LostLease:
        logger.warning("Job %s was taken over by another worker.", job.pk)
        return "taken over"
    except Cancelled:
        running.finish(JobStatus.CANCELLED)
        return "cancelled"
    except ImportArriving as waiting:
        later = timezone.now() + BACK_OFF
        if running.finish(JobStatus.QUEUED, not_before=later, note=waiting.note, attempts=F("attempts") - 1):
            job.not_before = later
            wake(job)
        return "waiting"
    except Problem as problem:
        # Retrying does not change the result.
        running.finish(JobStatus.FAILED, error=problem.detail, result=problem.as_json())
        return "refused"
    except MemoryError:
        # A retry would need as much memory, and delay other jobs.
        logger.exception("Job %s (%s) needed too much memory.", job.pk, job.kind)
        running.finish(
            JobStatus.FAILED,
            error=f"The job needed more than its memory limit of {_memory_limit(job)} MiB (JOB_MEMORY_MB).",
        )
        return "too large"
    except Exception as error:
        logger.exception("Job %s (%s) failed.", job.pk, job.kind)
        _retry_or_fail(running, str(error), "".join(traceback.format_exception_only(error)).strip())
        if isinstance(error, WorkerUnhealthy):
            raise
        return "failed"
    running.finish(JobStatus.DONE, result=result, error="")
    return "done"


def _memory_limit(job: Job) -> int:
    """Return the memory limit of a job in MiB, or 0 for no limit.

    Jobs of the GPU queues are not limited: models can be large, and these queues have workers of their own.
    """
    return 0 if family(job.queue) == NEEDS_TORCH else settings.JOB_MEMORY_MB


def end_killed(pid: int) -> None:
    """End the attempt of a worker process that its supervisor killed.

    The job is cancelled, retried or given up.
    """
    for job in Job.objects.select_related("project", "created_by").filter(
        status=JobStatus.RUNNING, worker=_worker(pid)
    ):
        running = RunningJob(job)
        if job.cancel_requested:
            running.finish(
                JobStatus.CANCELLED,
                error="The job did not stop after it was cancelled, so its worker process was killed.",
            )
        else:
            _retry_or_fail(running, HUNG, f"{HUNG} This happened in all {job.attempts} attempts.")


def _retry_or_fail(running: RunningJob, error: str, last: str) -> None:
    """Requeue a failed job after an exponential delay, or fail it with the ``last`` error if no attempt is left."""
    job = running.job
    if job.attempts < job.max_attempts:
        later = timezone.now() + BACK_OFF * 2**job.attempts
        if running.finish(JobStatus.QUEUED, not_before=later, error=f"Attempt {job.attempts}: {error}"):
            job.not_before = later
            wake(job)
    else:
        running.finish(JobStatus.FAILED, error=last)
