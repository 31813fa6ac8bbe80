"""Corpus files from a browser: checked first, imported when that is confirmed."""

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction

from accounts.models import User
from api.problems import Conflict, Refused
from projects.background import jobs
from projects.background.uploads import name_of, path_of, refuse_larger, store
from projects.models import Job, JobStatus, Project

from .imports import format_named


def start_check(*, project: Project, format: str, level: str, file: "UploadedFile[bytes]", by: User) -> Job:
    """Store an upload and queue the job ``check_import`` that reads it."""
    format_named(format)
    refuse_larger(file.size or 0)
    params = {"format": format, "level": level, "upload": store(file, by), "name": name_of(file)}
    return jobs.ask(project=project, kind="check_import", params=params, by=by)[0]


@transaction.atomic
def confirm(*, project: Project, job_id: int, by: User) -> Job:
    """Queue the import of a file whose check found no fault."""
    check = Job.objects.filter(pk=job_id, project=project, kind="check_import").first()
    if check is None:
        raise Refused.field("job", "There is no such check in this project.")
    if check.status != JobStatus.DONE or not isinstance(check.result, dict):
        raise Conflict("The check of this file has not ended well; there is nothing to confirm.")
    if check.result["faults"]["total"]:
        raise Conflict("The file has faults; mend it and upload it again.")
    if not path_of(check.params["upload"]).exists():
        raise Conflict("This upload was imported already, or is no longer kept; upload the file again.")
    return jobs.ask(project=project, kind="import", params=check.params, by=by)[0]
