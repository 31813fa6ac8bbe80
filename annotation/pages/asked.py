"""Work that a lead asks for by a button: what the last time came to, and what is under way."""

from typing import Any

from projects.models import Job, JobStatus, Project
from projects.pages.plans import fresh_job


def newest(project: Project, kind: str) -> dict[str, Any]:
    """``came_to``: the result of the last job of a kind that ended well; ``job``: a newer one that has not."""
    asked = Job.objects.filter(project=project, kind=kind).order_by("-pk")
    last, done = asked.first(), asked.filter(status=JobStatus.DONE).first()
    return {
        "came_to": done.result if done else None,
        "job": fresh_job(last) if last and last.status != JobStatus.DONE else None,
    }
