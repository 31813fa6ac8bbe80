"""Save mappings by name, and check a whole table with one."""

from dataclasses import replace
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.problems import NotFound, Refused
from audit.log import record
from projects import uploads
from projects.jobs import batches, jobs
from projects.models import Job, Project

from ..formats.columns.mapping import ColumnMapping
from ..formats.columns.stream import dumped
from ..imports.uploads import CorpusUpload
from ..models import SavedMapping
from .queries import source_of

#: Maximum number of saved mappings of a project.
MOST = 200


def start_check(*, project: Project, job_id: int, mapping: ColumnMapping, by: User) -> Job:
    """Queue the check of all rows of an uploaded table with a mapping.

    Raise `Refused` if a required role is missing or was not confirmed.
    """
    job, _ = source_of(project, job_id)
    for name, message in mapping.problems():
        raise Refused.field("columns", f"{name}: {message}" if name else message)
    if guesses := mapping.unconfirmed():
        names = ", ".join(column.name for column in guesses)
        raise Refused.field("columns", f"Confirm the roles that were guessed: {names}.")
    params = {**job.params, "columns": dumped(mapping)}
    upload = uploads.get(CorpusUpload.key)
    return jobs.request_job(project=project, kind=upload.checks, params=params, by=by)[0]


def save(*, project: Project, name: str, mapping: ColumnMapping, by: User) -> SavedMapping:
    """Save a mapping under a name, with all its roles and settings confirmed. One of the same name is replaced."""
    others = SavedMapping.objects.filter(project=project).exclude(name=name)
    if others.count() >= MOST:
        raise Refused.field("name", f"A project has at most {MOST} mappings. Remove one that is not needed.")
    settings = replace(mapping.settings, guessed=())
    confirmed = replace(mapping.confirmed(), settings=settings, guessed=())
    values: dict[str, Any] = {"content": dumped(confirmed), "created_by": by, "changed_at": timezone.now()}
    with batches.batch():
        saved, _ = SavedMapping.objects.update_or_create(project=project, name=name, defaults=values)
        record(actor=by, verb="save mapping", obj=saved, project_id=project.pk, after={"name": name})
    return saved


def remove(saved: SavedMapping, *, by: User) -> None:
    with batches.batch():
        record(actor=by, verb="remove mapping", obj=saved, project_id=saved.project_id, before={"name": saved.name})
        saved.delete()


def mapping_of(project: Project, mapping_id: int) -> SavedMapping:
    """Return a mapping of a project. Raise `NotFound`."""
    saved = SavedMapping.objects.filter(project=project, pk=mapping_id).first()
    if saved is None:
        raise NotFound("This project has no mapping with this id.")
    return saved
