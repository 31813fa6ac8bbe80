"""Write the methods text of a project in the background, and store it."""

import json
from typing import Any

from django.utils import timezone

from accounts.models import User
from projects.jobs import batches, jobs
from projects.models import Job, Project, StoredFigures

from .queries import KIND, RULE, compute


def request_text(*, project: Project, by: User | None) -> Job:
    """Return the job that writes the text, and start it if there is none."""
    return jobs.request_job(project=project, kind=KIND, params={}, by=by)[0]


def write_and_store(*, project: Project) -> dict[str, Any]:
    """Write the text, and replace the stored one."""
    as_of = timezone.now()
    text = {name: value for name, value in compute(project).items() if name != "facts"}
    content = {"rule": RULE, "figures": json.dumps(text, ensure_ascii=False), "as_of": as_of}
    with batches.batch():
        StoredFigures.objects.update_or_create(project=project, key=KIND, defaults=content)
    return {"sections": len(text["sections"]), "gaps": len(text["gaps"])}
