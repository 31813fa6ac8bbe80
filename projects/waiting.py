"""Which jobs can be taken, and which of them a worker should take first."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Case, IntegerField, Q, Value, When
from django.utils import timezone

from .models import Job, JobStatus

#: No lease, and no time to wait before another try, reaches so far ahead: one that does was given before the clock was
#: set back, and holds no longer.
FAR_AHEAD = timedelta(minutes=10)
#: The family of queues whose jobs need torch.
NEEDS_TORCH = "gpu"
NO_TORCH = f"This machine has no torch, which the queue {NEEDS_TORCH} needs: install requirements/gpu.txt."
#: A job that waits longer than this waits for a worker, not for the next look at the table.
PATIENCE = timedelta(seconds=10)
_held = ""


def past(field: str, now: datetime) -> Q:
    """The time in a field has come, or is too far ahead to be meant: see `FAR_AHEAD`."""
    return Q(**{f"{field}__lte": now}) | Q(**{f"{field}__gt": now + FAR_AHEAD})


def stalled(now: datetime) -> Q:
    """Running under a lapsed lease: its worker has gone silent."""
    return Q(status=JobStatus.RUNNING) & past("leased_until", now)


def claimable(now: datetime) -> Q:
    """Queued and due, or running under a lapsed lease."""
    due = Q(not_before=None) | past("not_before", now)
    return (Q(status=JobStatus.QUEUED) & due) | stalled(now)


def family(queue: str) -> str:
    """What stands before the dot: queues of one family are done by the same kind of worker."""
    return queue.split(".")[0]


def of(queues: Sequence[str]) -> Q:
    """Jobs of these queues; a family's name stands for all its queues."""
    found = Q(pk__in=())
    for queue in queues:
        found |= Q(queue=queue) | Q(queue__startswith=f"{queue}.")
    return found


def start_worker(queue: str) -> str:
    """The command that starts a worker for a queue."""
    return f"manage.py work --queue {NEEDS_TORCH}" if family(queue) == NEEDS_TORCH else "manage.py work"


def command_for(job: Job) -> str:
    """The command that starts a worker for a job that none has taken for a while; else empty."""
    waits = job.status == JobStatus.QUEUED and (job.not_before or job.created_at) <= timezone.now() - PATIENCE
    return start_worker(job.queue) if waits else ""


def hold(queue: str) -> None:
    """Say that this process has loaded what the jobs of a queue need; empty when it has let go of it."""
    global _held
    _held = queue


def claim_next(queues: Sequence[str] | None = None, *, but: Sequence[str] = ()) -> int | None:
    """The id of the job to take next: the oldest, but those that need something else than what this process
    has loaded come after all others, so that it drains a queue before it loads what the next one needs."""
    jobs = Job.objects.filter(claimable(timezone.now())).exclude(of(but))
    if queues:
        jobs = jobs.filter(of(queues))
    here = Q(queue=_held) | ~Q(queue__contains=".")
    order = Case(When(here, then=Value(0)), default=Value(1), output_field=IntegerField())
    return jobs.order_by(order, "pk").values_list("pk", flat=True).first()
