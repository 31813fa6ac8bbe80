"""Background work that survives everything: the job row is the queue, the lease and the record.

`enqueue` writes a row (and, where there is Redis, sends a wake-up once the row is committed); `run_job` is what every
worker calls; `waiting.claim_next` is how a worker finds work; `resend_lost` is the sweeper.
"""

import logging
import mmap
import os
import socket
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User
from api import limits
from api.logs import saying
from api.problems import Problem

from ..models import Job, JobProblem, JobStatus, Project
from ..notifications.telling import tell_of_work
from . import batches, memory
from .waiting import LONG, NEEDS_TORCH, SHORT, claimable, family, past, turn_of
from .waiting import claim_next as claim_next

logger = logging.getLogger(__name__)
LEASE = timedelta(seconds=45)
HEARTBEAT_SECONDS = 10.0
#: A wake-up that was sent and not answered for so long is sent again.
RESEND_AFTER = timedelta(seconds=60)
BACK_OFF = timedelta(seconds=5)

Handler = Callable[["RunningJob"], dict[str, Any] | None]
#: Called in the transaction in which a job ends: done, failed or cancelled.
Ended = Callable[[Job], None]
#: Whether this worker was asked to end. Memory that is shared with the children of a Celery pool, which are forked: the
#: signal reaches their parent alone.
_leaving = mmap.mmap(-1, 1)
_handlers: dict[str, Handler] = {}
_ended: dict[str, Ended] = {}
_short: set[str] = set()
#: By kind, of what ends people are told: what sort of work it is, and the page below the project's that shows it.
_told: dict[str, tuple[str, str]] = {}


class LostLease(Exception):
    """Another worker has taken the job over; whatever this one still does must not be written."""


class Unfit(Exception):
    """This process can do nothing more, and another can (a GPU whose context is lost). The job is given back, and
    whoever runs jobs here ends, to be started anew."""


class Cancelled(Exception):
    """Somebody asked the job to stop, and it did."""


def handler(
    kind: str, ended: Ended | None = None, *, short: bool = False, told: tuple[str, str] | None = None
) -> Callable[[Handler], Handler]:
    """Register what does jobs of a kind. Handlers live in ``tasks.py`` and call one action.

    ``short``: soon done, and others wait for what comes of it (see `waiting.turn_of`).
    ``ended`` is told, in the same transaction, of every job that ends: of one that is given up or cancelled nobody
    calls the handler, and what waits for it must not wait for ever.
    ``told``: what sort of work it is and the page that shows it, for whoever asked for it; the page may name the job's
    parameters ("runs/{run}").
    """

    def register(function: Handler) -> Handler:
        if kind in _handlers:
            raise ValueError(f"Jobs of kind {kind!r} have two handlers.")
        _handlers[kind] = function
        if ended:
            _ended[kind] = ended
        if short:
            _short.add(kind)
        if told:
            _told[kind] = told
        return function

    return register


def enqueue(
    *,
    project: Project | None,
    kind: str,
    params: Mapping[str, Any],
    by: User | None,
    queue: str = "default",
    not_before: datetime | None = None,
    note: str = "",
    asked: bool = False,
) -> Job:
    """Write a job, in the caller's transaction, and wake a worker when that is committed. What follows from an act is
    never refused; what somebody asks for (``asked``) goes by `ask`."""
    if kind not in _handlers:
        raise ValueError(f"Nothing handles jobs of kind {kind!r}.")
    weight = SHORT if kind in _short else LONG
    turn = turn_of(project=project, by=by, queue=queue, weight=weight)
    job = Job.objects.create(
        project=project, kind=kind, params=dict(params), created_by=by, queue=queue, not_before=not_before,
        note=note[:200], asked=asked, turn=turn, weight=weight,
    )  # fmt: skip
    transaction.on_commit(lambda: wake(job))
    return job


def ask(
    *, project: Project, kind: str, params: Mapping[str, Any], by: User | None, queue: str = "default"
) -> tuple[Job, bool]:
    """Write a job that a person can ask for by a button, in a transaction of its own or the caller's.

    The same, queued or running, is that job: (job, whether it is new). `TooMuch` where so many are unfinished that they
    would go on for long (`api.limits`).
    """
    with transaction.atomic():
        unfinished = Job.objects.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
        for job in unfinished.filter(project=project, kind=kind, cancel_requested=False):
            if job.params == dict(params):
                return job, False
        if by:
            limits.check("LIMIT_JOBS_OF_A_PERSON", unfinished.filter(created_by=by, asked=True))
        limits.check("LIMIT_JOBS_OF_A_PROJECT", unfinished.filter(project=project, asked=True))
        return enqueue(project=project, kind=kind, params=params, by=by, queue=queue, asked=True), True


def wake(job: Job) -> None:
    """Send a wake-up through Celery, where there is one, for when the job is due. Losing it costs time only: the row is
    the truth."""
    if not settings.REDIS_URL:
        return
    try:
        # By name: the tasks lie above the jobs.
        current_app.send_task(
            "projects.run_job", args=[job.pk], queue=family(job.queue), retry=False, eta=job.not_before
        )
    except Exception:
        logger.warning("The broker did not take the wake-up of job %s; the sweeper will send it again.", job.pk)
        return
    Job.objects.filter(pk=job.pk).update(sent_at=timezone.now())


