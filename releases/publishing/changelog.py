"""CHANGELOG.md of a release: the rows of the data that differ from the release before it."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

from projects.models import Project

from ..folders import diffs
from ..folders.folder import Altered
from ..folders.manifest import Entry, Unreadable
from ..models import Release
from ..sources.options import ReleaseOptions
from ..storage.registry import folder_of, trusted

PATH = "CHANGELOG.md"
#: Number of rows that are listed. `diff_releases --format json` lists all.
LISTED = 500


def changelog(
    project: Project, version: str, folder: Path, entries: Sequence[Entry], options: ReleaseOptions
) -> Iterator[bytes]:
    """Yield the lines of the file, in constant memory. Nothing if this is the project's first release."""
    before = _before(project, version)
    if before is None:
        return
    yield f"# Changes from {before.version} to {version}\n\n".encode()
    try:
        old: diffs.Release = folder_of(before), trusted(before)
        new: diffs.Release = folder, SimpleNamespace(entries=entries, without=options.without)
        found = list(islice(diffs.row_changes(old, new, diffs.data_files(old, new)), LISTED + 1))
    except (Altered, Unreadable):
        yield f"The stored files of {before.version} were altered, so they were not compared.\n".encode()
        return
    if not found:
        yield b"No row of the data differs.\n"
    path = ""
    for change in found[:LISTED]:
        if change.path != path:
            path = change.path
            yield f"## {path}\n\n".encode()
        yield f"- {diffs.in_words(change, quotes=False)}\n".encode()
    if len(found) > LISTED:
        yield b"\nMore rows differ: `manage.py diff_releases A B --format json` lists all.\n"


def _before(project: Project, version: str) -> Release | None:
    """Return the newest release before this version. Written again, a version follows the same release as before."""
    releases = Release.objects.filter(project=project).exclude(version=version).order_by("-pk")
    if own := Release.objects.filter(project=project, version=version).first():
        releases = releases.filter(pk__lt=own.pk)
    return releases.first()
