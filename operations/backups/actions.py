"""Create and restore backups."""

import os
import shutil
import sys
import tempfile
import tomllib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone
from tqdm import tqdm

from api.problems import Conflict, NoRoom, Refused
from audit import verify
from releases.models import Release
from releases.storage import registry as storage_registry

from .. import upgrades
from . import archive, engines

#: Tables that migrations or visits fill. They do not make an installation count as occupied.
ALWAYS_FILLED = {
    "django_migrations",
    "django_content_type",
    "auth_permission",
    "django_session",
    "axes_accessattempt",
    "axes_accesslog",
    "axes_accessfailurelog",
}


@dataclass
class Restored:
    """Summary of a restored installation."""

    manifest: dict[str, Any]
    #: Number of migrations that were applied because the backup is older.
    migrated: int = 0
    audit_rows: int = 0
    releases: int = 0
    findings: list[str] = field(default_factory=list)
    #: Backup of the replaced data.
    before: Path | None = None


def version() -> str:
    """Return the version of Concord."""
    project = settings.ROOT / "pyproject.toml"
    if not project.exists():
        return "unknown"
    return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])


def backup(*, out: Path) -> dict[str, Any]:
    """Write database and files into a new archive and return its manifest.

    The database snapshot is taken first, so that all files that it refers to already exist.
    """
    if out.exists() or out.is_symlink():
        raise Refused.field("out", f"{out} already exists. Choose another name: backups never overwrite files.")
    engine = engines.engine()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=out.parent) as work:
            dumped = Path(work) / engine.file
            with _bar("database", "page") as bar:
                found = engine.dump(dumped, lambda done, total: _set(bar, done, total))
            files = list(_files())
            total = dumped.stat().st_size + sum(size for _, _, size in files)
            with _bar("archive", "B", total) as bar, archive.written(out, lambda n: _advance(bar, n)) as writer:
                writer.add(dumped, engine.file)
                for path, name, _ in files:
                    try:
                        writer.add(path, name)
                    except FileNotFoundError:
                        continue  # an upload that was imported in the meantime
                return writer.finish(
                    {"version": version(), "made_at": timezone.now().isoformat(), "engine": engine.name, **found}
                )
    except OSError as error:
        raise NoRoom(
            f"The backup could not be written ({error.strerror or error}). The incomplete file was removed."
        ) from error


def _files() -> Iterator[tuple[Path, str, int]]:
    """Yield (path, name in the archive, size) of the files in MEDIA_ROOT, except unfinished releases."""
    root = Path(settings.MEDIA_ROOT)
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if any(part.startswith(".") for part in inside.parts[:2]) or path.is_symlink() or not path.is_file():
            continue
        yield path, f"{archive.FILES}/{inside.as_posix()}", path.stat().st_size


def restore(*, source: Path, replace: str = "", keep: bool = True) -> Restored:
    """Restore a backup. Everything is unpacked to a staging folder and checked before anything is changed.

    ``replace`` is the name of the database, typed as confirmation that its contents will be lost. With ``keep`` they
    are backed up first. Raise `BadArchive`, `Conflict` or `Refused` with nothing changed.
    """
    files = Path(settings.MEDIA_ROOT)
    if replace and replace != engines.name():
        raise Refused.field("replace", f"The database is named {engines.name()!r}, not {replace!r}.")
    occupied = _occupied(files)
    if occupied and not replace:
        raise Conflict(
            f"{occupied}. A backup is restored into an empty installation. To replace the current "
            f"data, stop web and workers and add: --replace {engines.name()}"
        )
    staging = Path(settings.DATA_DIR) / f".restore-{uuid.uuid4().hex}"
    try:
        staging.mkdir(parents=True, mode=0o700)
        with _bar("checking", "B", source.stat().st_size if source.exists() else None) as bar:
            found = archive.unpacked(source, staging, lambda n: _advance(bar, n))
        _check_fits(found)
        result = Restored(found)
        if occupied and keep:
            result.before = Path(settings.DATA_DIR) / f"replaced-{timezone.now():%Y%m%dT%H%M%S}.tar.gz"
            backup(out=result.before)
        engines.engine().load(staging / engines.engine().file)
        _place(staging / archive.FILES, files, staging)
    except OSError as error:
        raise NoRoom(f"The backup could not be unpacked ({error.strerror or error}).") from error
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    _check_rows(result)
    result.migrated = len(_missing())
    if result.migrated:
        call_command("migrate", interactive=False, verbosity=0)
    inspect(result)
    return result