class RunningJob:
    """A job in the hands of the worker that holds its lease; every write is fenced."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.params: dict[str, Any] = job.params
        self.project = job.project
        self.by = job.created_by
        self._stop = threading.Event()
        self._said: dict[str, Any] = {}
        self._cancelled = False

    def _mine(self) -> Any:
        return Job.objects.filter(pk=self.job.pk, fence=self.job.fence, status=JobStatus.RUNNING)

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Say how far it is. Raises `Cancelled` when asked to stop, `LostLease` when another worker has the job."""
        now = timezone.now()
        fields: dict[str, Any] = {"done": done, "heartbeat_at": now, "leased_until": now + LEASE}
        if total is not None:
            fields["total"] = total
        if note:
            fields["note"] = note[:200]
        self._write(**fields)
        self.go_on()

    def _write(self, **fields: Any) -> None:
        with batches.harmless():
            if not self._mine().update(**fields):
                raise LostLease

    def check(self) -> None:
        """Raises `LostLease` where another worker has the job by now."""
        if not self._mine().exists():
            raise LostLease

    def go_on(self) -> None:
        """Raises `Cancelled` when asked to stop."""
        if Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists():
            raise Cancelled

    def hold(self, done: int | None = None, total: int | None = None) -> None:
        """In the transaction that stores what was done: the job is this worker's until that has ended, or `LostLease`.
        Says how far it is on the way. What `batches.batch` does at its end."""
        if not transaction.get_connection().in_atomic_block:
            raise transaction.TransactionManagementError("A job is held for the length of a transaction.")
        now = timezone.now()
        far = {} if done is None else {"done": done, "total": total}
        self._write(heartbeat_at=now, leased_until=now + LEASE, **far)
        batches.proved()

    def paced(self) -> Callable[[int, int | None, str], None]:
        """`progress` for work that tells of every item: written twice a second at most, and at the end."""
        last = 0.0

        def progress(done: int, total: int | None, note: str) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= 0.5 or done == total:
                last = now
                self.progress(done, total, note)

        return progress

    def say(self, done: int, total: int | None = None, note: str = "") -> None:
        """As `progress`, for work inside a transaction that must not write (a snapshot): the thread that renews the
        lease writes it down within a second."""
        self._said = {"done": done, "note": note[:200]} | ({} if total is None else {"total": total})
        if self._cancelled:
            raise Cancelled

    def pause(self, seconds: float) -> None:
        """Wait for something outside. Raises `Cancelled` when asked to stop meanwhile."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 1.0))
            self.go_on()

    def problem(self, item: str, message: str) -> None:
        """Note that one item failed; the rest goes on. Raises `LostLease` as `progress` does."""
        with batches.harmless(), transaction.atomic():
            self.hold()
            JobProblem.objects.create(job=self.job, item=item[:200], message=message)

    def beat(self) -> None:
        """Renew the lease from a thread while the handler is busy, and write down what it says."""
        renewed = time.monotonic()
        while not self._stop.wait(1.0):
            said, self._said = self._said, {}
            if not said and time.monotonic() - renewed < HEARTBEAT_SECONDS:
                continue
            try:
                now = timezone.now()
                if not self._mine().update(heartbeat_at=now, leased_until=now + LEASE, **said):
                    return
                self._cancelled = Job.objects.filter(pk=self.job.pk, cancel_requested=True).exists()
                renewed = time.monotonic()
            except Exception:
                logger.warning("Job %s could not renew its lease; trying again.", self.job.pk, exc_info=True)
            finally:
                connection.close()

    def finish(self, status: JobStatus, **fields: Any) -> bool:
        # Never before its start, whatever the clock does: durations are shown and summed.
        now = max(timezone.now(), self.job.started_at or timezone.now())
        finished = None if status == JobStatus.QUEUED else now
        if "error" in fields:
            # What a library says may hold what no data base takes; a worker must not end for that.
            fields["error"] = fields["error"].encode(errors="replace").decode().replace("\0", "\ufffd")
        with transaction.atomic():
            if not self._mine().update(status=status, finished_at=finished, leased_until=None, **fields):
                return False
            if status != JobStatus.QUEUED:
                _tell(self.job.pk)
        return True

    def __enter__(self) -> "RunningJob":
        self._thread = threading.Thread(target=self.beat, daemon=True, name=f"lease-of-job-{self.job.pk}")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(timeout=5)


def _claim(pk: int, now: datetime) -> Job | None:
    """Take one job by compare-and-set; None when another worker was faster or it is not due."""
    job = Job.objects.filter(claimable(now), pk=pk).first()
    if job is None:
        return None
    taken = Job.objects.filter(claimable(now), pk=pk, fence=job.fence).update(
        status=JobStatus.RUNNING,
        fence=F("fence") + 1,
        attempts=F("attempts") + 1,
        worker=f"{socket.gethostname()}:{os.getpid()}",
        leased_until=now + LEASE,
        heartbeat_at=now,
        started_at=job.started_at or now,
    )
    return Job.objects.select_related("project", "created_by").get(pk=pk) if taken else None


def run_job(pk: int) -> bool:
    """Take the job and do it; False when there was nothing to take. What every worker calls."""
    job = _claim(pk, timezone.now())
    if job is None:
        return False
    running = RunningJob(job)
    with saying(job=job.pk, kind=job.kind):
        if job.attempts > job.max_attempts:
            running.finish(JobStatus.FAILED, error=f"Its worker died {job.max_attempts} times while doing it.")
            logger.error("job given up", extra={"fields": {"attempts": job.attempts - 1}})
            return True
        began = time.monotonic()
        logger.info("job begins", extra={"fields": {"attempt": job.attempts}})
        with running:
            how = _do(running)
        logger.info("job ends", extra={"fields": {"how": how, "seconds": round(time.monotonic() - began, 2)}})
    return True


def leave() -> None:
    """This worker was asked to end: what can be handed back in the middle should be. Safe in a signal handler."""
    _leaving[0] = 1


def is_leaving() -> bool:
    return bool(_leaving[0])


def woken(pk: int) -> bool:
    """What a wake-up does: the best job for this worker in the family of the one it names; the next best where another
    worker was faster. Every job sends a wake-up, so that one that is passed over is done by another's."""
    queue = Job.objects.filter(pk=pk).values_list("queue", flat=True).first()
    while queue and (best := claim_next([family(queue)])) is not None:
        if run_job(best):
            return True
    return False


