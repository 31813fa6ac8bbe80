"""Contents of a backup, and refusals before anything is changed."""

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as project_settings
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import User
from api.problems import Problem
from audit.models import Checkpoint
from operations.backups import actions, engines
from operations.backups.archive import BadArchive, unpacked
from projects.models import Project
from releases.publishing.actions import freeze
from tests.builders import build_cluster

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.row(46),
    pytest.mark.skipif(
        connection.vendor == "postgresql" and not shutil.which("pg_dump"), reason="pg_dump is not installed"
    ),
]


@pytest.fixture(autouse=True)
def a_folder_of_its_own(settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    settings.MEDIA_ROOT = settings.DATA_DIR / "files"


@pytest.fixture
def made(project: Project, lead: User, tmp_path: Path) -> Path:
    """A backup of a project with a release and an upload."""
    build_cluster(project)
    freeze(project=project, version="1.0.0", by=lead)
    uploads = Path(project_settings.MEDIA_ROOT) / "uploads"
    uploads.mkdir()
    (uploads / "a").write_bytes(b"lines")
    (Path(project_settings.DATA_DIR) / "secret_key").write_text(project_settings.SECRET_KEY)
    actions.backup(out=tmp_path / "backup.tar.gz")
    return tmp_path / "backup.tar.gz"


def members(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar.getmembers()}  # type: ignore[union-attr]


def rewritten(path: Path, change: Callable[[dict[str, bytes]], object]) -> Path:
    """Return the archive with changed members, in their order."""
    held = members(path)
    change(held)
    with tarfile.open(path, "w:gz") as tar:
        for name, content in held.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def in_manifest(held: dict[str, bytes], **fields: Any) -> None:
    held["manifest.json"] = json.dumps(json.loads(held["manifest.json"]) | fields).encode()


def refused(path: Path, why: str, **how: Any) -> None:
    before = engines.facts_now(), sorted(p for p in Path(project_settings.DATA_DIR).rglob("*"))
    with pytest.raises(Problem, match=why):
        actions.restore(source=path, replace=engines.name(), keep=False, **how)
    assert (engines.facts_now(), sorted(p for p in Path(project_settings.DATA_DIR).rglob("*"))) == before


def test_a_backup_holds_database_and_files_and_never_the_secret_key(made: Path) -> None:
    held = members(made)
    manifest = json.loads(held["manifest.json"])
    assert list(held) == [*(entry["path"] for entry in manifest["files"]), "manifest.json"]
    assert next(iter(held)) == engines.engine().file
    assert {"files/uploads/a"} < set(held)
    assert any(name.startswith("files/releases/eye-1.0.0-") and name.endswith("/manifest.json") for name in held)
    assert not any("secret" in name for name in held)
    assert project_settings.SECRET_KEY.encode() not in gzip.decompress(made.read_bytes())
    assert manifest["rows"]["projects_project"] == 1
    assert ["projects", "0001_initial"] in manifest["migrations"]
    assert manifest["audit_head"]["number"] == Checkpoint.objects.count() > 0
    assert made.stat().st_mode & 0o077 == 0, "it holds password hashes: only its owner reads it"
    assert [p.name for p in made.parent.iterdir() if p.name.startswith(".")] == [], "nothing is left beside it"


def test_a_backup_never_overwrites_a_file(made: Path) -> None:
    before = made.read_bytes()
    with pytest.raises(CommandError, match="never overwrite files"):
        call_command("backup", out=made)
    assert made.read_bytes() == before


def test_a_restore_needs_an_empty_installation_or_the_database_name(made: Path) -> None:
    with pytest.raises(CommandError, match=rf"is not empty: \w+ has rows.*--replace {engines.name()}"):
        call_command("restore", made)
    with pytest.raises(CommandError, match="is named"):
        call_command("restore", made, replace="another")


def test_a_changed_byte_is_found_before_anything_is_touched(made: Path) -> None:
    refused(rewritten(made, lambda held: held.update({"files/uploads/a": b"linez"})), "SHA-256 of files/uploads/a")


def test_a_missing_an_added_and_a_twofold_file_are_found(made: Path) -> None:
    whole = made.read_bytes()
    refused(rewritten(made, lambda held: held.pop("files/uploads/a")), "missing from the archive")
    made.write_bytes(whole)
    refused(rewritten(made, lambda held: held.update({"files/uploads/b": b""})), "not in the manifest")
    made.write_bytes(whole)
    refused(rewritten(made, lambda held: held.pop("manifest.json")), "has no manifest.json")


@pytest.mark.row(30)
@pytest.mark.parametrize(
    "name", ["../outside", "/etc/outside", "files/../../outside", "files/./a", "files//a", "elsewhere/a", "files/a\\b"]
)
def test_no_path_leaves_the_folder(made: Path, name: str) -> None:
    refused(rewritten(made, lambda held: held.update({name: b"x"})), "does not belong in a backup")
    assert not (made.parent / "outside").exists()


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_only_plain_files_are_taken(tmp_path: Path, kind: bytes) -> None:
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("files/link")
        info.type, info.linkname = kind, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(BadArchive, match="does not belong in a backup"):
        unpacked(tmp_path / "a.tar.gz", tmp_path / "to", lambda _: None)
    assert not (tmp_path / "to").exists()


def test_truncated_and_foreign_files_are_refused(made: Path, tmp_path: Path) -> None:
    content = made.read_bytes()
    for spoiled in (content[: len(content) // 2], b"", b"no archive at all" * 100):
        (tmp_path / "spoiled").write_bytes(spoiled)
        refused(tmp_path / "spoiled", "no backup of Concord|cut off|damaged")
    refused(tmp_path / "nowhere", "does not exist")


def test_backups_of_other_versions_or_database_engines_are_refused(made: Path) -> None:
    whole = made.read_bytes()
    later = [["projects", "9999_from_the_future"]]
    refused(rewritten(made, lambda held: in_manifest(held, migrations=later)), "newer version.*9999_from_the_future")
    made.write_bytes(whole)
    early = [["projects", "0001_initial"]]
    refused(rewritten(made, lambda held: in_manifest(held, migrations=early)), "too old.*Restore it with commit")
    made.write_bytes(whole)
    refused(rewritten(made, lambda held: in_manifest(held, engine="oracle")), "is from oracle")
    made.write_bytes(whole)
    refused(rewritten(made, lambda held: in_manifest(held, format=2)), "has format 2")


def test_a_full_disk_leaves_no_half_backup(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: object, path: Path, name: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("operations.backups.archive.Writer.add", full)
    with pytest.raises(CommandError, match="No space left on device"):
        call_command("backup", out=made.parent / "second.tar.gz")
    assert [p.name for p in made.parent.iterdir() if "second" in p.name or p.name.startswith(".")] == []


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite needs no program")
def test_a_missing_program_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(CommandError, match=r"pg_dump is not installed.*postgresql-client"):
        call_command("backup", out=tmp_path / "a.tar.gz")
