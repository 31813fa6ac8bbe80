"""Read stored figures, and how current they are."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Q, Subquery

from ..jobs.queries import ACTIVE
from ..models import Job, JobStatus, Project, StoredFigures
from . import registry

#: Kind of the job that computes all sets of a project.
KIND = "stored_figures"
#: Number of rows above which a request does not count anew what a job is about to count.
LARGE = 5_000


@dataclass(frozen=True)
class Stored:
    """One set of figures as stored."""

    #: None if no job has computed them yet.
    figures: Any
    #: When the job began to read. Earlier changes are included.
    as_of: datetime | None
    #: The job that will replace them, or that failed to. None if they are current.
    job: Job | None

    @property
    def is_current(self) -> bool:
        """Whether they include every change."""
        return self.figures is not None and self.job is None

    def is_usable(self, size: Callable[[Any], int]) -> bool:
        """Return whether a request uses these figures instead of computing them, where they decide what to do next.

        It does while they are current. In a large project it also does while the job that renews them waits or runs,
        because computing them would take seconds. ``size`` returns the number of rows from the figures.
        """
        if self.figures is None or self.job is None:
            return self.is_current
        return self.job.status in ACTIVE and size(self.figures) > LARGE

    def notes(self) -> list[str]:
        """Return the note below a table that is built from these figures. Empty if they are current."""
        if self.as_of is None:
            return ["The figures are being computed."]
        if self.job is None:
            return []
        state = "being updated" if self.job.status in ACTIVE else "the update failed"
        return [f"As of {self.as_of.astimezone(UTC):%-d %b %Y, %H:%M} UTC; {state}."]


def stored(project: Project, key: str) -> Stored:
    """Return a set of figures of a project. Needs two queries, whatever the size of the project."""
    # Read the job first. If it ends in between, the figures are newer than stated.
    job = pending_job(project)
    row = StoredFigures.objects.filter(project=project, key=key, rule=registry.get(key).rule).first()
    if row is None:
        return Stored(None, None, job)
    # A command has computed the figures since.
    is_superseded = job is not None and job.finished_at is not None and job.finished_at < row.as_of
    return Stored(json.loads(row.figures), row.as_of, None if is_superseded else job)


def pending_job(project: Project) -> Job | None:
    """Return the running job, else the queued one, else the newest one if it was not successful. One query."""
    jobs = Job.objects.filter(project=project, kind=KIND)
    newest = jobs.order_by("-pk").values("pk")[:1]
    found = jobs.filter(Q(status__in=ACTIVE) | Q(pk=Subquery(newest))).select_related("created_by")
    job = min(found, key=lambda job: (job.status not in ACTIVE, job.status != JobStatus.RUNNING, job.pk), default=None)
    if job is None or job.status == JobStatus.DONE:
        return None
    return job
