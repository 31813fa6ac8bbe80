"""The one way of every file that people send: kept, checked by a job, confirmed once, written by a job, removed.

What differs is declared (`Upload`). A file that cannot be confirmed goes when its check has ended, one that was written
when that is committed, and whatever nobody confirms after a week (`files.KEPT`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files import File
from django.db import transaction

from accounts.models import User
from api.problems import Conflict, Problem, Refused

from ..background import jobs
from ..models import Job, JobStatus, Project
from . import files
from .upload import Brought, Json, Upload

GONE = "This upload is no longer kept; upload the file again."
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING)


def start_check(
    upload: Upload, *, project: Project, file: "File[bytes]", by: User | None, asked: Mapping[str, Any],
    others: Sequence["File[bytes]"] = (),
) -> Job:  # fmt: skip
    """Keep a file, with the others of its set, and queue the job that checks it."""
    return _start(upload, upload.checks, project, [file, *others], by, asked)


def start_write(
    upload: Upload, *, project: Project, file: "File[bytes]", by: User, asked: Mapping[str, Any]
) -> Job:  # fmt: skip
    """Keep a file and queue its writing without a check before: for who has seen on the command line what it says."""
    return _start(upload, upload.writes, project, [file], by, asked)


def _start(
    upload: Upload, kind: str, project: Project, set: Sequence["File[bytes]"], by: User | None,
    asked: Mapping[str, Any],
) -> Job:  # fmt: skip
    params = upload.accept(project, dict(asked))
    if len(set) > 1 and not upload.joins(params):
        raise Refused.field("others", "Files of this sort are sent one by one.")
    files.refuse_larger(sum(file.size or 0 for file in set))
    kept: list[dict[str, str]] = []
    try:
        for file in set:
            kept.append({"upload": files.store(file, by), "name": files.name_of(file)})
        params |= kept[0] | ({"others": kept[1:]} if kept[1:] else {})
        return jobs.ask(project=project, kind=kind, params=params, by=by)[0]
    except (Problem, OSError):
        files.remove_all(one["upload"] for one in kept)
        raise


@transaction.atomic
def confirm(
    upload: Upload, *, project: Project, job_id: int, by: User,
    of: Mapping[str, Any] | None = None, chosen: Mapping[str, Any] | None = None,
) -> Job:  # fmt: skip
    """Queue the writing of a file that was checked, once: confirmed again while it waits or is written, it is that job.

    ``of``: what the check must have been asked with (the round whose page it is). `Conflict` where nothing is to be
    confirmed, or the file was written already."""
    check = Job.objects.filter(pk=job_id, project=project, kind=upload.checks).first()
    if check is None or any(check.params.get(name) != value for name, value in (of or {}).items()):
        raise Refused.field("job", "There is no such check here.")
    if check.status != JobStatus.DONE or not isinstance(check.result, dict):
        raise Conflict("The check of this file has not ended well; there is nothing to confirm.")
    if why := upload.unfit(check.result):
        raise Conflict(why)
    token = check.params["upload"]
    writing = Job.objects.filter(project=project, kind=upload.writes, status__in=UNFINISHED, cancel_requested=False)
    if same := writing.filter(params__upload=token).first():
        return same
    if not all(files.path_of(one).exists() for one in files.tokens_of(check.params)):
        raise Conflict("This file was imported already, or is no longer kept; upload it again.")
    params = check.params | upload.choose(project, dict(chosen or {}))
    return jobs.ask(project=project, kind=upload.writes, params=params, by=by)[0]


def check(upload: Upload, job: jobs.RunningJob) -> Json:
    """What the checking job does; its result names the faults."""
    return upload.check(_brought(job)).as_json()


def write(upload: Upload, job: jobs.RunningJob) -> Json:
    """What the writing job does."""
    if job.by is None:
        raise Conflict("Whoever asked for this import no longer has an account.")
    return upload.write(_brought(job))


def _brought(job: jobs.RunningJob) -> Brought:
    paths = [files.path_of(token) for token in files.tokens_of(job.params)]
    if job.project is None or not all(path.exists() for path in paths):
        raise Conflict(GONE)
    names = [other["name"] for other in job.params.get("others", ())]
    others = tuple(zip(paths[1:], names, strict=True))
    return Brought(job.project, paths[0], job.params["name"], job.params, job.by, job, others)


def check_ended(upload: Upload, job: Job) -> None:
    """In the transaction in which the check ends: a file that nobody can confirm goes."""
    if not (upload.writes and job.status == JobStatus.DONE and job.result and not upload.unfit(job.result)):
        files.remove(job)


def write_ended(upload: Upload, job: Job) -> None:
    """In the transaction in which the writing ends. What was not written can be confirmed again."""
    if job.status == JobStatus.DONE:
        files.remove(job)
    upload.ended(job)
