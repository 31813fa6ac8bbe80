"""Making a backup and bringing one back."""

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
from releases.keeping import kept
from releases.models import Release

from . import archive, engines

#: Filled by migrations or by visits, and so no sign that anybody works here.
ALWAYS_FILLED = {
    "django_migrations", "django_content_type", "auth_permission", "django_session", "axes_accessattempt",
    "axes_accesslog", "axes_accessfailurelog",
}  # fmt: skip


@dataclass
class Restored:
    """What a restored installation was found to hold."""

    manifest: dict[str, Any]
    #: Migrations that were applied because the backup is older.
    migrated: int = 0
    audit_rows: int = 0
    releases: int = 0
    findings: list[str] = field(default_factory=list)
    #: Where what was there before is kept.
    before: Path | None = None


def version() -> str:
    """Concord's."""
    project = settings.ROOT / "pyproject.toml"
    if not project.exists():
        return "unknown"
    return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])


def backup(*, out: Path) -> dict[str, Any]:
    """Write data base and files into one new file; its manifest. The data base comes first, as it is at one moment:
    whatever file it names lies on the disk already."""
    if out.exists() or out.is_symlink():
        raise Refused.field("out", f"{out} exists; a backup overwrites nothing.")
    engine = engines.engine()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".backup-", dir=out.parent) as work:
            dumped = Path(work) / engine.file
            with _bar("data base", "page") as bar:
                found = engine.dump(dumped, lambda done, total: _set(bar, done, total))
            files = list(_files())
            total = dumped.stat().st_size + sum(size for _, _, size in files)
            with _bar("archive", "B", total) as bar, archive.written(out, lambda n: _advance(bar, n)) as writer:
                writer.add(dumped, engine.file)
                for path, name, _ in files:
                    try:
                        writer.add(path, name)
                    except FileNotFoundError:
                        continue  # an upload that was imported meanwhile
                return writer.finish(
                    {"version": version(), "made_at": timezone.now().isoformat(), "engine": engine.name, **found}
                )
    except OSError as error:
        raise NoRoom(f"The backup could not be written ({error.strerror or error}); nothing of it was kept.") from error


def _files() -> Iterator[tuple[Path, str, int]]:
    """(path, name in the archive, size) of what lies in MEDIA_ROOT, releases that are still being written left out."""
    root = Path(settings.MEDIA_ROOT)
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if any(part.startswith(".") for part in inside.parts[:2]) or path.is_symlink() or not path.is_file():
            continue
        yield path, f"{archive.FILES}/{inside.as_posix()}", path.stat().st_size


def restore(*, source: Path, replace: str = "", keep: bool = True) -> Restored:
    """Bring a backup back: everything is unpacked beside the data and checked before anything is changed.

    ``replace`` is the name of the data base, typed by whoever means to lose what it holds now; with ``keep`` that is
    written into a backup of its own first. Raises `BadArchive`, `Conflict` and `Refused` with nothing changed.
    """
    files = Path(settings.MEDIA_ROOT)
    if replace and replace != engines.name():
        raise Refused.field("replace", f"The data base is called {engines.name()!r}, not {replace!r}.")
    occupied = _occupied(files)
    if occupied and not replace:
        raise Conflict(
            f"{occupied}. A backup goes into an empty installation. To lose what is here, stop web and workers and "
            f"add: --replace {engines.name()}"
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
    """What is here already, in words; empty where nothing is."""
    tables = set(connection.introspection.table_names()) - ALWAYS_FILLED
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f'SELECT 1 FROM "{table}" LIMIT 1')
            if cursor.fetchone():
                return f"The data base {engines.name()} is not empty: {table} has rows"
    if files.exists() and any(path.is_file() for path in files.rglob("*")):
        return f"The folder {files} is not empty"
    return ""


def _check_fits(found: dict[str, Any]) -> None:
    """Refuse the backup of another kind of data base, or one that a newer Concord made."""
    engine = engines.engine()
    if found["engine"] != engine.name:
        raise Refused(
            f"This is a backup of a data base of kind {found['engine']}; the one in use is {engine.name}. "
            "A backup is restored into the same kind."
        )
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    newer = [f"{app}.{name}" for app, name in found["migrations"] if (app, name) not in known]
    if newer:
        raise Refused(
            f"The backup was made by a newer Concord ({found.get('version')}): this one does not know {newer[0]}. "
            "Install that version first."
        )
    if engine.file not in {entry["path"] for entry in found["files"]}:
        raise archive.BadArchive(f"The backup has no {engine.file}.")


def _place(unpacked: Path, files: Path, staging: Path) -> None:
    """Put the files where they belong, by renaming; what was there goes with the staging folder."""
    if files.exists():
        files.rename(staging / "before")
    files.parent.mkdir(parents=True, exist_ok=True)
    if unpacked.exists():
        unpacked.rename(files)


def _check_rows(result: Restored) -> None:
    now = engines.facts_now()["rows"]
    for table, count in result.manifest["rows"].items():
        if now.get(table) != count:
            result.findings.append(f"table {table}: {now.get(table)} rows, the backup says {count}")


def _missing() -> list[tuple[str, str]]:
    """Migrations that this Concord has and the data base has not."""
    loader = MigrationLoader(connection)
    return [key for key in loader.disk_migrations if key not in loader.applied_migrations]


def inspect(result: Restored) -> None:
    """Look at audit and releases as they are now; what is wrong goes into the findings."""
    result.audit_rows = verify.rows_to_check()
    with _bar("audit", "row", result.audit_rows) as bar:
        head = result.manifest["audit_head"]["digest"]
        result.findings += [str(f) for f in verify.findings(lambda n: _advance(bar, n), expected_head=head)]
    for release in _progress(list(Release.objects.order_by("pk")), "releases"):
        result.releases += 1
        report = kept.verify(release)
        result.findings += [f"release {release.version} ({release.folder}): {said}" for said in report.findings]


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
