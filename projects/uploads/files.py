"""Files that a browser sends: kept under a random name until they are imported or given up, never served."""

import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path, PurePath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from api import limits
from api.problems import Refused, TooLarge

from ..models import Job, JobStatus

TOKEN = re.compile(r"[0-9a-f]{32}")
#: An upload that nobody confirmed for so long is removed.
KEPT = timedelta(days=7)


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


def name_of(file: "File[bytes]") -> str:
    """The file's own name, without any folder."""
    return PurePath((file.name or "file").replace("\\", "/")).name[:200]


def store(file: "File[bytes]", by: User | None) -> str:
    """Keep a file; its token. Where that were more than one person's uploads may come to, the oldest of theirs go that
    no job is at or waits for. `TooMuch` where that is not enough."""
    folder().mkdir(parents=True, exist_ok=True)
    _remove_forgotten()
    if by and limits.most("LIMIT_UPLOADS_MB"):
        _make_room(file.size or 0, by)
    token = secrets.token_hex(16)
    try:
        with path_of(token).open("xb") as kept:
            for chunk in file.chunks():
                kept.write(chunk)
    except OSError:
        path_of(token).unlink(missing_ok=True)
        raise
    return token


def tokens_of(params: Mapping[str, Any]) -> list[str]:
    """The tokens of all files of a job: its own, and those that came with it."""
    return [params["upload"], *(other["upload"] for other in params.get("others", ()))]


def remove(job: Job) -> None:
    """In the transaction in which a job ends: its uploads are spent when that is committed. Earlier, a worker that dies
    in between would leave the next one without them."""
    transaction.on_commit(lambda: remove_all(tokens_of(job.params)))


def remove_all(tokens: Iterable[str]) -> None:
    for token in tokens:
        path_of(token).unlink(missing_ok=True)


def _make_room(size: int, by: User) -> None:
    mine = Job.objects.filter(created_by=by, created_at__gt=timezone.now() - KEPT, params__has_key="upload")
    kept = {token: path_of(token) for job in mine.order_by("pk") for token in tokens_of(job.params)}
    sizes = {token: path.stat().st_size for token, path in kept.items() if path.exists()}
    unfinished = mine.filter(status__in=(JobStatus.QUEUED, JobStatus.RUNNING))
    needed = {token for job in unfinished for token in tokens_of(job.params)}
    too_much = sum(sizes.values()) + size - limits.most("LIMIT_UPLOADS_MB") * 2**20
    gone = []
    for token in sizes:
        if too_much > 0 and token not in needed:
            gone.append(token)
            too_much -= sizes[token]
    if too_much > 0:
        raise limits.refused("LIMIT_UPLOADS_MB")
    for token in gone:
        kept[token].unlink(missing_ok=True)


def _remove_forgotten() -> None:
    oldest = (timezone.now() - KEPT).timestamp()
    for path in folder().iterdir():
        if TOKEN.fullmatch(path.name) and path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
