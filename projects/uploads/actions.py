"""The life cycle of an uploaded file: stored, checked by a job, confirmed once, written by a job, removed.

Types of upload differ in their `Upload` class. A file that cannot be confirmed is removed when its check ends, a
written file when the transaction commits, and an unconfirmed file after a week (`files.KEPT`).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from django.core.files import File
from django.db import transaction

from accounts.models import User
from api.problems import Conflict, Problem, Refused
from api.registry import Registry

from ..jobs import jobs
from ..jobs.running import RunningJob
from ..models import Job, JobStatus, Project
from . import files
from .upload import Brought, Json, Upload

GONE = "The upload has expired. Upload the file again."
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)


def start_check(
    upload: Upload,
    *,
    project: Project,
    file: "File[bytes]",
    by: User | None,
    params: Mapping[str, Any],
    others: Sequence["File[bytes]"] = (),
) -> Job:
    """Store a file, with the others of its set, and queue the job that checks it."""
    return _start(upload, upload.checks, project, [file, *others], by, params)


def start_check_of_folder(
    upload: Upload, *, project: Project, names: Sequence[str], by: User | None, params: Mapping[str, Any]
) -> Job:
    """Queue the job that checks files of settings.IMPORT_FOLDER as one set."""
    accepted = upload.accept(project, dict(params))
    if len(names) > 1 and not upload.joins(accepted):
        raise Refused.field("names", "Files of this format must be imported one at a time.")
    linked: list[dict[str, str]] = []
    try:
        for name in names:
            linked.append({"upload": files.link(name), "name": name})
        accepted |= linked[0] | ({"others": linked[1:]} if linked[1:] else {})
        return jobs.request_job(project=project, kind=upload.checks, params=accepted, by=by)[0]
    except (Problem, OSError):
        files.remove_all(one["upload"] for one in linked)
        raise


def start_write(upload: Upload, *, project: Project, file: "File[bytes]", by: User, params: Mapping[str, Any]) -> Job:
    """Store a file and queue the job that writes it, without a check. Used by commands that have printed the check."""
    return _start(upload, upload.writes, project, [file], by, params)


def _start(
    upload: Upload,
    kind: str,
    project: Project,
    set: Sequence["File[bytes]"],
    by: User | None,
    params: Mapping[str, Any],
) -> Job:
    accepted = upload.accept(project, dict(params))
    if len(set) > 1 and not upload.joins(accepted):
        raise Refused.field("others", "This type of file must be uploaded one at a time.")
    files.refuse_larger(sum(file.size or 0 for file in set))
    kept: list[dict[str, str]] = []
    try:
        for file in set:
            kept.append({"upload": files.store(file, by), "name": files.name_of(file)})
        accepted |= kept[0] | ({"others": kept[1:]} if kept[1:] else {})
        return jobs.request_job(project=project, kind=kind, params=accepted, by=by)[0]
    except (Problem, OSError):
        files.remove_all(one["upload"] for one in kept)
        raise


@transaction.atomic
def confirm(
    upload: Upload,
    *,
    project: Project,
    job_id: int,
    by: User,
    of: Mapping[str, Any] | None = None,
    chosen: Mapping[str, Any] | None = None,
) -> Job:
    """Queue the job that writes a checked file. If that job is queued or running already, return it.

    ``of``: parameters that the check must have had, such as the round of the page. ``chosen``: the options of the
    confirmation. Raise `Conflict` if the file cannot be confirmed or was written already.
    """
    check = Job.objects.filter(pk=job_id, project=project, kind=upload.checks).first()
    if check is None or any(check.params.get(name) != value for name, value in (of or {}).items()):
        raise Refused.field("job", "This project has no check with this id.")
    if check.status != JobStatus.DONE or not isinstance(check.result, dict):
        raise Conflict("The check of this file did not succeed, so it cannot be confirmed. Upload the file again.")
    if why := upload.unfit(check.result):
        raise Conflict(why)
    token = check.params["upload"]
    writing = Job.objects.filter(project=project, kind=upload.writes, status__in=UNFINISHED, cancel_requested=False)
    if same := writing.filter(params__upload=token).first():
        return same
    if not all(files.path_of(one).exists() for one in files.tokens_of(check.params)):
        raise Conflict("This file was already imported, or the upload has expired. Upload it again.")
    params = check.params | upload.bind(check.result) | upload.choose(project, dict(chosen or {}))
    return jobs.request_job(project=project, kind=upload.writes, params=params, by=by)[0]


def check(upload: Upload, job: RunningJob) -> Json:
    """Run the check of a file, as the handler of its job. The result contains the faults."""
    return upload.check(_brought(job)).as_json()


def write(upload: Upload, job: RunningJob) -> Json:
    """Write a confirmed file, as the handler of its job."""
    if job.by is None:
        raise Conflict("The user who started this import no longer has an account.")
    return upload.write(_brought(job))


def _brought(job: RunningJob) -> Brought:
    paths = [files.path_of(token) for token in files.tokens_of(job.params)]
    if job.project is None or not all(path.exists() for path in paths):
        raise Conflict(GONE)
    names = [other["name"] for other in job.params.get("others", ())]
    others = tuple(zip(paths[1:], names, strict=True))
    return Brought(job.project, paths[0], job.params["name"], job.params, job.by, job, others)


def check_ended(upload: Upload, job: Job) -> None:
    """Remove a file that cannot be confirmed, in the transaction in which its check ends."""
    if not (upload.writes and job.status == JobStatus.DONE and job.result and not upload.unfit(job.result)):
        files.remove(job)


def write_ended(upload: Upload, job: Job) -> None:
    """Remove a written file, in the transaction in which its job ends. An unwritten file can be confirmed again."""
    if job.status == JobStatus.DONE:
        files.remove(job)
    upload.ended(job)


_UPLOADS: Registry[Upload] = Registry(Upload, "upload", module="uploads")  # type: ignore[type-abstract]
#: Return the upload with a key. Raise `KeyError` if there is none.
get = _UPLOADS.get
every = _UPLOADS.every


def discover(package: str) -> None:
    """Register the uploads of a package, and the handlers of their jobs. Called from ``AppConfig.ready``.

    An upload is a class that extends `Upload` in a module `uploads` of one of the package's folders.
    """
    for upload in _UPLOADS.discover(package):
        jobs.handler(upload.checks, ended=partial(check_ended, upload))(partial(check, upload))
        if upload.writes:
            jobs.handler(upload.writes, ended=partial(write_ended, upload), notification=("Import", upload.page))(
                partial(write, upload)
            )
