"""Work that a lead asks for by a button: what the last time came to, and what is under way."""

from typing import Any

from django.db.models import QuerySet

from projects.models import Job, JobStatus, Project
from projects.pages.plans import fresh_job


def newest(project: Project, kind: str) -> dict[str, Any]:
    """``came_to``: the result of the last job of a kind that ended well; ``job``: a newer one that has not."""
    done = _of(project, kind).filter(status=JobStatus.DONE).first()
    return {"came_to": done.result if done else None, "job": pending(project, kind)}


def pending(project: Project, kind: str) -> Job | None:
    """The newest job of a kind, where it is under way or did not end well."""
    last = _of(project, kind).first()
    return fresh_job(last) if last and last.status != JobStatus.DONE else None


def _of(project: Project, kind: str) -> QuerySet[Job]:
    return Job.objects.filter(project=project, kind=kind).order_by("-pk")
