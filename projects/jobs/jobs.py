"""Background jobs: registration, enqueueing and cancelling. The job row is the queue entry, the lease and the record.

`enqueue` writes a row and, if there is Redis, sends a wake-up after commit. A worker finds work with
`queries.claim_next` and runs it with `running.run_job`. `resend_lost` repeats lost wake-ups.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import User
from api import limits
from api.problems import Conflict
from audit.log import record

from ..models import Job, JobStatus, Project
from ..notifications.actions import notify_of_job
from .queries import LONG, SHORT, claimable, family, past, virtual_time
from .queries import claim_next as claim_next

if TYPE_CHECKING:
    from .running import RunningJob

logger = logging.getLogger(__name__)
#: Interval after which an unanswered wake-up is sent again.
RESEND_AFTER = timedelta(seconds=60)

Handler = Callable[["RunningJob"], dict[str, Any] | None]
#: Called in the transaction in which a job ends: done, failed or cancelled.
Ended = Callable[[Job], None]
handlers: dict[str, Handler] = {}
_ended: dict[str, Ended] = {}
_short: set[str] = set()
#: Per kind: the type of work, and the page below the project's page that shows it.
pages: dict[str, tuple[str, str]] = {}
#: Kinds whose users are notified at the end.
_notified_kinds: set[str] = set()


def handler(
    kind: str,
    ended: Ended | None = None,
    *,
    short: bool = False,
    notification: tuple[str, str] | None = None,
    page: tuple[str, str] | None = None,
) -> Callable[[Handler], Handler]:
    """Register the function that runs jobs of a kind. Handlers are in ``tasks.py`` modules and call one action.

    ``short`` marks jobs that end soon and that others wait for (see `queries.virtual_time`).

    ``ended`` is called in the transaction in which a job ends. The handler is not called for jobs that are given up or
    cancelled, so work that waits for a job must be released here.

    ``notification`` is the type of work and the page that shows it. Both may contain the job's parameters
    ("runs/{run}"). The user who requested the job is notified, and the project's overview lists the job if it failed.
    ``page`` is the same for kinds whose users are not notified.
    """

    def register(function: Handler) -> Handler:
        if kind in handlers:
            raise ValueError(f"Job kind {kind!r} already has a handler.")
        handlers[kind] = function
        if ended:
            _ended[kind] = ended
        if short:
            _short.add(kind)
        if notification:
            _notified_kinds.add(kind)
        if shown := notification or page:
            pages[kind] = shown
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
    is_requested: bool = False,
) -> Job:
    """Create a job in the caller's transaction, and wake a worker after commit.

    Jobs that follow from an action are never rejected. `request_job` limits the jobs that people request.
    """
    if kind not in handlers:
        raise ValueError(f"Job kind {kind!r} has no handler.")
    weight = SHORT if kind in _short else LONG
    job = Job.objects.create(
        project=project,
        kind=kind,
        params=dict(params),
        created_by=by,
        queue=queue,
        not_before=not_before,
        note=note[:200],
        is_requested=is_requested,
        virtual_time=virtual_time(project=project, by=by, queue=queue, weight=weight),
        weight=weight,
    )
    transaction.on_commit(lambda: wake(job))
    return job


def request_job(
    *, project: Project, kind: str, params: Mapping[str, Any], by: User | None, queue: str = "default"
) -> tuple[Job, bool]:
    """Create a job that a person asked for. Return it, and whether it is new.

    An identical job that is queued or running is returned instead. Raise `TooMuch` if the person or the project has too
    many unfinished jobs (`api.limits`).
    """
    with transaction.atomic():
        unfinished = Job.objects.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
        for job in unfinished.filter(project=project, kind=kind, cancel_requested=False):
            if job.params == dict(params):
                return job, False
        if by:
            limits.check("LIMIT_JOBS_OF_A_PERSON", unfinished.filter(created_by=by, is_requested=True))
        limits.check("LIMIT_JOBS_OF_A_PROJECT", unfinished.filter(project=project, is_requested=True))
        return enqueue(project=project, kind=kind, params=params, by=by, queue=queue, is_requested=True), True


def wake(job: Job) -> None:
    """Send a wake-up through Celery, if it is configured, for when the job is due.

    A lost wake-up only delays the job, because the row is authoritative.
    """
    if not settings.REDIS_URL:
        return
    try:
        # By name, because the task modules import this one.
        current_app.send_task(
            "projects.run_job", args=[job.pk], queue=family(job.queue), retry=False, eta=job.not_before
        )
    except Exception:
        logger.warning("The broker did not accept the wake-up of job %s. The sweeper will send it again.", job.pk)
        return
    Job.objects.filter(pk=job.pk).update(sent_at=timezone.now())


def page_of(job: Job) -> tuple[str, str]:
    """Return the type of work of a job, and the page below the project's page that shows it."""
    subject, page = pages[job.kind]
    params = defaultdict(str, job.params)
    return subject.format_map(params), page.format_map(params)


def notify_end(pk: int) -> None:
    job = Job.objects.select_related("project", "created_by").get(pk=pk)
    if ended := _ended.get(job.kind):
        ended(job)
    if job.kind in _notified_kinds and job.status != JobStatus.CANCELLED:
        subject, page = page_of(job)
        failed = job.status == JobStatus.FAILED
        notify_of_job(
            job.created_by,
            project=job.project,
            subject=subject,
            path=page,
            failed=failed,
            round=job.params.get("round"),
        )


def cancel(job: Job) -> None:
    """Request cancellation of a job. A queued job ends at once."""
    with transaction.atomic():
        if Job.objects.filter(pk=job.pk, status=JobStatus.QUEUED).update(
            status=JobStatus.CANCELLED, cancel_requested=True, finished_at=timezone.now()
        ):
            notify_end(job.pk)
            return
    Job.objects.filter(pk=job.pk, status=JobStatus.RUNNING).update(cancel_requested=True)


def dismiss(*, job: Job, by: User) -> None:
    """Remove a failed job from the project's overview and log it. A repeated request changes nothing."""
    with transaction.atomic():
        failed = Job.objects.filter(pk=job.pk, status=JobStatus.FAILED)
        if failed.filter(is_dismissed=False).update(is_dismissed=True):
            record(actor=by, verb="dismiss failed job", obj=job, project_id=job.project_id, after={"kind": job.kind})
        elif not failed.exists():
            raise Conflict("This job has not failed. Only failed jobs can be dismissed.")


def resend_lost() -> int:
    """Send wake-ups again for jobs whose wake-up was lost or whose worker died. Return how many were sent.

    Runs periodically.
    """
    now = timezone.now()
    # A wake-up sent before the job could be claimed (postponed, or leased to a worker that died since) may have had no
    # effect.
    early = Q(sent_at__lt=F("not_before")) | Q(status=JobStatus.RUNNING, sent_at__lt=F("leased_until"))
    lost = Job.objects.filter(claimable(now)).filter(Q(sent_at=None) | early | past("sent_at", now - RESEND_AFTER))
    count = 0
    for job in lost.order_by("pk")[:200]:
        wake(job)
        count += 1
    return count
