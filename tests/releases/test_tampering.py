"""Changes of any file at any byte, including the manifest, are found; the row of a release is kept."""

import hashlib
import json
import random
import subprocess
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from accounts.models import User
from annotation.models import Study
from projects.models import Project
from releases.folders import manifest
from releases.folders.folder import inspect
from releases.models import Release
from releases.publishing.actions import freeze, write_release
from releases.storage.registry import folder_of
from tests.annotation.m3_files import cluster, import_records, plain, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    return project


@pytest.fixture
def folder(corpus: Project, tmp_path: Path) -> Path:
    write_release(project=corpus, version="1.0.0", out=tmp_path / "r")
    return tmp_path / "r"


@pytest.mark.row(33)
def test_one_flipped_bit_is_found_in_every_file_and_at_every_byte_of_the_manifest(folder: Path) -> None:
    dice = random.Random(7)
    assert inspect(folder).findings == []
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        whole = path.read_bytes()
        places = range(len(whole)) if path.name == manifest.NAME else [dice.randrange(len(whole)) for _ in range(5)]
        for place in places:
            path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << dice.randrange(8)]) + whole[place + 1 :])
            assert any(f.startswith(path.relative_to(folder).as_posix()) for f in inspect(folder).findings), place
        path.write_bytes(whole)
    assert inspect(folder).findings == []


@pytest.mark.row(33)
def test_the_hashes_can_be_checked_without_concord(folder: Path) -> None:
    check = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    assert subprocess.run(check, cwd=folder, check=False).returncode == 0
    made = json.loads((folder / "manifest.json").read_text())
    assert made["snapshot"] == hashlib.sha256((folder / "SHA256SUMS").read_bytes()).hexdigest()
    (folder / "LICENSE").write_text("Free for all.\n")
    assert subprocess.run(check, cwd=folder, check=False, capture_output=True).returncode == 1


def test_links_in_a_release_folder_are_found(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    (folder / "LICENSE").rename(kept)
    (folder / "LICENSE").symlink_to(kept)
    (folder / "more").symlink_to(tmp_path)
    assert sorted(f.split(":")[0] for f in inspect(folder).findings) == ["LICENSE", "more"]


def test_a_manifest_that_points_outside_its_folder_is_refused(folder: Path) -> None:
    path = folder / "manifest.json"
    made = json.loads(path.read_text())
    made["files"][0]["path"] = "../level3.jsonl"
    path.write_bytes(manifest.as_bytes(manifest.with_digest(made)))
    assert "../level3.jsonl: invalid path for a release" in inspect(folder).findings


def test_the_row_of_a_release_cannot_be_changed_or_deleted(corpus: Project, lead: User) -> None:
    release = freeze(project=corpus, version="1.0.0", by=lead)
    for act in (lambda: Release.objects.update(version="2.0.0"), lambda: Release.objects.all().delete()):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            act()
    assert Release.objects.get().version == "1.0.0"
    assert inspect(folder_of(release)).findings == []


def test_the_manifest_counts_the_rows_that_the_files_have(folder: Path) -> None:
    files = {f["path"]: f["rows"] for f in json.loads((folder / "manifest.json").read_text())["files"]}
    assert files["m3/level3.jsonl"] == len((folder / "m3" / "level3.jsonl").read_bytes().splitlines()) == 2
    assert files["provenance/values.csv"] == 18
    assert files["README.md"] is None


@pytest.mark.parametrize("abstracts", [{}, {"111": "Another abstract.", "222": " Second  text"}])
def test_levels_1_and_2_come_back_byte_for_byte(project: Project, tmp_path: Path, abstracts: dict[str, str]) -> None:
    for pmid, abstract in abstracts.items():
        Study.objects.create(project=project, pmid=pmid, abstract=abstract)
    odd = '\u2028 Ärzte \U0001f600 \\ " '
    one = write(tmp_path / "1", [plain("26258610", f"Whole{odd}", ("111", "First."), ("222", " Second  text"))])
    two = write(tmp_path / "2", [plain("26258610_1", "B.", ("111", odd)), plain("26258610_0", "A.", ("111", "x"))])
    import_records(project, one)
    import_records(project, two)
    made = write_release(project=project, version="1.0.0", out=tmp_path / "r")
    assert (tmp_path / "r" / "m3" / "level1.jsonl").read_bytes() == (tmp_path / "1").read_bytes()
    assert (tmp_path / "r" / "m3" / "level2.jsonl").read_bytes() == (tmp_path / "2").read_bytes()
    assert not (tmp_path / "r" / "m3" / "level3.jsonl").exists()
    assert {f["path"] for f in made["files"]} > {"README.md", "LICENSE", "CITATION.cff", "statistics.json"}
    levels = {r["level"]: r for r in json.loads((tmp_path / "r" / "statistics.json").read_text())["levels"]}
    assert (levels["sentence"]["targets"], levels["document"]["inputs"]) == (2, 2)
