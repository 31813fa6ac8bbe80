"""Downloads of a release are unchanged files, or are not served."""

import hashlib
import io
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import patch

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from rest_framework.test import APIClient

from accounts.models import User
from audit import triggers
from projects.models import Project
from releases.folders import folder as folders
from releases.models import Release
from releases.publishing.actions import freeze
from releases.storage import downloads
from releases.storage.registry import folder_of
from tests.annotation.m3_files import cluster, import_records, write
from tests.releases.tampering import flip_gold
from tests.releases.test_folders import take

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]


@pytest.fixture
def release(project: Project, lead: User, tmp_path: Path) -> Release:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster(f"26258610_{n}") for n in range(40)]))
    # The snapshot needs its own transaction, and a test already is in one.
    with patch("releases.publishing.actions.snapshot", nullcontext):
        return freeze(project=project, version="1.0.0", by=lead)


@pytest.fixture
def get(release: Release, lead: User, client_of: Client) -> Callable[[str], tuple[int, bytes]]:
    """Return status and complete body of a download."""

    def get(address: str) -> tuple[int, bytes]:
        reply = client_of(lead).get(f"/api/v1/releases/{release.pk}/{address}")
        return reply.status_code, b"".join(reply.streaming_content) if reply.streaming else reply.content  # type: ignore[attr-defined]

    return get


Get = Callable[[str], tuple[int, bytes]]
LEVEL3 = "m3/level3.jsonl"


def same_size_and_age(path: Path, forged: bytes) -> None:
    """Change a file keeping size and time."""
    info = path.stat()
    assert len(forged) == info.st_size
    path.write_bytes(forged)
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def one_byte(path: Path) -> None:
    whole = path.read_bytes()
    same_size_and_age(path, whole[:-2] + bytes([whole[-2] ^ 1]) + whole[-1:])


@pytest.mark.row(64)
def test_every_file_is_served_as_it_was_frozen_with_its_size(release: Release, get: Get) -> None:
    for entry in release.manifest["files"]:
        status, body = get(f"files/{entry['path']}")
        assert (status, hashlib.sha256(body).hexdigest()) == (200, entry["sha256"])
    assert get("files/manifest.json") == (200, (folder_of(release) / "manifest.json").read_bytes())


@pytest.mark.row(64)
def test_an_altered_file_is_served_neither_alone_nor_in_the_archive(
    release: Release, get: Get, caplog: pytest.LogCaptureFixture
) -> None:
    one_byte(folder_of(release) / LEVEL3)
    for address in (f"files/{LEVEL3}", "archive/"):
        status, body = get(address)
        assert (status, b"release-altered" in body) == (409, True)
        assert b"m3/level3.jsonl: the SHA-256 differs from the manifest" in body
    assert get("files/LICENSE")[0] == 200, "what is whole is served"
    assert f"Release {release.pk}, kept in {release.folder}, was altered" in caplog.text


@pytest.mark.row(64)
def test_a_completely_altered_folder_is_not_served(release: Release, get: Get) -> None:
    flip_gold(folder_of(release))
    for address in (f"files/{LEVEL3}", "files/LICENSE", "files/manifest.json", "files/nothing", "archive/"):
        status, body = get(address)
        assert (status, b"the digest is" in body) == (409, True), address


@pytest.mark.row(64)
def test_a_release_altered_together_with_its_row_is_not_served(release: Release, get: Get) -> None:
    made = flip_gold(folder_of(release))
    with transaction.atomic(), triggers.suspend_triggers(connection):
        Release.objects.update(manifest=made, snapshot_hash=made["snapshot"])
    for address in (f"files/{LEVEL3}", "archive/"):
        status, body = get(address)
        assert (status, b"audit log, release 1.0.0: the snapshot hash is" in body) == (409, True)


