"""Concurrency of a run: at most ``concurrency`` chunks of it are queued or running.

The row of the run serves as the lock. Code that assigns items, adds chunks or ends a run first updates this row, in the
same transaction.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from projects.jobs import batches, jobs
from projects.models import Job, JobStatus
from projects.notifications.actions import notify_of_job
from sql import planner

from ..backends.identity import queue_of
from ..models import ItemStatus, Run, RunItem, RunStatus
from ..scoring.actions import request_probe_figures

KIND = "run_chunk"
ACTIVE = (JobStatus.QUEUED, JobStatus.RUNNING)
#: Number of items of a chunk before the pace of the run is known.
FIRST_ITEMS = 8
#: An item fails after this many attempts by itself that ended with the worker's death.
MAX_LONE_ATTEMPTS = 2


def lock_running(run: Run) -> bool:
    """Lock the row of the run for the transaction. Return False if the run is not running."""
    return bool(Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(concurrency=F("concurrency")))


def free_items(run: Run) -> QuerySet[RunItem]:
    """Return the waiting items that no active chunk holds, including those of dead chunks, unordered.

    Callers must limit how many rows they read. Reading all of them for each chunk takes quadratic time over a run.
    """
    is_free = Q(job=None) | ~Q(job__in=active_chunks(run).order_by().values("pk"))
    return RunItem.objects.filter(is_free, run=run, status=ItemStatus.WAITING).order_by()


def active_chunks(*runs: Run) -> QuerySet[Job]:
    """Return the queued and running chunks of runs."""
    return Job.objects.filter(kind=KIND, status__in=ACTIVE, params__run__in=[run.pk for run in runs])


def queue_chunks(
    run: Run,
    *,
    ending: Job | None = None,
    pace: float | None = None,
    tries: int = 0,
    not_before: datetime | None = None,
    note: str = "",
) -> None:
    """Queue chunks up to the run's concurrency, and end the run if no items are waiting and every unit has its item.

    ``ending`` is the calling chunk, which no longer counts. ``pace`` is its items per second, which sizes the next
    chunk. Idempotent, and safe to call from a worker that has lost its job.
    """
    with batches.batch():
        if not lock_running(run):
            return
        chunks = active_chunks(run)
        if ending:
            chunks = chunks.exclude(pk=ending.pk)
        count = run.concurrency - chunks.count()
        has_uncreated = Run.objects.filter(pk=run.pk, item_offset__isnull=False).exists()
        if not has_uncreated and count > 0:
            count = min(count, -(-free_items(run)[: count * FIRST_ITEMS].count() // FIRST_ITEMS))
        for _ in range(count):
            jobs.enqueue(
                project=run.version.system.project,
                kind=KIND,
                by=run.started_by,
                queue=queue_of(run.version.config),
                params={"run": run.pk, "pace": pace, "tries": tries},
                not_before=not_before,
                note=note,
            )
        if not has_uncreated and not RunItem.objects.filter(run=run, status=ItemStatus.WAITING).exists():
            Run.objects.filter(pk=run.pk).update(status=RunStatus.DONE, finished_at=timezone.now())
            _notify(run, failed=False)
            request_probe_figures(run)
            planner.analyze_grown_tables(*planner.dependents_of(RunItem))
            # Cancel chunks that have no items left to claim.
            transaction.on_commit(lambda: cancel_chunks(run, JobStatus.QUEUED))


def stop(run: Run, reason: str) -> bool:
    """Stop a run before its end, for a person or after an error that affects all items.

    Return False if it had ended.
    """
    with batches.batch():
        running = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING)
        if not running.update(status=RunStatus.STOPPED, error=reason, finished_at=timezone.now()):
            return False
        if reason:
            _notify(run, failed=True)
        request_probe_figures(run)
        # Cancel after the commit. An ending chunk locks its own row before the run's row; the reverse order could
        # deadlock. A chunk that is missed detects the end of the run between two batches.
        transaction.on_commit(lambda: cancel_chunks(run))
    return True


def _notify(run: Run, *, failed: bool) -> None:
    """Notify the person who started the run.

    The message omits the system, because it may be embargoed for that person.
    """
    project = run.version.system.project
    notify_of_job(run.started_by, project=project, subject="Run", path=f"systems/runs/{run.pk}", failed=failed)


def cancel_chunks(run: Run, *statuses: str) -> None:
    for chunk in active_chunks(run).filter(status__in=statuses or ACTIVE).order_by("pk"):
        jobs.cancel(chunk)


def withdraw_stop_requests(run: Run) -> None:
    """Withdraw the stop request of chunks that have not stopped yet, before a run is resumed.

    This happens before the run's row is locked, to keep the lock order. A chunk processes no batch while the run is
    stopped.
    """
    if not Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists():
        active_chunks(run).filter(cancel_requested=True).update(cancel_requested=False)


def chunk_ended(chunk: Job) -> None:
    """Update the run after one of its chunks ended.

    A chunk that is done has updated its run itself. After a cancelled or abandoned chunk the run stops, unless it was
    resumed in the meantime. If single items caused the end, only they fail, and the run continues.
    """
    if chunk.status == JobStatus.DONE:
        return
    run = Run.objects.select_related("version__system__project", "started_by").get(pk=chunk.params["run"])
    if chunk.status == JobStatus.CANCELLED:
        if chunk.cancel_requested:
            stop(run, "")
        else:
            queue_chunks(run)
        return
    deadly = RunItem.objects.filter(run=run, job=chunk, status=ItemStatus.WAITING, attempts__gte=MAX_LONE_ATTEMPTS)
    reason = f"It was processed alone {MAX_LONE_ATTEMPTS} times, and each time the worker died or was interrupted."
    if deadly.update(status=ItemStatus.FAILED, error=reason, finished_at=timezone.now()):
        queue_chunks(run)
    else:
        stop(run, f"A chunk of the run failed: {chunk.error}")
