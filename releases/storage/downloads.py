"""Downloads of stored releases. Only bytes confirmed by database row, audit log and manifest are served.

Everything is hashed twice. The first time is before the response starts, so that an error message can be returned. The
second time is during the transfer, because the disk may change in between. The last piece of a file and the directory
of an archive are sent only if all hashes match; otherwise the connection is closed.

Size and time of a file prove nothing, because they can be set by anyone who can write to the disk. The first pass takes
about 2 ms per megabyte.
"""

import logging
import shutil
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from api.problems import Conflict, NoRoom, NotFound
from releases.folders import diffs, manifest
from releases.folders.folder import Altered, checked
from releases.folders.manifest import NAME, Entry, Manifest, Unreadable, printable
from releases.models import Release
from releases.storage import registry as storage_registry
from releases.storage.registry import check_empty, folder_of, move_into_place

#: A zip entry needs a date. The earliest one keeps archives of the same release identical.
FIRST_DAY = (1980, 1, 1, 0, 0, 0)


class _Pipe:
    """Write-only, non-seekable buffer for zipfile; `taken` returns the bytes written since the last call."""

    def __init__(self) -> None:
        self.waiting: list[bytes] = []
        self.position = 0

    def write(self, data: bytes) -> int:
        self.waiting.append(bytes(data))
        self.position += len(data)
        return len(data)

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        pass

    def take_chunk(self) -> bytes:
        data, self.waiting = b"".join(self.waiting), []
        return data


def stream(folder: Path, top: str, manifest: Manifest) -> Iterator[bytes]:
    """Yield a zip of a release in one folder named ``top``, the manifest first.

    Each file is checked against its hash while it is read. The central directory, which readers need to open a zip, is
    written only if all files are correct. Raise `Altered`.
    """
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        contents = [(NAME, len(manifest.content), iter([manifest.content]))]
        contents += [(entry.path, entry.size, checked(folder, entry)) for entry in manifest.entries]
        for path, size, pieces in contents:
            info = zipfile.ZipInfo(f"{top}/{path}", FIRST_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            info.file_size = size  # files of 2 GiB and more need a different header
            with archive.open(info, "w") as target:
                for piece in pieces:
                    target.write(piece)
                    yield pipe.take_chunk()
    yield pipe.take_chunk()


logger = logging.getLogger(__name__)


class ReleaseAltered(Conflict):
    """The stored release differs from the one that was created, so it is not served."""

    type = "release-altered"
    title = "This release was altered"


@contextmanager
def _in_words(release: Release) -> Iterator[None]:
    try:
        yield
    except (Altered, Unreadable) as found:
        logger.error("Release %s, kept in %s, was altered: %s.", release.pk, printable(release.folder), found)
        raise ReleaseAltered(
            f"The stored files of release {release.version} were altered, so they are not served. "
            f"{found}. Verify lists all differences. The administrator can restore the folder from a "
            "backup."
        ) from None


def file(release: Release, path: str) -> tuple[int, Iterator[bytes]]:
    """Return size in bytes and content of one file.

    Raise `NotFound` for a file that the manifest does not list. Raise `ReleaseAltered` if the release is altered, and
    `Altered` if the file changes during the transfer.
    """
    with _in_words(release):
        folder, found = _trusted(release)
        if path == manifest.NAME:
            return len(found.content), iter([found.content])
        entry = next((entry for entry in found.entries if entry.path == path), None)
        if entry is None:
            raise NotFound("This release has no file with this path.")
        _drain(folder, [entry])
    return entry.size, checked(folder, entry)


def zipped(release: Release) -> Iterator[bytes]:
    """Return the whole release as a zip file. Raises the same errors as `file`."""
    with _in_words(release):
        folder, found = _trusted(release)
        _drain(folder, found.entries)
    return stream(folder, f"{release.project.slug}-{release.version}", found)


def differences(before: Release, after: Release) -> list[diffs.FileDifference]:
    """Return the differences between two releases. Raise `ReleaseAltered`."""
    with _in_words(before):
        old = _trusted(before)
    with _in_words(after):
        new = _trusted(after)
        return list(diffs.differences(old, new))


#: Rows of a difference that a request returns.
ROWS = 500


def row_changes(before: Release, after: Release) -> list[diffs.RowChange]:
    """Return the first rows of the data that differ between two releases, by field. Raise `ReleaseAltered`."""
    with _in_words(before):
        old = _trusted(before)
    with _in_words(after):
        new = _trusted(after)
        return list(islice(diffs.row_changes(old, new, diffs.data_files(old, new)), ROWS))


def copy(release: Release, out: Path) -> None:
    """Copy a stored release into a new or empty folder, completely or not at all.

    Raise `ReleaseAltered`; `Refused` if files would be overwritten; `NoRoom` if writing fails.
    """
    check_empty(out)
    building = out.parent / f".{out.name}.{uuid.uuid4().hex}"
    try:
        with _in_words(release):
            folder, found = _trusted(release)
            out.parent.mkdir(parents=True, exist_ok=True)
            for entry in found.entries:
                manifest.write_file(building, entry.path, checked(folder, entry))
            manifest.write_file(building, manifest.NAME, [found.content])
        move_into_place(building, out)
    except OSError as error:
        raise NoRoom(
            f"Writing to {out} failed ({error.strerror or error}). The incomplete files were removed."
        ) from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _trusted(release: Release) -> tuple[Path, Manifest]:
    return folder_of(release), storage_registry.trusted(release)


def _drain(folder: Path, entries: Iterable[Entry]) -> None:
    for entry in entries:
        for _ in checked(folder, entry):
            pass
