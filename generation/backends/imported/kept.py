"""Files of outputs that versions are made of: kept for good, each under the SHA-256 of its bytes, beside its index."""

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from projects.background.progress import Progress, silent
from projects.uploads import files
from projects.uploads.faults import Faults

from ..protocol import BackendError
from .survey import About, Changed, Survey, survey

_SHA256 = re.compile(r"[0-9a-f]{64}")
CHANGED = "The file of outputs is not what it was when it was uploaded."


def folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "outputs"


def open_kept(sha256: str) -> Survey:
    """A file that was kept, to be closed. `BackendError` for a name of another shape, and where there is no such file,
    or another one under its name."""
    if not _SHA256.fullmatch(sha256):
        raise BackendError("A file of outputs is named by its SHA-256: 64 characters of 0-9 and a-f.")
    path = folder() / sha256
    if not path.is_file():
        raise BackendError("There is no such file of outputs on this server: upload it again.")
    try:
        try:
            return Survey(path, _index_of(sha256))
        except (FileNotFoundError, Changed):
            _index_again(path)
            return Survey(path, _index_of(sha256))
    except OSError as error:
        raise BackendError(f"The file of outputs cannot be read: {error.strerror}.") from error


@contextmanager
def gone_through(file: Path, name: str, progress: Progress = silent) -> Iterator[tuple[About, Faults, Path]]:
    """What a file holds, what is wrong with it, and its index, which goes unless the file is kept (`keep`)."""
    with _new() as index:
        about, faults = survey(file, name, index, progress)
        yield about, faults, index


def keep(file: Path, index: Path, about: About) -> None:
    """Keep a file without a fault and its index, whole or not at all. The file stays where it is too: whoever is cut
    off between this and what is to follow finds it again."""
    folder().mkdir(parents=True, exist_ok=True)
    with _new() as kept:
        _same(file, kept)
        kept.replace(folder() / about.sha256)
    index.replace(_index_of(about.sha256))


def _same(file: Path, kept: Path) -> None:
    """The same bytes under a second name; written out again where the disk cannot give one."""
    try:
        os.link(file, kept)
    except OSError:
        shutil.copyfile(file, kept)
    with kept.open("rb") as content:
        os.fsync(content.fileno())


def _index_of(sha256: str) -> Path:
    return folder() / f"{sha256}.index"


def _index_again(path: Path) -> None:
    """An index is lost, or of other rules for reading."""
    with gone_through(path, "outputs") as (about, faults, index):
        if about.sha256 != path.name:
            raise BackendError(CHANGED)
        if faults:
            first = "; ".join(map(str, faults.listed[:3]))
            raise BackendError(f"The file of outputs has {faults.total} faults: {first}.")
        index.replace(_index_of(about.sha256))


@contextmanager
def _new() -> Iterator[Path]:
    """A place for a file that is not whole yet; among the uploads, where what a killed process leaves is swept up."""
    files.folder().mkdir(parents=True, exist_ok=True)
    path = files.folder() / secrets.token_hex(16)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