def _occupied(files: Path) -> str:
    """Return a description of existing data, or "" for an empty installation."""
    tables = set(connection.introspection.table_names()) - ALWAYS_FILLED
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT 1 FROM "{table}" LIMIT 1')
            if cursor.fetchone():
                return f"The database {engines.name()} is not empty: {table} has rows"
    if files.exists() and any(path.is_file() for path in files.rglob("*")):
        return f"The folder {files} is not empty"
    return ""


def _check_fits(found: dict[str, Any]) -> None:
    """Reject a backup of another database engine or of a newer version of Concord."""
    engine = engines.engine()
    if found["engine"] != engine.name:
        raise Refused(
            f"The backup is from {found['engine']}, but this installation uses {engine.name}. Restore "
            "it into the same database engine."
        )
    applied = [(app, name) for app, name in found["migrations"]]
    known = upgrades.known_migrations()
    newer = [f"{app}.{name}" for app, name in applied if (app, name) not in known]
    if newer:
        raise Refused(
            f"The backup was made by a newer version of Concord ({found.get('version')}) with the "
            f"migration {newer[0]}. Install that version first."
        )
    if missing := upgrades.unapplied_replaced(applied):
        raise Refused(
            f"{upgrades.too_old('The backup', missing)} Restore it with commit {upgrades.LAST_COMMIT}, migrate, and "
            "back it up again."
        )
    if engine.file not in {entry["path"] for entry in found["files"]}:
        raise archive.BadArchive(f"The backup has no {engine.file}.")


def _place(unpacked: Path, files: Path, staging: Path) -> None:
    """Move the files into place by renaming. The previous files are deleted with the staging folder."""
    if files.exists():
        files.rename(staging / "before")
    files.parent.mkdir(parents=True, exist_ok=True)
    if unpacked.exists():
        unpacked.rename(files)


def _check_rows(result: Restored) -> None:
    now = engines.facts_now()["rows"]
    for table, count in result.manifest["rows"].items():
        if now.get(table) != count:
            result.findings.append(f"table {table}: {now.get(table)} rows, but {count} in the backup")


def _missing() -> list[tuple[str, str]]:
    """Return the migrations that are not applied to the database."""
    loader = MigrationLoader(connection)
    return [key for key in loader.disk_migrations if key not in loader.applied_migrations]


def inspect(result: Restored) -> None:
    """Verify the restored audit log and releases, and add problems to the findings."""
    result.audit_rows = verify.rows_to_check()
    with _bar("audit", "row", result.audit_rows) as bar:
        head = result.manifest["audit_head"]["digest"]
        result.findings += [str(f) for f in verify.findings(lambda n: _advance(bar, n), expected_head=head)]
    for release in _progress(list(Release.objects.order_by("pk")), "releases"):
        result.releases += 1
        report = storage_registry.verify(release)
        result.findings += [f"release {release.version} ({release.folder}): {message}" for message in report.findings]


def _shown() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_PROGRESS")


def _bar(what: str, unit: str, total: int | None = None) -> "tqdm[Any]":
    return tqdm(desc=what, unit=unit, unit_scale=True, total=total, disable=not _shown(), leave=False)


def _progress(rows: list[Release], what: str) -> "tqdm[Release]":
    return tqdm(rows, desc=what, disable=not _shown(), leave=False)


def _set(bar: "tqdm[Any]", done: int, total: int) -> None:
    bar.total = total
    bar.update(done - bar.n)


def _advance(bar: "tqdm[Any]", n: int) -> None:
    bar.update(n)
