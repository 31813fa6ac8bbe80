"""Freezing: one snapshot into one folder, complete or not there at all."""

import os
import re
import shutil
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import IntegrityError

from accounts.models import User
from api.problems import Conflict, NoRoom, Refused
from audit.actions import seal_pending
from audit.log import record
from projects.background import batches
from projects.models import Answer, Decision, Project

from .folders import manifest
from .formats import card, files
from .formats.notes import Notes
from .models import Release
from .sources import state
from .sources.snapshot import snapshot

SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?",
    re.ASCII,
)
Progress = Callable[[int, int | None, str], None]
#: How often sealing is tried again where rows come in between the sealing and the snapshot.
TRIES = 5
#: What a killed process left half written is swept away when it is so old.
STALE_SECONDS = 24 * 3600


def check_version(version: str) -> None:
    """Raise `Refused` unless it is a semantic version."""
    if not SEMVER.fullmatch(version) or len(version) > 40:
        raise Refused.field("version", f"{version!r} is no semantic version: X.Y.Z, such as 1.0.0.")


def write_release(*, project: Project, version: str, out: Path, progress: Progress | None = None) -> dict[str, Any]:
    """Write the release of a project into a new or empty folder and return its manifest.

    The files are written beside it and renamed at the end, so that a crash or a full disk leaves no half release.
    The same state and version give the same bytes.
    """
    check_version(version)
    check_empty(out)
    building = out.parent / f".{out.name}.{uuid.uuid4().hex}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = _write_sealed(project, version, building, progress)
        put(building, out)
    except OSError as error:
        raise NoRoom(f"Writing failed ({error.strerror or error}); nothing of it was kept.") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return made


def check_empty(out: Path) -> None:
    """Raise `Refused` where files would be overwritten."""
    if out.is_symlink() or (out.exists() and (not out.is_dir() or any(out.iterdir()))):
        raise Refused.field("out", f"{out} exists and is not an empty folder.")


def put(building: Path, out: Path) -> None:
    """Rename a folder into its place, and let the disk know before anybody is told."""
    if out.exists():
        out.rmdir()
    building.rename(out)
    folder = os.open(out.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_sealed(project: Project, version: str, folder: Path, progress: Progress | None) -> dict[str, Any]:
    """Seal and write from one snapshot. A row that came in between has no seal yet, and its seal would move the audit
    head of the next release of the same state: seal again, unless rows come all the time."""
    for attempt in range(1, TRIES + 1):
        with batches.harmless():
            seal_pending()
        with snapshot():
            if attempt == TRIES or not state.unsealed(project):
                # Read again: the caller's copy may be older than the snapshot.
                return _write_files(Project.objects.get(pk=project.pk), version, folder, progress)
    raise AssertionError("the last attempt writes")


def _write_files(project: Project, version: str, folder: Path, progress: Progress | None) -> dict[str, Any]:
    entries: list[manifest.Entry] = []
    notes = Notes()
    newest = state.newest_change(project)

    def put(path: str, chunks: Any) -> None:
        if progress:
            progress(len(entries), None, f"writing {path}")
        entries.append(manifest.write(folder, path, chunks))

    for path, chunks in files(project, notes):
        put(path, chunks)
    paths = [entry.path for entry in entries]
    put("README.md", [card.card(project, version, newest, notes, paths).encode()])
    put("CITATION.cff", [card.citation(project, version, newest).encode()])
    put("LICENSE", [card.licence(project).encode()])
    put(manifest.SUMS, [manifest.sums(entries)])
    entries.sort(key=lambda entry: entry.path)
    made = manifest.sealed(
        {
            "project": project.slug,
            "name": project.name,
            "illustrative": project.illustrative,
            "version": version,
            "newest_change": newest,
            "snapshot": manifest.snapshot_hash(entries),
            "audit_head": state.audit_head(project),
            "counts": _counts(project) | notes.counts,
            "files": [entry.as_json() for entry in entries],
        }
    )
    manifest.write(folder, manifest.NAME, [manifest.as_bytes(made)])
    return made


def _counts(project: Project) -> dict[str, Any]:
    return {
        "clusters": project.clusters.count(),
        "propositions": project.units.filter(type="proposition").count(),
        "rounds": project.rounds.opened().counting().count(),
        "answers": Answer.objects.filter(assignment__round__in=project.rounds.counting().values("pk")).count(),
        "decisions": Decision.objects.filter(unit__project=project).count(),
        "raters": project.members.filter(answers__isnull=False).distinct().count(),
    }


def store() -> Path:
    """Where releases are kept."""
    return Path(settings.MEDIA_ROOT) / "releases"


def folder_of(release: Release) -> Path:
    return store() / release.folder


def freeze(*, project: Project, version: str, by: User | None, progress: Progress | None = None) -> Release:
    """Freeze a release and keep it. A version that exists is given back where its content is the same, byte for byte;
    `Conflict` where it is not."""
    check_version(version)
    _sweep()
    folder = f"{project.slug}-{version}-{uuid.uuid4().hex[:8]}"
    out = store() / folder
    made = write_release(project=project, version=version, out=out, progress=progress)
    try:
        release = _keep(project, version, folder, made, by)
    except IntegrityError:
        release = Release.objects.get(project=project, version=version)
        # The digest, not the hash of the files alone: else the manifest would be another one than the log has.
        same = release.manifest["digest"] == made["digest"]
        if same and not folder_of(release).exists():
            out.rename(folder_of(release))
        shutil.rmtree(out, ignore_errors=True)
        if not same:
            raise Conflict(
                f"Release {version} exists with other content; a release never changes. Take the next number."
            ) from None
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    with batches.harmless():
        seal_pending()
    return release


def _keep(project: Project, version: str, folder: str, made: dict[str, Any], by: User | None) -> Release:
    with batches.batch():
        release = Release.objects.create(
            project=project,
            version=version,
            snapshot_hash=made["snapshot"],
            manifest=made,
            folder=folder,
            size=sum(entry["size"] for entry in made["files"]),
            created_by=by,
        )
        record(
            actor=by, verb="release", obj=release, project_id=project.pk,
            after={"version": version, "snapshot": made["snapshot"], "digest": made["digest"]},
        )  # fmt: skip
    return release


def _sweep() -> None:
    """Remove what processes that were killed left half written."""
    if store().exists():
        for left in store().glob(".*"):
            if left.is_dir() and time.time() - left.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
