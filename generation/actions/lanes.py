"""The lanes of a run: so many chunks of it are queued or running while items wait.

The run's row is the lock: whoever hands out items, adds chunks or ends a run updates it first, in the same transaction.
"""

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from projects.background import batches, jobs
from projects.models import Job, JobStatus
from projects.notifications.telling import tell_of_work
from sql import planner

from ..models import ItemStatus, Run, RunItem, RunStatus
from ..runs.queues import queue_of
from .reckoning import ask_for_reckoning

KIND = "run_chunk"
ACTIVE = (JobStatus.QUEUED, JobStatus.RUNNING)
#: Items of a chunk of a run whose pace is not known yet.
FIRST_ITEMS = 8
#: An item whose worker died so often while it was done by itself is to blame.
DEADLY = 2


def held(run: Run) -> bool:
    """Lock the run's row for the rest of the transaction; False where it is not under way."""
    return bool(Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).update(lanes=F("lanes")))


def free_items(run: Run) -> QuerySet[RunItem]:
    """The waiting items that no chunk is at: those that a dead one held are among them. To be ordered, or counted no
    further than matters: going through all of them for each chunk is the square of a run."""
    left = Q(job=None) | ~Q(job__in=active_chunks(run).order_by().values("pk"))
    return RunItem.objects.filter(left, run=run, status=ItemStatus.WAITING).order_by()


def active_chunks(*runs: Run) -> QuerySet[Job]:
    """The queued and running chunks of runs."""
    return Job.objects.filter(kind=KIND, status__in=ACTIVE, params__run__in=[run.pk for run in runs])


def top_up(
    run: Run, *, ending: Job | None = None, pace: float | None = None, tries: int = 0,
    not_before: datetime | None = None, note: str = "",
) -> None:  # fmt: skip
    """Queue chunks until every lane has one or no item is left for one; end the run where nothing waits at all, and
    every unit has its item.

    ``ending``: the chunk that calls, whose lane is free. ``pace``: items a second that it managed, for the size of the
    next. Idempotent; harmless from a worker that has lost its job.
    """
    with batches.batch():
        if not held(run):
            return
        chunks = active_chunks(run)
        if ending:
            chunks = chunks.exclude(pk=ending.pk)
        lanes = run.lanes - chunks.count()
        unlaid = Run.objects.filter(pk=run.pk, laid_to__isnull=False).exists()
        if not unlaid and lanes > 0:
            lanes = min(lanes, -(-free_items(run)[: lanes * FIRST_ITEMS].count() // FIRST_ITEMS))
        for _ in range(lanes):
            jobs.enqueue(
                project=run.version.system.project, kind=KIND, by=run.started_by, queue=queue_of(run.version.config),
                params={"run": run.pk, "pace": pace, "tries": tries}, not_before=not_before, note=note,
            )  # fmt: skip
        if not unlaid and not RunItem.objects.filter(run=run, status=ItemStatus.WAITING).exists():
            Run.objects.filter(pk=run.pk).update(status=RunStatus.DONE, finished_at=timezone.now())
            _tell(run, failed=False)
            ask_for_reckoning(run)
            planner.look_at_grown(*planner.hanging_on(RunItem))
            # Chunks that found nothing left to take.
            transaction.on_commit(lambda: cancel_chunks(run, JobStatus.QUEUED))


def stop(run: Run, reason: str) -> bool:
    """End a run before its time: by a person's wish, or by what all its items share. False where it had ended."""
    with batches.batch():
        under_way = Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING)
        if not under_way.update(status=RunStatus.STOPPED, error=reason, finished_at=timezone.now()):
            return False
        if reason:
            _tell(run, failed=True)
        ask_for_reckoning(run)
        # Afterwards: a chunk that ends has its own row before the run's, and here it would be the other way round. One
        # that is missed sees between two batches that the run has ended.
        transaction.on_commit(lambda: cancel_chunks(run))
    return True


def _tell(run: Run, *, failed: bool) -> None:
    """Tell whoever started it. The system is not named: it may be sealed from that person by now."""
    project = run.version.system.project
    tell_of_work(run.started_by, project=project, subject="Run", path=f"systems/runs/{run.pk}", failed=failed)


def cancel_chunks(run: Run, *statuses: str) -> None:
    for chunk in active_chunks(run).filter(status__in=statuses or ACTIVE).order_by("pk"):
        jobs.cancel(chunk)


def keep_chunks(run: Run) -> None:
    """A stopped run is about to be resumed: chunks that were asked to stop, and have not yet, may go on.

    Before the run's row is locked, for the same reason. While it is stopped, none of them does another batch.
    """
    if not Run.objects.filter(pk=run.pk, status=RunStatus.RUNNING).exists():
        active_chunks(run).filter(cancel_requested=True).update(cancel_requested=False)


def chunk_ended(chunk: Job) -> None:
    """A chunk was cancelled or given up: its run ends too, but for items that are to blame for it, and unless it was
    resumed while the chunk came to its end. One that was done has seen to its run itself."""
    if chunk.status == JobStatus.DONE:
        return
    run = Run.objects.select_related("version__system__project", "started_by").get(pk=chunk.params["run"])
    if chunk.status == JobStatus.CANCELLED:
        if chunk.cancel_requested:
            stop(run, "")
        else:
            top_up(run)
        return
    deadly = RunItem.objects.filter(run=run, job=chunk, status=ItemStatus.WAITING, attempts__gte=DEADLY)
    reason = f"It was begun {DEADLY} times by itself, and each time its worker died or broke off."
    if deadly.update(status=ItemStatus.FAILED, error=reason, finished_at=timezone.now()):
        top_up(run)
    else:
        stop(run, f"A part of it was given up: {chunk.error}")
