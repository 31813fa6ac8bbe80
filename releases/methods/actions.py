"""Write the methods text of a project in the background, and store it."""

import json
from typing import Any

from django.utils import timezone

from accounts.models import User
from projects.jobs import batches, jobs
from projects.models import Job, Project, StoredFigures

from .queries import KIND, RULE, WITHOUT_JUDGES, compute, texts_of


def request_text(*, project: Project, by: User | None) -> Job:
    """Return the job that writes the text, and start it if there is none."""
    return jobs.request_job(project=project, kind=KIND, params={}, by=by)[0]


def write_and_store(*, project: Project) -> dict[str, Any]:
    """Write the text, and replace the stored one."""
    as_of = timezone.now()
    texts = texts_of(compute(project))
    content = {"rule": RULE, "figures": json.dumps(texts, ensure_ascii=False), "as_of": as_of}
    with batches.batch():
        StoredFigures.objects.update_or_create(project=project, key=KIND, defaults=content)
    # Who rates now may read the result, too.
    return {name: len(texts[WITHOUT_JUDGES][name]) for name in ("sections", "gaps")}
