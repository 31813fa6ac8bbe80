"""Create releases: one snapshot is written to one folder, completely or not at all."""

import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.db import IntegrityError

from accounts.models import User
from annotation.splits.actions import mark_released
from api.problems import Conflict, NoRoom, Refused
from audit.actions import create_checkpoints
from audit.log import record
from projects.jobs import batches
from projects.models import Answer, Decision, Project
from releases.sources.state import snapshot

from ..citation.edition import Edition
from ..citation.files import citation_files
from ..folders import manifest
from ..folders.texts import rows_without_texts
from ..formats import card, files
from ..formats.datasheet import datasheet
from ..formats.heds import heds
from ..formats.methods import methods_files
from ..formats.notes import Notes
from ..formats.rows import csv_row
from ..huggingface import croissant
from ..huggingface.configs import Config, parquet_settings
from ..huggingface.front_matter import front_matter, load_section
from ..methods.facts.study import study_facts
from ..models import Release
from ..sources import checks, state
from ..sources.options import OPTIONAL, PARQUET, ReleaseOptions
from ..sources.parts import parts_of_units
from ..storage.registry import check_empty, folder_of, move_into_place, store
from . import changelog

SEMVER = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?",
    re.ASCII,
)
DEFAULTS = ReleaseOptions()
Progress = Callable[[int, int | None, str], None]
#: Number of attempts to create a checkpoint if rows are added between the checkpoint and the snapshot.
TRIES = 5
#: Age at which incomplete folders of killed processes are removed.
STALE_SECONDS = 24 * 3600


def check_version(version: str) -> None:
    """Raise `Refused` if this is no semantic version."""
    if not SEMVER.fullmatch(version) or len(version) > 40:
        raise Refused.field("version", f"{version!r} is not a semantic version. Expected X.Y.Z, such as 1.0.0.")


def check_release(project: Project, options: ReleaseOptions) -> list[dict[str, Any]]:
    """Return the failed checks. Raise `Refused` if one of them prevents the release and no reason is stated."""
    failed = [check for check in checks.run(project, options) if not check["passed"]]
    blocking = [check for check in failed if check["blocks"]]
    if blocking and not options.reason:
        problems = " ".join(f"{check['title']}: {check['detail']}" for check in blocking)
        raise Refused(
            f"{problems} State a reason to release anyway.",
            errors=[{"field": "reason", "message": "A check fails. State a reason to release anyway."}],
        )
    return failed


def _forced(project: Project, options: ReleaseOptions) -> dict[str, Any] | None:
    """Return the reason for a release despite failed checks, with their names; None if no failed check prevents it."""
    names = [check["name"] for check in checks.run(project, options) if check["blocks"]]
    return {"reason": options.reason, "checks": names} if names and options.reason else None


