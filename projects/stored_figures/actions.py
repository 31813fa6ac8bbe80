"""Compute the figures of a project after a change, and store them (docs/decisions/0025-stored-figures.md)."""

import json
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from ..jobs import batches, jobs
from ..jobs.batches import Progress, enqueue_intake, silent
from ..jobs.queries import ACTIVE
from ..models import Job, JobStatus, Project, StoredFigures
from . import registry
from .queries import KIND, pending_job

#: Delay before the job runs, so that changes shortly after each other are processed together.
DELAY = timedelta(seconds=10)
#: A change relies on a waiting job only if the job is not due within this time. It must exceed the time from the call
#: of `enqueue_figures` to the commit, because a job that runs before the commit does not see the change.
MARGIN = timedelta(seconds=5)


def content_changed(where: Q) -> None:
    """Enqueue what follows when units or current values of the projects that match ``where`` were added or changed.

    Rolling rounds take in units, and stored figures are computed again. Call it in the transaction of the change, at
    its end.
    """
    enqueue_intake(Q(project__in=Project.objects.filter(where)))
    enqueue_figures(where)


def enqueue_figures(where: Q) -> None:
    """Enqueue a job for each project that matches ``where``, in the caller's transaction. One job waits per project."""
    now = timezone.now()
    waiting = Job.objects.filter(
        project=OuterRef("pk"), kind=KIND, status=JobStatus.QUEUED, not_before__gt=now + MARGIN
    )
    for project in Project.objects.filter(where, ~Exists(waiting)):
        jobs.enqueue(project=project, kind=KIND, params={}, by=None, not_before=now + DELAY)


def enqueue_missing() -> None:
    """Enqueue jobs for projects without figures of the current rules, such as those of an earlier version.

    Runs every minute. A failed job is not repeated until the next change.
    """
    lacks = Q(pk__in=())
    for each in registry.every():
        rows = StoredFigures.objects.filter(project=OuterRef("pk"), key=each.key, rule=each.rule)
        lacks |= Q(~Exists(rows))
    tried = Job.objects.filter(project=OuterRef("pk"), kind=KIND, status__in=[*ACTIVE, JobStatus.FAILED])
    enqueue_figures(lacks & Q(~Exists(tried)))


def compute_and_store(
    *, project: Project, since: datetime | None = None, job: int | None = None, progress: Progress = silent
) -> dict[str, Any]:
    """Compute all sets of a project and replace the stored ones.

    ``since``: start of the ``job``. Sets that an earlier attempt has stored since then are not computed again.
    """
    waiting = Job.objects.filter(project=project, kind=KIND, status=JobStatus.QUEUED).exclude(pk=job or 0)
    # Their changes are visible now, so this computation includes them.
    included = list(waiting.values_list("pk", flat=True))
    current = StoredFigures.objects.filter(project=project, as_of__gte=since) if since else StoredFigures.objects.none()
    done = {(row.key, row.rule) for row in current}
    for each in registry.every():
        if (each.key, each.rule) in done:
            included = []  # The stored set may be older than these changes.
            continue
        as_of = timezone.now()
        figures = each.compute(project, progress)
        with batches.batch():
            _store(project, each, figures, as_of)
    with batches.batch():
        now = timezone.now()
        waiting.filter(pk__in=included).update(status=JobStatus.DONE, finished_at=now, note="Included in another job.")
    return {"sets": [each.key for each in registry.every()]}


def bring_up_to_date(project: Project, progress: Progress = silent) -> bool:
    """Compute the figures now if they are missing or outdated, and return whether they were. For commands."""
    rules = set(StoredFigures.objects.filter(project=project).values_list("key", "rule"))
    if not pending_job(project) and all((each.key, each.rule) in rules for each in registry.every()):
        return False
    compute_and_store(project=project, progress=progress)
    return True


def _store(project: Project, figure_set: registry.FigureSet, figures: Any, as_of: datetime) -> None:
    """Replace the stored set, unless another worker has stored a later one in the meantime."""
    values = {"rule": figure_set.rule, "figures": json.dumps(figures, ensure_ascii=False), "as_of": as_of}
    row, is_new = StoredFigures.objects.get_or_create(project=project, key=figure_set.key, defaults=values)
    if not is_new:
        StoredFigures.objects.filter(pk=row.pk, as_of__lt=as_of).update(**values)
