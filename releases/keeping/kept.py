"""What an installation knows of a release beside its folder: the row, the log entry of its freezing, and the chain of
seals that binds the entry. A folder that was altered together with its manifest fits itself, and none of these."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection

from audit.digests import canonical
from audit.models import Entry, Seal
from audit.place import fits_its_digest, place_findings
from projects.models import Project

from ..actions import folder_of, store
from ..folders import anywhere
from ..folders.folder import Progress, Report, inspect, read
from ..folders.manifest import Manifest, Unreadable, shown
from ..models import Release


def verify(release: Release, progress: Progress | None = None) -> Report:
    """A kept release: its folder against its manifest, and that against everything else that knows of it."""
    folder = folder_of(release)
    report = inspect(folder, progress)
    if folder.is_symlink() or Path(release.folder).name != release.folder:
        report.find(f"{shown(release.folder)}: it is no folder of its own among the kept releases")
    witness(release, report)
    return report


def witness(release: Release, report: Report) -> None:
    """Add to a report of some folder what row, entry and chain say of it."""
    entries = _entries(release)
    found = [*_against_row(release, report.manifest), *_against_entries(release, entries), *_head(release)]
    for entry in entries:
        found += place_findings(entry)
    report.find(*found)
    if found or report.manifest is None:
        return
    report.vouch("Its digest and all that it says against the row of this release in the data base.")
    [entry] = entries
    what = "digest" if "digest" in _noted(entry) else "snapshot hash"
    where = f"; the entry against its seal, number {entry.seal.number}; the chain of all seals" if entry.seal else ""
    report.checked.append(f"Its {what} against the audit log's entry of the freezing{where}.")
    if not where:
        report.not_checked.append("The seal of that entry: it has none yet, and has one within a day.")
    if what != "digest":
        report.not_checked.append(
            "The rest of the manifest against the audit log, which did not note the digest when this was frozen."
        )


def trusted(release: Release) -> Manifest:
    """The manifest as it lies in the release's folder, where row and log say that it is the one that was frozen: what
    is served is held against it. Raises `Unreadable`, with the first thing that does not fit."""
    manifest = read(folder_of(release))
    wrong = [*manifest.faults, *_against_row(release, manifest), *_against_entries(release, _entries(release))]
    if wrong:
        raise Unreadable(wrong[0])
    return manifest


def _entries(release: Release) -> list[Entry]:
    """The log entry of its freezing. There is one; a second one is noticed."""
    found = Entry.objects.filter(object_type="release", object_id=str(release.pk), verb="release")
    return list(found.select_related("seal").order_by("pk")[:2])


def _noted(entry: Entry) -> dict[str, Any]:
    return entry.after if isinstance(entry.after, dict) else {}


def _row(release: Release) -> dict[str, Any]:
    """The manifest in the row, which may be anything: who changes files may have the data base, too."""
    return release.manifest if isinstance(release.manifest, dict) else {}


def _against_row(release: Release, manifest: Manifest | None) -> Iterator[str]:
    row, name = _row(release), f"data base, release {release.version}"
    if (release.version, release.snapshot_hash) != (row.get("version"), row.get("snapshot")):
        yield f"{name}: its version or snapshot hash is not that of the manifest in the same row"
    if manifest is None:
        return
    if manifest.digest != row.get("digest"):
        yield f"{name}: the digest there is {row.get('digest')}, that of the folder {manifest.digest}"
    elif canonical(manifest.body) != canonical(row):
        yield f"{name}: the manifest there is not that of the folder, though it claims the same digest"


def _against_entries(release: Release, entries: list[Entry]) -> Iterator[str]:
    row, name = _row(release), f"audit log, freezing of release {release.version}"
    if len(entries) != 1:
        yield f"{name}: {'more than one entry' if entries else 'no entry'}"
    for entry in entries:
        noted = _noted(entry)
        if not fits_its_digest(entry):
            yield f"{name}: the entry does not fit its own digest: it was changed"
        elif (entry.project, noted.get("version")) != (release.project_id, release.version):
            yield f"{name}: the entry is about another release"
        elif noted.get("snapshot") != row.get("snapshot"):
            yield f"{name}: the snapshot hash there is {noted.get('snapshot')}, that of the row {row.get('snapshot')}"
        elif "digest" in noted and noted["digest"] != row.get("digest"):
            yield f"{name}: the digest there is {noted['digest']}, that of the row {row.get('digest')}"


def _head(release: Release) -> Iterator[str]:
    """The end of the audit log that the manifest names must still be in the log."""
    head = _row(release).get("audit_head")
    if isinstance(head, dict):
        number = Seal.objects.filter(digest=str(head.get("digest"))).values_list("number", flat=True).first()
        if number != head.get("number"):
            yield f"audit log: it has no seal {head.get('number')} with the digest that the manifest names as its head"


def known(folder: Path, manifest: Manifest | None) -> Release | None:
    """The release of this installation that a folder is, or says to be: by its place among the kept ones, or else by
    project and version."""
    rows = Release.objects.select_related("project")
    if _is_kept(folder):
        return rows.filter(folder=folder.resolve().name).first()
    if manifest is None:
        return None
    return rows.filter(project__slug=manifest.project, version=manifest.version).first()


def _is_kept(folder: Path) -> bool:
    return folder.resolve().parent == store().resolve()


def _is_lost(manifest: Manifest) -> bool:
    """Whether the log knows of the freezing of a release whose row is gone."""
    frozen = Entry.objects.filter(verb="release", object_type="release")
    frozen = frozen.filter(project__in=Project.objects.filter(slug=manifest.project).values("pk"))
    return any(_noted(entry).get("version") == manifest.version for entry in frozen.iterator())


def look_up(folder: Path, report: Report) -> None:
    """Add to a report of a folder whatever the data base at hand knows of it, or that there is none."""
    try:
        if not _at_hand():
            report.not_checked.append(f"{anywhere.ALONE}.")
        elif release := known(folder, report.manifest):
            witness(release, report)
        elif _is_kept(folder) or (report.manifest and _is_lost(report.manifest)):
            report.find(
                "data base: it has no row of this release, which lies among the kept ones or is in the audit log"
            )
        else:
            report.not_checked.append("Row and log of an installation: the data base at hand has no such release.")
    except (DatabaseError, ImproperlyConfigured) as error:
        report.not_checked.append(f"{anywhere.ALONE} ({str(error).splitlines()[0]}).")


def _at_hand() -> bool:
    """Whether there is a data base to ask: SQLite would make an empty one where there is none."""
    name = str(connection.settings_dict["NAME"])
    return connection.vendor != "sqlite" or name.startswith((":memory:", "file:")) or Path(name).is_file()
