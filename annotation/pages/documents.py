"""The document level of a project: how many reviews have a target, and what the last making of them came to."""

from typing import Any

from projects.models import Job, JobStatus, Project
from projects.pages.plans import fresh_job

from ..actions.documents import KIND
from ..models import Level, Target
from ..values import documents


def overview(project: Project) -> dict[str, Any]:
    """A fixed number of queries."""
    asked = Job.objects.filter(project=project, kind=KIND).order_by("-pk")
    newest, done = asked.first(), asked.filter(status=JobStatus.DONE).first()
    return {
        "reviews": documents.reviews(project).count(),
        "made": Target.objects.current().filter(project=project, level=Level.DOCUMENT).count(),
        "came_to": done.result if done else None,
        "job": fresh_job(newest) if newest and newest.status != JobStatus.DONE else None,
    }
