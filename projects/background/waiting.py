"""Which jobs can be taken, and which of them a worker should take first (docs/decisions/0022-fair-shares.md)."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Case, F, Max, Min, Q, QuerySet, Value, When
from django.utils import timezone

from accounts.models import User

from ..models import Job, JobStatus, Project

#: No lease, and no time to wait before another try, reaches so far ahead: one that does was given before the clock was
#: set back, and holds no longer.
FAR_AHEAD = timedelta(minutes=10)
#: The family of queues whose jobs need torch.
NEEDS_TORCH = "gpu"
NO_TORCH = f"This machine has no torch, which the queue {NEEDS_TORCH} needs: install requirements/gpu.txt."
#: A job that waits longer than this waits for a worker, not for the next look at the table.
PATIENCE = timedelta(seconds=10)
#: What a job takes of its project's turns: what follows from an act and is soon done, and all else.
SHORT, LONG = 1, 8
#: What needs another model than this process has loaded is taken as if it stood so far behind.
RELOADING = 20 * LONG
ACTIVE = (JobStatus.QUEUED, JobStatus.RUNNING)
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


def turn_of(*, project: Project | None, by: User | None, queue: str, weight: int) -> int:
    """The turn of a new job: the one that is being served now, or, where jobs of the same project and weight wait
    already, the one behind the last of these. What people ask for stands behind what they asked for elsewhere, too:
    many projects are not many people."""
    family_is = of([family(queue)])
    running, queued = Q(status=JobStatus.RUNNING), Q(status=JobStatus.QUEUED)
    own = Q(project=project) | Q(created_by=by) if by and weight > SHORT else Q(project=project)
    found = Job.objects.filter(status__in=ACTIVE).aggregate(
        served=Max("turn", filter=family_is & running),
        first=Min("turn", filter=family_is & queued),
        anywhere=Max("turn", filter=running),
        last=Max("turn", filter=family_is & own & Q(weight=weight)),
    )
    now: int = next((found[name] for name in ("served", "first", "anywhere") if found[name] is not None), 0)
    return now if found["last"] is None else max(now, found["last"] + weight)


def in_order(queues: Sequence[str] | None = None, *, but: Sequence[str] = ()) -> QuerySet[Job]:
    """The jobs that can be taken now, in the order in which this process should take them: by their turns, of the
    same turn the shorter one. Those that need another model than it has loaded come so much later that it drains a
    queue before it loads what the next one needs, and yet loads it some time."""
    jobs = Job.objects.filter(claimable(timezone.now()), status__in=ACTIVE).exclude(of(but))
    if queues:
        jobs = jobs.filter(of(queues))
    here = Q(queue=_held) | ~Q(queue__contains=".")
    return jobs.order_by(F("turn") + Case(When(here, then=Value(0)), default=Value(RELOADING)), "weight", "pk")


def claim_next(queues: Sequence[str] | None = None, *, but: Sequence[str] = ()) -> int | None:
    """The id of the job to take next."""
    return in_order(queues, but=but).values_list("pk", flat=True).first()