def write_release(
    *, project: Project, version: str, out: Path, options: ReleaseOptions = DEFAULTS, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the release of a project into a new or empty folder and return its manifest.

    The files are written to a temporary folder that is renamed at the end, so that a crash or a full disk leaves no
    partial release. The same state, version and options give the same bytes.
    """
    check_version(version)
    check_optional(options)
    check_empty(out)
    building = out.parent / f".{out.name}.{uuid.uuid4().hex}"
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        made = _write_after_checkpoint(project, version, options, building, progress)
        move_into_place(building, out)
    except OSError as error:
        raise NoRoom(f"Writing failed ({error.strerror or error}). The incomplete files were removed.") from error
    finally:
        shutil.rmtree(building, ignore_errors=True)
    return made


def check_optional(options: ReleaseOptions) -> None:
    """Raise `Refused` for a part that cannot be left out, or for one that cannot be written here."""
    if unknown := set(options.without) - set(OPTIONAL):
        raise Refused.field("without", f"Only these can be left out: {', '.join(OPTIONAL)}. Found {min(unknown)!r}.")
    if options.has_parquet and find_spec("pyarrow") is None:
        raise Refused.field(
            "without",
            "Parquet files need pyarrow, which is not installed: pip install -r requirements/parquet.txt. Or create "
            "the release without Parquet files (command: --without parquet).",
        )


def _write_after_checkpoint(
    project: Project, version: str, options: ReleaseOptions, folder: Path, progress: Progress | None
) -> dict[str, Any]:
    """Create an audit checkpoint and write the release from one snapshot.

    Rows added in between have no checkpoint yet. Their later checkpoint would change the audit head of the next release
    of the same state. The checkpoint is therefore repeated, up to `TRIES` times.
    """
    for attempt in range(1, TRIES + 1):
        with batches.idempotent():
            create_checkpoints()
        with snapshot():
            if attempt == TRIES or not state.rows_without_checkpoint(project):
                # Reload the project: the caller's copy may be older than the snapshot.
                project = Project.objects.get(pk=project.pk)
                return _write_files(project, version, options, folder, progress)
    raise AssertionError("the last attempt writes")


def _write_files(
    project: Project, version: str, options: ReleaseOptions, folder: Path, progress: Progress | None
) -> dict[str, Any]:
    entries: list[manifest.Entry] = []
    notes = Notes(has_texts=options.has_texts)
    newest = state.newest_change(project)

    def put(path: str, chunks: Iterable[bytes]) -> None:
        if progress:
            progress(len(entries), None, f"writing {path}")
        entries.append(manifest.write_file(folder, path, chunks))

    for path, chunks in files(project, notes):
        put(path, chunks if options.has_texts else rows_without_texts(path, chunks, csv_row))
    paths = [entry.path for entry in entries]
    configs, settings = _write_parquet(project, folder, paths, progress) if options.has_parquet else ([], {})
    entries += [entry for config in configs for entry in config.splits.values()]
    rows = [entry for entry in entries if entry.rows is not None]
    study = study_facts(
        project,
        version=version,
        options=options,
        levels=[level.as_json() for level in notes.levels],
        agreement=notes.agreement,
        guideline_changes=notes.guideline_changes,
    )
    stated = study.stated
    put(croissant.PATH, [croissant.croissant(project, stated, version, newest, configs, rows)])
    text = card.card(project, version, newest, notes, paths, load_section(configs))
    put("README.md", [front_matter(stated, configs).encode(), text.encode()])
    edition = Edition(version, newest, options.doi)
    for path, content in citation_files(stated, edition):
        put(path, [content])
    put("datasheet.md", [datasheet(study, edition, notes, paths).encode()])
    if content := b"".join(heds(study)):
        put("heds3.md", [content])
    for path, content in methods_files(study):
        put(path, [content])
    put("LICENSE", [card.licence(project).encode()])
    if changes := list(changelog.changelog(project, version, folder, entries, options)):
        put(changelog.PATH, changes)
    put(manifest.SUMS, [manifest.sums(entries)])
    entries.sort(key=lambda entry: entry.path)
    made = manifest.with_digest(
        {
            "project": project.slug,
            "name": project.name,
            "illustrative": project.illustrative,
            "version": version,
            "doi": options.doi,
            "forced": _forced(project, options),
            "newest_change": newest,
            "snapshot": manifest.snapshot_hash(entries),
            "audit_head": state.audit_head(project),
            "counts": _counts(project) | notes.counts,
            "without": sorted(set(options.without)),
            **settings,
            "files": [entry.as_json() for entry in entries],
        }
    )
    manifest.write_file(folder, manifest.NAME, [manifest.as_bytes(made)])
    return made


def _write_parquet(
    project: Project, folder: Path, paths: Sequence[str], progress: Progress | None
) -> tuple[list[Config], dict[str, Any]]:
    """Write the Parquet files of the files of rows. Return their configurations, and the field of the manifest."""
    # Here, because the web process imports this module but never pyarrow.
    from ..huggingface import writing

    if progress:
        progress(len(paths), None, "writing Parquet files")
    return writing.write(folder, paths, parts_of_units(project)), {PARQUET: parquet_settings(writing.VERSION)}


def _counts(project: Project) -> dict[str, Any]:
    return {
        "clusters": project.clusters.count(),
        "propositions": project.units.filter(type="proposition").count(),
        "rounds": project.rounds.opened().counting().count(),
        "answers": Answer.objects.filter(assignment__round__in=project.rounds.counting().values("pk")).count(),
        "decisions": Decision.objects.of_project(project).count(),
        "raters": project.members.filter(answers__isnull=False).distinct().count(),
    }


def freeze(
    *,
    project: Project,
    version: str,
    by: User | None,
    options: ReleaseOptions = DEFAULTS,
    progress: Progress | None = None,
) -> Release:
    """Create and store a release.

    If the version exists with the same bytes, return it. Raise `Conflict` if its content differs.
    """
    check_version(version)
    check_optional(options)
    _sweep()
    folder = f"{project.slug}-{version}-{uuid.uuid4().hex[:8]}"
    out = store() / folder
    made = write_release(project=project, version=version, out=out, options=options, progress=progress)
    try:
        release = _keep(project, version, folder, made, by)
    except IntegrityError:
        release = Release.objects.get(project=project, version=version)
        # Compare the digest, not only the hash of the files. Otherwise the manifest could differ from the one in the
        # log.
        same = release.manifest["digest"] == made["digest"]
        if same and not folder_of(release).exists():
            out.rename(folder_of(release))
        shutil.rmtree(out, ignore_errors=True)
        if not same:
            raise Conflict(
                f"Release {version} already exists with different content. Releases never change: use the "
                "next version number."
            ) from None
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    with batches.idempotent():
        create_checkpoints()
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
        mark_released(project=project, paths=[entry["path"] for entry in made["files"]], version=version)
        record(
            actor=by,
            verb="release",
            obj=release,
            project_id=project.pk,
            after={"version": version, "snapshot": made["snapshot"], "digest": made["digest"]},
            reason=(made["forced"] or {}).get("reason", ""),
        )
    return release


def _sweep() -> None:
    """Remove incomplete folders of killed processes."""
    if store().exists():
        for left in store().glob(".*"):
            if left.is_dir() and time.time() - left.stat().st_mtime > STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