def _do(running: RunningJob) -> str:
    """Do it and write down how it ended; the same in a word, for the log."""
    job = running.job
    try:
        if job.cancel_requested:
            raise Cancelled
        with memory.at_most(_may_take(job)), batches.held_by(running):
            result = _handlers[job.kind](running)
    except LostLease:
        logger.warning("Job %s was taken over by another worker.", job.pk)
        return "taken over"
    except Cancelled:
        running.finish(JobStatus.CANCELLED)
        return "cancelled"
    except Problem as problem:
        # A refusal will not change by repeating it.
        running.finish(JobStatus.FAILED, error=problem.detail, result=problem.as_json())
        return "refused"
    except MemoryError:
        # It would take as much the next time, and others wait.
        logger.exception("Job %s (%s) needed too much memory.", job.pk, job.kind)
        running.finish(JobStatus.FAILED, error=f"It needed more than the {_may_take(job)} MiB that a job may take.")
        return "too large"
    except Exception as error:
        logger.exception("Job %s (%s) failed.", job.pk, job.kind)
        _again(running, error)
        if isinstance(error, Unfit):
            raise
        return "failed"
    running.finish(JobStatus.DONE, result=result, error="")
    return "done"


def _may_take(job: Job) -> int:
    """MiB of memory, 0 for no limit: models are as large as they are, and their workers are their own."""
    return 0 if family(job.queue) == NEEDS_TORCH else settings.JOB_MEMORY_MB


def _again(running: RunningJob, error: Exception) -> None:
    """Queue a job whose attempt failed, after a pause that grows, or give it up."""
    job = running.job
    if job.attempts < job.max_attempts:
        later = timezone.now() + BACK_OFF * 2**job.attempts
        if running.finish(JobStatus.QUEUED, not_before=later, error=f"Attempt {job.attempts}: {error}"):
            job.not_before = later
            wake(job)
    else:
        running.finish(JobStatus.FAILED, error="".join(traceback.format_exception_only(error)).strip())


def _tell(pk: int) -> None:
    job = Job.objects.select_related("project", "created_by").get(pk=pk)
    if ended := _ended.get(job.kind):
        ended(job)
    if job.kind in _told and job.status != JobStatus.CANCELLED:
        subject, path = _told[job.kind]
        failed = job.status == JobStatus.FAILED
        page = path.format_map(defaultdict(str, job.params))
        tell_of_work(
            job.created_by,
            project=job.project,
            subject=subject,
            path=page,
            failed=failed,
            round=job.params.get("round"),
        )


def cancel(job: Job) -> None:
    """Ask a job to stop; a queued one stops at once."""
    with transaction.atomic():
        if Job.objects.filter(pk=job.pk, status=JobStatus.QUEUED).update(
            status=JobStatus.CANCELLED, cancel_requested=True, finished_at=timezone.now()
        ):
            _tell(job.pk)
            return
    Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING).update(cancel_requested=True)


def resend_lost() -> int:
    """The sweeper: wake workers again for jobs whose wake-up was lost or whose worker died. How many."""
    now = timezone.now()
    # A wake-up that was sent before the job could be taken (put off, or in the hands of a worker that died since) may
    # have come to nothing.
    early = Q(sent_at__lt=F("not_before")) | Q(status=JobStatus.RUNNING, sent_at__lt=F("leased_until"))
    lost = Job.objects.filter(claimable(now)).filter(Q(sent_at=None) | early | past("sent_at", now - RESEND_AFTER))
    count = 0
    for job in lost.order_by("pk")[:200]:
        wake(job)
        count += 1
    return count