def test_missing_files_links_and_pipes_are_not_waited_for(release: Release, get: Get, tmp_path: Path) -> None:
    path = folder_of(release) / LEVEL3
    path.rename(tmp_path / "elsewhere")
    assert (get(f"files/{LEVEL3}")[0], b"m3/level3.jsonl: missing" in get("archive/")[1]) == (409, True)
    path.symlink_to(tmp_path / "elsewhere")
    assert b"cannot be read (a link)" in get(f"files/{LEVEL3}")[1]
    path.unlink()
    os.mkfifo(path)
    assert b"cannot be read (not a regular file)" in get(f"files/{LEVEL3}")[1]


def test_an_extra_file_in_the_folder_is_neither_served_nor_archived(release: Release, get: Get) -> None:
    (folder_of(release) / "extra.txt").write_text("x")
    assert get("files/extra.txt")[0] == 404
    with zipfile.ZipFile(io.BytesIO(get("archive/")[1])) as archive:
        assert "eye-1.0.0/extra.txt" not in archive.namelist()


@pytest.mark.row(64)
def test_a_download_aborts_if_the_file_is_altered_meanwhile(
    release: Release, lead: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "CHUNK", 1000)
    path = folder_of(release) / LEVEL3
    reply = client_of(lead).get(f"/api/v1/releases/{release.pk}/files/{LEVEL3}")
    size, taken = int(reply["Content-Length"]), bytearray()
    assert (reply.status_code, size) == (200, path.stat().st_size)
    one_byte(path)
    with pytest.raises(folders.Altered):
        take(reply.streaming_content, taken.extend)  # type: ignore[attr-defined]
    assert 0 < len(taken) < size


@pytest.mark.row(64)
def test_an_archive_of_files_altered_meanwhile_cannot_be_opened(
    release: Release, lead: User, client_of: Client
) -> None:
    reply, taken = client_of(lead).get(f"/api/v1/releases/{release.pk}/archive/"), bytearray()
    one_byte(folder_of(release) / "statistics.json")
    with pytest.raises(folders.Altered):
        take(reply.streaming_content, taken.extend)  # type: ignore[attr-defined]
    assert taken
    with pytest.raises(zipfile.BadZipFile):
        zipfile.ZipFile(io.BytesIO(taken))


def test_a_release_is_not_compared_with_an_altered_one(
    release: Release, project: Project, lead: User, client_of: Client
) -> None:
    project.citation = "Doe 2026"
    project.save()
    with patch("releases.publishing.actions.snapshot", nullcontext):
        newer = freeze(project=project, version="1.1.0", by=lead)
    client, address = client_of(lead), f"/api/v1/releases/{newer.pk}/difference/"
    files = {f["path"]: f["changed"] for f in client.get(address).json()["files"]}
    assert (files["CITATION.cff"], files[LEVEL3]) == (1, 0)
    one_byte(folder_of(release) / "CITATION.cff")
    assert client.get(address).json()["type"] == "/problems/release-altered"


def test_the_command_copies_no_altered_release(release: Release, tmp_path: Path) -> None:
    downloads.copy(release, tmp_path / "copy")
    assert folders.inspect(tmp_path / "copy").findings == []
    one_byte(folder_of(release) / LEVEL3)
    with patch("releases.publishing.actions.snapshot", nullcontext), pytest.raises(CommandError, match="not served"):
        call_command("release", project="eye", release="1.0.0", out=tmp_path / "again", stdout=io.StringIO())
    assert not (tmp_path / "again").exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


def test_extra_files_in_a_release_folder_are_not_copied(release: Release, tmp_path: Path) -> None:
    (folder_of(release) / "extra").symlink_to("/etc")
    downloads.copy(release, tmp_path / "copy")
    assert not (tmp_path / "copy" / "extra").is_symlink()


def test_a_large_file_is_served_in_pieces(release: Release, get: Get, monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive sent in pieces has the same bytes."""
    whole = get("archive/")[1]
    monkeypatch.setattr(folders, "CHUNK", 100)
    assert get("archive/")[1] == whole
    assert get(f"files/{LEVEL3}")[1] == (folder_of(release) / LEVEL3).read_bytes()


def test_a_lost_release_folder_is_reported(release: Release, get: Get) -> None:
    shutil.rmtree(folder_of(release))
    assert (get("archive/")[0], b"manifest.json: missing" in get("archive/")[1]) == (409, True)
