"""Permanent storage of output files. Each file is named by the SHA-256 of its content and has an index beside it."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from generation.backends.imported.survey import About, Changed, Survey, survey
from generation.backends.protocol import BackendError
from projects.jobs.batches import Progress, silent
from projects.uploads import files
from projects.uploads.faults import Faults

_SHA256 = re.compile(r"[0-9a-f]{64}")
CHANGED = "The outputs file has changed since it was uploaded: upload it again."


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "outputs"


def open_stored(sha256: str) -> Survey:
    """Open a stored file. The caller closes it.

    Raise `BackendError` if the name is not a SHA-256, if the file is missing, or if its content has changed.
    """
    if not _SHA256.fullmatch(sha256):
        raise BackendError("An outputs file is identified by its SHA-256: 64 characters 0-9 and a-f.")
    path = folder() / sha256
    if not path.is_file():
        raise BackendError("This outputs file is not on the server: upload it again.")
    try:
        try:
            return Survey(path, _index_path(sha256))
        except (FileNotFoundError, Changed):
            _rebuild_index(path)
            return Survey(path, _index_path(sha256))
    except OSError as error:
        raise BackendError(f"The outputs file cannot be read: {error.strerror}.") from error


@contextmanager
def survey_upload(file: Path, name: str, progress: Progress = silent) -> Iterator[tuple[About, Faults, Path]]:
    """Survey a file, and yield its description, its faults and its index.

    The index is deleted unless `keep` is called.
    """
    with _temporary_path() as index:
        about, faults = survey(file, name, index, progress)
        yield about, faults, index


def keep(file: Path, index: Path, about: About) -> None:
    """Store a file without faults and its index, atomically.

    The original file is left unchanged, so that a caller that is interrupted after this step can repeat it.
    """
    folder().mkdir(parents=True, exist_ok=True)
    with _temporary_path() as copy:
        _link_or_copy(file, copy)
        copy.replace(folder() / about.sha256)
    index.replace(_index_path(about.sha256))


def _link_or_copy(file: Path, copy: Path) -> None:
    """Hard-link the file, or copy it if the file system has no hard links."""
    try:
        os.link(file, copy)
    except OSError:
        shutil.copyfile(file, copy)
    with copy.open("rb") as content:
        os.fsync(content.fileno())


def _index_path(sha256: str) -> Path:
    return folder() / f"{sha256}.index"


def _rebuild_index(path: Path) -> None:
    """Rebuild an index that is missing or was written by other reading rules."""
    with survey_upload(path, "outputs") as (about, faults, index):
        if about.sha256 != path.name:
            raise BackendError(CHANGED)
        if faults:
            first = "; ".join(map(str, faults.listed[:3]))
            raise BackendError(f"The outputs file has {faults.total} errors: {first}.")
        index.replace(_index_path(about.sha256))


@contextmanager
def _temporary_path() -> Iterator[Path]:
    """Yield the path of a temporary file.

    It is in the upload folder, where files left by a killed process are cleaned up.
    """
    files.folder().mkdir(parents=True, exist_ok=True)
    path = files.folder() / secrets.token_hex(16)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
