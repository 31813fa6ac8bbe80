"""Files of outputs that versions are made of: kept for good, each under the SHA-256 of its bytes."""

import os
import re
from hashlib import file_digest
from pathlib import Path

from django.conf import settings

from ..protocol import BackendError

_SHA256 = re.compile(r"[0-9a-f]{64}")


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "outputs"


def path_of(sha256: str) -> Path:
    """Where a file lies. `BackendError` for a name of another shape, and where there is no such file."""
    if not _SHA256.fullmatch(sha256):
        raise BackendError("A file of outputs is named by its SHA-256: 64 characters of 0-9 and a-f.")
    path = folder() / sha256
    if not path.is_file():
        raise BackendError("There is no such file of outputs on this server: upload it again.")
    return path


def keep(file: Path) -> str:
    """Move a file to where it is kept, whole or not at all; its SHA-256. One that is there already stays."""
    with file.open("rb") as content:
        sha256 = file_digest(content, "sha256").hexdigest()
        os.fsync(content.fileno())
    folder().mkdir(parents=True, exist_ok=True)
    if (folder() / sha256).exists():
        file.unlink()
    else:
        file.replace(folder() / sha256)
    return sha256
