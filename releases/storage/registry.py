"""Records of an installation about a release: its row, the audit entry of its creation, and the chain of checkpoints.

These records detect a folder that was altered together with its manifest.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from api.problems import Refused
from audit.digests import canonical
from audit.models import Checkpoint, Entry
from audit.verify_entry import entry_findings, matches_digest
from projects.models import Project

from ..folders import standalone
from ..folders.folder import Progress, Report, inspect, read
from ..folders.manifest import Manifest, Unreadable, printable
from ..models import Release


def check_empty(out: Path) -> None:
    """Raise `Refused` if files would be overwritten."""
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise Refused.field("out", f"{out} exists and is not an empty folder.")


def move_into_place(building: Path, out: Path) -> None:
    """Rename a folder to its final name and sync the parent folder to disk."""
    if out.exists():
        out.rmdir()
    building.rename(out)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def store() -> Path:
    """Return the folder of all stored releases."""
    return Path(settings.MEDIA_ROOT) / "releases"


def folder_of(release: Release) -> Path:
    return store() / release.folder


def verify(release: Release, progress: Progress | None = None) -> Report:
    """Verify a stored release: its folder against its manifest, and the manifest against the installation's records."""
    folder = folder_of(release)
    report = inspect(folder, progress)
    if folder.is_symlink() or Path(release.folder).name != release.folder:
        report.find(f"{printable(release.folder)}: not a folder of the release storage")
    witness(release, report)
    return report


def witness(release: Release, report: Report) -> None:
    """Add the findings from row, audit entry and checkpoint chain to a report."""
    entries = _entries(release)
    found = [*_against_row(release, report.manifest), *_against_entries(release, entries), *_head(release)]
    for entry in entries:
        found += entry_findings(entry)
    report.find(*found)
    if found or report.manifest is None:
        return
    report.vouch("The digest and the manifest match the database row of this release.")
    [entry] = entries
    what = "digest" if "digest" in _noted(entry) else "snapshot hash"
    where = (
        f"; the entry matches audit checkpoint {entry.checkpoint.number}; all audit checkpoints are intact"
        if entry.checkpoint
        else ""
    )
    report.checked.append(f"The {what} matches the audit log's entry of the release{where}.")
    if not where:
        report.not_checked.append("The audit checkpoint of that entry: it is created within a day.")
    if what != "digest":
        report.not_checked.append(
            "The rest of the manifest against the audit log: this release is older than the recording of digests."
        )


def trusted(release: Release) -> Manifest:
    """Return the manifest in the release's folder if row and audit log confirm it.

    Downloads are checked against it. Raise `Unreadable` with the first inconsistency.
    """
    manifest = read(folder_of(release))
    wrong = [*manifest.faults, *_against_row(release, manifest), *_against_entries(release, _entries(release))]
    if wrong:
        raise Unreadable(wrong[0])
    return manifest


def _entries(release: Release) -> list[Entry]:
    """Return the audit entries of the release's creation. More than one is an inconsistency."""
    found = Entry.objects.filter(object_type="release", object_id=str(release.pk), verb="release")
    return list(found.select_related("checkpoint").order_by("pk")[:2])


def _noted(entry: Entry) -> dict[str, Any]:
    return entry.after if isinstance(entry.after, dict) else {}


def _row(release: Release) -> dict[str, Any]:
    """Return the manifest of the row.

    It can have any type, because an attacker may have changed the database as well.
    """
    return release.manifest if isinstance(release.manifest, dict) else {}


def _against_row(release: Release, manifest: Manifest | None) -> Iterator[str]:
    row, name = _row(release), f"database, release {release.version}"
    if (release.version, release.snapshot_hash) != (row.get("version"), row.get("snapshot")):
        yield f"{name}: the version or snapshot hash differs from the manifest in the same row"
    if manifest is None:
        return
    if manifest.digest != row.get("digest"):
        yield f"{name}: the digest is {row.get('digest')}, but the digest of the folder is {manifest.digest}"
    elif canonical(manifest.body) != canonical(row):
        yield f"{name}: the manifest differs from that of the folder, although the digests are equal"


def _against_entries(release: Release, entries: list[Entry]) -> Iterator[str]:
    row, name = _row(release), f"audit log, release {release.version}"
    if len(entries) != 1:
        yield f"{name}: {'more than one entry' if entries else 'no entry'}"
    for entry in entries:
        noted = _noted(entry)
        if not matches_digest(entry):
            yield f"{name}: the entry does not match its digest; it was changed"
        elif (entry.project, noted.get("version")) != (release.project_id, release.version):
            yield f"{name}: the entry belongs to another release"
        elif noted.get("snapshot") != row.get("snapshot"):
            yield f"{name}: the snapshot hash is {noted.get('snapshot')}, but in the database {row.get('snapshot')}"
        elif "digest" in noted and noted["digest"] != row.get("digest"):
            yield f"{name}: the digest is {noted['digest']}, but in the database {row.get('digest')}"


def _head(release: Release) -> Iterator[str]:
    """Check that the audit log still contains the checkpoint that the manifest names as its head."""
    head = _row(release).get("audit_head")
    if isinstance(head, dict):
        number = Checkpoint.objects.filter(digest=str(head.get("digest"))).values_list("number", flat=True).first()
        if number != head.get("number"):
            yield f"audit log: no checkpoint {head.get('number')} has the digest that the manifest states"


def find_release(folder: Path, manifest: Manifest | None) -> Release | None:
    """Return the release that a folder contains.

    A stored folder is identified by its name, any other one by project and version of its manifest.
    """
    rows = Release.objects.select_related("project")
    if _is_kept(folder):
        return rows.filter(folder=folder.resolve().name).first()
    if manifest is None:
        return None
    return rows.filter(project__slug=manifest.project, version=manifest.version).first()


def _is_kept(folder: Path) -> bool:
    return folder.resolve().parent == store().resolve()


def _is_lost(manifest: Manifest) -> bool:
    """Return whether the audit log has the creation of a release whose row is missing."""
    frozen = Entry.objects.filter(verb="release", object_type="release")
    frozen = frozen.filter(project__in=Project.objects.filter(slug=manifest.project).values("pk"))
    return any(_noted(entry).get("version") == manifest.version for entry in frozen.iterator())


def look_up(folder: Path, report: Report) -> None:
    """Add the findings of the database to a report, or a note that there is no database."""
    try:
        if not _has_database():
            report.not_checked.append(standalone.ALONE + ".")
        elif release := find_release(folder, report.manifest):
            witness(release, report)
        elif _is_kept(folder) or (report.manifest and _is_lost(report.manifest)):
            report.find("database: no row of this release, although it is in the storage or in the audit log")
        else:
            report.not_checked.append("Database row and audit log: the configured database does not have this release.")
    except (DatabaseError, ImproperlyConfigured) as error:
        report.not_checked.append(standalone.ALONE + f" ({str(error).splitlines()[0]}).")


def _has_database() -> bool:
    """Return whether a database exists. For a missing file, SQLite would create an empty database."""
    name = str(connection.settings_dict["NAME"])
    return connection.vendor != "sqlite" or name.startswith((":memory:", "file:")) or Path(name).is_file()
