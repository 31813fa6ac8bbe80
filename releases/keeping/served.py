"""Kept releases as they go out: only bytes that row, log and manifest vouch for.

Everything is hashed twice. First before a reply begins, so that who asks is told in words what was altered; then again
while it goes, because the disk may change in between: the last piece of a file, and of an archive its directory, goes
only when all fits, and else the connection breaks off. The size or age of a file says nothing: who writes to the disk
sets both. It costs reading what is served once more, some 2 ms a megabyte.
"""

import logging
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from api.problems import Conflict, NoRoom, NotFound

from ..actions import check_empty, folder_of, put
from ..folders import archive, diffs, manifest
from ..folders.folder import Altered, checked
from ..folders.manifest import Entry, Manifest, Unreadable, shown
from ..models import Release
from . import kept

logger = logging.getLogger(__name__)


class ReleaseAltered(Conflict):
    """What lies on the disk is not what was released, so it is not given away."""

    type = "release-altered"
    title = "This release is not as it was frozen"


@contextmanager
def _in_words(release: Release) -> Iterator[None]:
    try:
        yield
    except (Altered, Unreadable) as found:
        logger.error("Release %s, kept in %s, was altered: %s.", release.pk, shown(release.folder), found)
        raise ReleaseAltered(
            f"What is kept of release {release.version} is not what was frozen, so it is not served. {found}. Verify "
            "names everything that does not fit. Whoever runs this server can put the folder back from a backup."
        ) from None


def file(release: Release, path: str) -> tuple[int, Iterator[bytes]]:
    """Size in bytes and content of one file. Only what the manifest lists has an address: else `NotFound`. Raises
    `ReleaseAltered`; `Altered` where the file changes while it goes."""
    with _in_words(release):
        folder, found = _trusted(release)
        if path == manifest.NAME:
            return len(found.content), iter([found.content])
        entry = next((entry for entry in found.entries if entry.path == path), None)
        if entry is None:
            raise NotFound("This release has no such file.")
        _drain(folder, [entry])
    return entry.size, checked(folder, entry)


def zipped(release: Release) -> Iterator[bytes]:
    """The whole release as one zip. Raises as `file` does."""
    with _in_words(release):
        folder, found = _trusted(release)
        _drain(folder, found.entries)
    return archive.stream(folder, f"{release.project.slug}-{release.version}", found)


def differences(before: Release, after: Release) -> list[diffs.FileDifference]:
    """What changed from one release to the next. Raises `ReleaseAltered`."""
    with _in_words(before):
        old = _trusted(before)
    with _in_words(after):
        new = _trusted(after)
        return list(diffs.differences(old, new))


def copy(release: Release, out: Path) -> None:
    """Copy a kept release into a new or empty folder: whole, as it was frozen, or not at all. Raises `ReleaseAltered`,
    `Refused` where files would be overwritten, `NoRoom`."""
    check_empty(out)
    building = out.parent / f".{out.name}.{uuid.uuid4().hex}"
    try:
        with _in_words(release):
            folder, found = _trusted(release)
            out.parent.mkdir(parents=True, exist_ok=True)
            for entry in found.entries:
                manifest.write(building, entry.path, checked(folder, entry))
            manifest.write(building, manifest.NAME, [found.content])
        put(building, out)
    except OSError as error:
        raise NoRoom(f"Writing to {out} failed ({error.strerror or error}); nothing of it was kept there.") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _trusted(release: Release) -> tuple[Path, Manifest]:
    return folder_of(release), kept.trusted(release)


def _drain(folder: Path, entries: Iterable[Entry]) -> None:
    for entry in entries:
        for _ in checked(folder, entry):
            pass
