"""Files that a browser sends: kept under a random name until they are imported or given up, never served."""

import re
import secrets
from datetime import timedelta
from pathlib import Path, PurePath

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from accounts.problems import Problem, Refused

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


def name_of(file: "UploadedFile[bytes]") -> str:
    """The file's own name, without any folder."""
    return PurePath((file.name or "file").replace("\\", "/")).name[:200]


def store(file: "UploadedFile[bytes]") -> str:
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
