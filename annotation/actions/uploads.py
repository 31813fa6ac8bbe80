"""Files that a browser sends: kept under a random name until they are imported or given up, never served."""

import re
import secrets
from datetime import timedelta
from pathlib import Path, PurePath

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.problems import Conflict, Problem, Refused
from projects import jobs
from projects.models import Job, JobStatus, Project

from .imports import format_named

TOKEN = re.compile(r"[0-9a-f]{32}")
#: An upload that nobody confirmed for so long is removed.
KEPT = timedelta(days=7)
#: What a multipart body may have beside the file, in bytes.
ENVELOPE = 64 * 1024


class TooLarge(Problem):
    status = 413
    type = "too-large"
    title = "The file is too large"


def refuse_larger(size: int) -> None:
    """Raise `TooLarge` above the limit of settings.UPLOAD_LIMIT, in bytes."""
    if size > settings.UPLOAD_LIMIT:
        raise TooLarge(f"The file has more than {settings.UPLOAD_LIMIT // 2**20} MiB, the most that can be uploaded.")


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "uploads"


def path_of(token: str) -> Path:
    """Where an upload lies; `Refused` for a token of another shape."""
    if not TOKEN.fullmatch(token):
        raise Refused("This is no upload.")
    return folder() / token


def start_check(*, project: Project, format: str, level: str, file: "UploadedFile[bytes]", by: User) -> Job:
    """Store an upload and queue the job ``check_import`` that reads it."""
    format_named(format)
    refuse_larger(file.size or 0)
    token = _store(file)
    name = PurePath((file.name or "file").replace("\\", "/")).name[:200]
    params = {"format": format, "level": level, "upload": token, "name": name}
    return jobs.enqueue(project=project, kind="check_import", params=params, by=by)


def _store(file: "UploadedFile[bytes]") -> str:
    folder().mkdir(parents=True, exist_ok=True)
    _remove_forgotten()
    token = secrets.token_hex(16)
    try:
        with path_of(token).open("xb") as kept:
            for chunk in file.chunks():
                kept.write(chunk)
    except OSError:
        path_of(token).unlink(missing_ok=True)
        raise
    return token


def _remove_forgotten() -> None:
    oldest = (timezone.now() - KEPT).timestamp()
    for path in folder().iterdir():
        if TOKEN.fullmatch(path.name) and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


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
    return jobs.enqueue(project=project, kind="import", params=check.params, by=by)
