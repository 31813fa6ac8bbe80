"""Which jobs can be claimed, and in which order (docs/decisions/0004-background-jobs.md)."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, F, Max, Min, Q, QuerySet, Value, When
from django.utils import timezone

from accounts.models import User

from ..models import Job, JobStatus, Project

#: Upper limit of leases and retry delays. A time further ahead was written before the clock was set back, and is
#: ignored.
FAR_AHEAD = timedelta(minutes=10)
#: Family of queues whose jobs need torch.
NEEDS_TORCH = "gpu"
NO_TORCH = f"torch is not installed, but the queue {NEEDS_TORCH} needs it. Install requirements/gpu.txt."
#: A job that waits longer lacks a worker: workers poll the table more often than this.
PATIENCE = timedelta(seconds=10)
#: A worker that has not reported for this long is shown as not responding. Its lease is longer, because a busy database
#: can delay reports, and another worker takes over only then.
SILENT_AFTER = timedelta(seconds=20)
#: Weights: virtual time that a job costs its project. Short jobs follow from an action and end soon.
SHORT, LONG = 1, 8
#: Penalty in virtual time for a job that needs another model than the loaded one.
RELOADING = 20 * LONG
ACTIVE = (JobStatus.QUEUED, JobStatus.RUNNING)
_loaded_queue = ""


def past(field: str, now: datetime) -> Q:
    """Match rows whose time in a field has passed, or is implausibly far ahead (see `FAR_AHEAD`)."""
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": now + FAR_AHEAD})


def stalled(now: datetime) -> Q:
    """Match running jobs whose lease has expired: the worker no longer responds."""
    return Q(status=JobStatus.RUNNING) & past("leased_until", now)


def is_responding(job: Job, now: datetime) -> bool:
    """Return whether the worker of a running job holds its lease and has reported lately."""
    return _is_ahead(job.leased_until, now) and (
        job.heartbeat_at is None or _is_ahead(job.heartbeat_at + SILENT_AFTER, now)
    )


def _is_ahead(time: datetime | None, now: datetime) -> bool:
    return time is not None and now < time <= now + FAR_AHEAD


def claimable(now: datetime) -> Q:
    """Match jobs that are queued and due, or running with an expired lease."""
    due = Q(not_before=None) | past("not_before", now)
    return (Q(status=JobStatus.QUEUED) & due) | stalled(now)


def family(queue: str) -> str:
    """Return the part of a queue name before the dot. One type of worker serves all queues of a family."""
    return queue.split(".")[0]


def of(queues: Sequence[str]) -> Q:
    """Match jobs of these queues. The name of a family matches all its queues."""
    condition = Q(pk__in=())
    for queue in queues:
        condition |= Q(queue=queue) | Q(queue__startswith=f"{queue}.")
    return condition


def start_worker(queue: str) -> str:
    """Return the command that starts a worker for a queue."""
    return f"manage.py work --queue {NEEDS_TORCH}" if family(queue) == NEEDS_TORCH else "manage.py work"


def command_for(job: Job) -> str:
    """Return the command that starts a worker if the job has waited too long for one, else an empty string."""
    lacks_worker = job.status == JobStatus.QUEUED and (job.not_before or job.created_at) <= timezone.now() - PATIENCE
    return start_worker(job.queue) if lacks_worker else ""


def set_loaded_queue(queue: str) -> None:
    """Set the queue whose model this process has loaded. Empty if it has released the model."""
    global _loaded_queue
    _loaded_queue = queue


def virtual_time(*, project: Project | None, by: User | None, queue: str, weight: int) -> int:
    """Return the virtual time of a new job.

    It is the time now being served, or one after the last unfinished job of the same project and weight. A long job
    also comes after the last unfinished long job of the same user, so that many projects give one person no advantage.
    """
    family_is = of([family(queue)])
    running, queued = Q(status=JobStatus.RUNNING), Q(status=JobStatus.QUEUED)
    own = Q(project=project) | Q(created_by=by) if by and weight > SHORT else Q(project=project)
    times = Job.objects.filter(status__in=ACTIVE).aggregate(
        served=Max("virtual_time", filter=family_is & running),
        first=Min("virtual_time", filter=family_is & queued),
        anywhere=Max("virtual_time", filter=running),
        last=Max("virtual_time", filter=family_is & own & Q(weight=weight)),
    )
    now: int = next((times[name] for name in ("served", "first", "anywhere") if times[name] is not None), 0)
    return now if times["last"] is None else max(now, times["last"] + weight)


def in_order(queues: Sequence[str] | None = None, *, but: Sequence[str] = ()) -> QuerySet[Job]:
    """Return the jobs that can be claimed now, in the order in which this process should claim them.

    Jobs are ordered by virtual time, then shorter jobs first. Jobs that need another model than the loaded one get a
    penalty. A process therefore empties a queue before it loads the next model, but loads it eventually.
    """
    jobs = Job.objects.filter(claimable(timezone.now()), status__in=ACTIVE).exclude(of(but))
    if queues:
        jobs = jobs.filter(of(queues))
    here = Q(queue=_loaded_queue) | ~Q(queue__contains=".")
    return jobs.order_by(F("virtual_time") + Case(When(here, then=Value(0)), default=Value(RELOADING)), "weight", "pk")


def claim_next(queues: Sequence[str] | None = None, *, but: Sequence[str] = ()) -> int | None:
    """Return the id of the job to claim next, or None."""
    return in_order(queues, but=but).values_list("pk", flat=True).first()


def fresh_job(job: Job) -> Job:
    """Return the job reloaded, with its problems."""
    return Job.objects.select_related("created_by").prefetch_related("problems").get(pk=job.pk)


def job_summary(project: Project, kind: str) -> dict[str, Any]:
    """Return ``last_result`` of the last successful job of a kind, and ``job`` as `pending_job` returns it."""
    done = _jobs_of_kind(project, kind).filter(status=JobStatus.DONE).first()
    return {"last_result": done.result if done else None, "job": pending_job(project, kind)}


def pending_job(project: Project, kind: str) -> Job | None:
    """Return the newest job of a kind if it is unfinished or was not successful, else None."""
    last = _jobs_of_kind(project, kind).first()
    return fresh_job(last) if last and last.status != JobStatus.DONE else None


def _jobs_of_kind(project: Project, kind: str) -> QuerySet[Job]:
    return Job.objects.filter(project=project, kind=kind).order_by("-pk")
