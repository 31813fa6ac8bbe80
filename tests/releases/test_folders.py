"""Verifying a downloaded folder: only listed files pass."""

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from releases.folders import folder as folders
from releases.folders import manifest
from tests.releases.tampering import rewrite_manifest

FIRST = Path(__file__).parent / "first_release"
DIGEST = "0a4849c1b91b86ca0b9cfea53e90ece86d94e63f9c76c5f0df494a7c3233ae26"
Body = dict[str, Any]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A release in the first version of the format."""
    return Path(shutil.copytree(FIRST, tmp_path / "r"))


def found(folder: Path) -> list[str]:
    return folders.inspect(folder).findings


def test_a_release_from_an_older_concord_still_verifies(folder: Path) -> None:
    report = folders.inspect(folder)
    assert report.findings == []
    assert report.manifest is not None
    assert (report.manifest.digest, report.manifest.body["digest"]) == (DIGEST, DIGEST)
    assert report.checked == ["Size and SHA-256 of 8 files match manifest.json, and the folder contains nothing else."]


def test_a_rewritten_release_is_consistent_but_has_another_digest(folder: Path) -> None:
    (folder / "LICENSE").write_text("Free for all.\n")
    rewrite_manifest(folder)
    report = folders.inspect(folder)
    assert report.findings == []
    assert report.manifest is not None
    assert report.manifest.digest != DIGEST


def add_file(folder: Path) -> None:
    (folder / "m3" / "more.jsonl").write_text("{}\n")


def empty_folder(folder: Path) -> None:
    (folder / "extra").mkdir()


def empty_folders_in_folders(folder: Path) -> None:
    (folder / "extra" / "deep").mkdir(parents=True)


def link_beside(folder: Path) -> None:
    (folder / "extra").symlink_to("/etc/passwd")


def link_to_a_folder(folder: Path) -> None:
    (folder / "extra").symlink_to(folder.parent)


def link_to_nothing(folder: Path) -> None:
    (folder / "extra").symlink_to("nowhere")


def link_in_place_of_a_file(folder: Path) -> None:
    (folder / "LICENSE").rename(folder.parent / "kept")
    (folder / "LICENSE").symlink_to(folder.parent / "kept")


def link_in_place_of_a_folder(folder: Path) -> None:
    (folder / "m3").rename(folder.parent / "m3")
    (folder / "m3").symlink_to(folder.parent / "m3")


def hard_link_to_outside(folder: Path) -> None:
    os.link(folder / "LICENSE", folder.parent / "other")


def pipe_beside(folder: Path) -> None:
    os.mkfifo(folder / "extra")


def pipe_in_place_of_a_file(folder: Path) -> None:
    (folder / "LICENSE").unlink()
    os.mkfifo(folder / "LICENSE")


def folder_in_place_of_a_file(folder: Path) -> None:
    (folder / "LICENSE").unlink()
    (folder / "LICENSE").mkdir()


def other_capitals(folder: Path) -> None:
    (folder / "LICENSE").rename(folder / "License")


def missing(folder: Path) -> None:
    (folder / "m3" / "level3.jsonl").unlink()


def shorter(folder: Path) -> None:
    (folder / "LICENSE").write_text("")


def name_that_breaks_lines(folder: Path) -> None:
    (folder / "LICENSE\nREADME.md: fine").touch()


def name_that_turns_letters_round(folder: Path) -> None:
    (folder / "m3" / "\u202elnosj.3level").touch()


def name_that_is_no_text(folder: Path) -> None:
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff"))).touch()


def name_with_a_letter_that_looks_alike(folder: Path) -> None:
    (folder / "m3" / "l\u0435vel3.jsonl").touch()


@pytest.mark.parametrize(
    ("done", "said"),
    [
        (add_file, ["m3/more.jsonl: a file, not in the manifest"]),
        (empty_folder, ["extra: an empty folder, not in the manifest"]),
        (empty_folders_in_folders, ["extra/deep: an empty folder, not in the manifest"]),
        (link_beside, ["extra: a link, not in the manifest"]),
        (link_to_a_folder, ["extra: a link, not in the manifest"]),
        (link_to_nothing, ["extra: a link, not in the manifest"]),
        (link_in_place_of_a_file, ["LICENSE: a link, the manifest lists a file"]),
        (link_in_place_of_a_folder, ["m3: a link, not in the manifest", "m3/level3.jsonl: missing"]),
        (pipe_beside, ["extra: not a regular file, not in the manifest"]),
        (pipe_in_place_of_a_file, ["LICENSE: not a regular file, the manifest lists a file"]),
        (folder_in_place_of_a_file, ["LICENSE: a folder, the manifest lists a file"]),
        (other_capitals, ["License: a file, not in the manifest", "LICENSE: missing"]),
        (missing, ["m3/level3.jsonl: missing"]),
        (shorter, ["LICENSE: 0 bytes; the manifest states 119"]),
        (name_that_breaks_lines, [r"'LICENSE\nREADME.md: fine': a file, not in the manifest"]),
        (name_that_turns_letters_round, [r"'m3/\u202elnosj.3level': a file, not in the manifest"]),
        (name_that_is_no_text, [r"'\udcff': a file, not in the manifest"]),
        (name_with_a_letter_that_looks_alike, [r"'m3/l\u0435vel3.jsonl': a file, not in the manifest"]),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
@pytest.mark.row(33)
def test_foreign_files_are_found_by_name(folder: Path, done: Callable[[Path], None], said: list[str]) -> None:
    done(folder)
    assert found(folder) == said


def test_a_hard_link_to_a_file_outside_the_release_is_found(folder: Path) -> None:
    hard_link_to_outside(folder)
    [said] = found(folder)
    assert said.startswith("LICENSE: has a hard link outside this folder")
    assert found(Path(shutil.copytree(folder, folder.parent / "copy"))) == []


def test_a_socket_in_a_release_folder_is_a_finding(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("extra")
    assert found(folder) == ["extra: not a regular file, not in the manifest"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_may_not_be_read_is_a_finding(folder: Path) -> None:
    (folder / "m3").chmod(0)
    assert found(folder) == ["m3: cannot be read (Permission denied)", "m3/level3.jsonl: missing"]
    (folder / "m3").chmod(0o755)


def test_a_million_extra_files_do_not_fill_memory(folder: Path) -> None:
    for n in range(folders.MOST + 5):
        (folder / f"extra{n}").touch()
    report = folders.inspect(folder)
    assert (len(report.findings), report.more, report.count) == (folders.MOST, 5, folders.MOST + 5)


def test_a_folder_without_a_manifest_or_with_a_link_for_one_is_no_release(folder: Path) -> None:
    (folder / "manifest.json").rename(folder.parent / "manifest.json")
    assert found(folder) == ["manifest.json: missing"]
    (folder / "manifest.json").symlink_to(folder.parent / "manifest.json")
    assert found(folder) == ["manifest.json: cannot be read (a link)"]
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    assert found(folder) == ["manifest.json: cannot be read (not a regular file)"]


def first(body: Body, **fields: Any) -> None:
    body["files"][0].update(fields)


def again(body: Body, **fields: Any) -> None:
    body["files"].append(body["files"][0] | fields)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda b: first(b, path="../x"), "../x: invalid path for a release"),
        (lambda b: first(b, path="/etc/passwd"), "/etc/passwd: invalid path for a release"),
        (lambda b: first(b, path="m3/../LICENSE"), "m3/../LICENSE: invalid path for a release"),
        (lambda b: first(b, path="m3//x"), "m3//x: invalid path for a release"),
        (lambda b: first(b, path="./LICENSE"), "./LICENSE: invalid path for a release"),
        (lambda b: first(b, path=""), ": invalid path for a release"),
        (lambda b: first(b, path="C:\\x"), "C:\\x: invalid path for a release"),
        (lambda b: first(b, path="x\n"), r"'x\n': invalid path for a release"),
        (lambda b: first(b, path="\u00e4"), r"'\xe4': invalid path for a release"),
        (lambda b: first(b, path="x\0y"), r"'x\x00y': invalid path for a release"),
        (lambda b: first(b, path="x" * 300), "x" * 300 + ": invalid path for a release"),
        (lambda b: first(b, path="manifest.json"), "manifest.json: invalid path for a release"),
        (lambda b: first(b, path=7), "manifest.json: the path of file 1 is not text; the file was changed"),
        (
            lambda b: first(b, size="340"),
            "manifest.json: the size of CITATION.cff is not a whole number; the file was changed",
        ),
        (
            lambda b: first(b, size=340.0),
            "manifest.json: the size of CITATION.cff is not a whole number; the file was changed",
        ),
        (
            lambda b: first(b, size=True),
            "manifest.json: the size of CITATION.cff is not a whole number; the file was changed",
        ),
        (
            lambda b: first(b, size=-1),
            "manifest.json: the size of CITATION.cff is not a whole number; the file was changed",
        ),
        (
            lambda b: first(b, rows="2"),
            "manifest.json: the number of rows of CITATION.cff is not a whole number; the file was changed",
        ),
        (
            lambda b: first(b, sha256="A" * 64),
            "manifest.json: the SHA-256 of CITATION.cff is not a SHA-256; the file was changed",
        ),
        (
            lambda b: first(b, sha256=None),
            "manifest.json: the SHA-256 of CITATION.cff is not a SHA-256; the file was changed",
        ),
        (lambda b: again(b), "manifest.json: CITATION.cff is listed 2 times, ignoring case"),
        (
            lambda b: again(b, path="citation.cff"),
            "manifest.json: CITATION.cff and citation.cff is listed 2 times, ignoring case",
        ),
        (lambda b: b.update(files={}), "manifest.json: files is not a list of objects; the file was changed"),
        (lambda b: b.update(files=["LICENSE"]), "manifest.json: files is not a list of objects; the file was changed"),
        (lambda b: b.update(version=1), "manifest.json: version is not text; the file was changed"),
        (lambda b: b.pop("project"), "manifest.json: project is not text; the file was changed"),
        (lambda b: b.update(snapshot="0" * 64), "manifest.json: the snapshot hash does not match the listed files"),
    ],
)
@pytest.mark.row(33)
def test_a_false_manifest_is_found_although_its_digest_matches(
    folder: Path, change: Callable[[Body], None], said: str
) -> None:
    rewrite_manifest(folder, change)
    assert said in found(folder)


def test_sums_that_are_not_the_list_of_the_files_are_found(folder: Path) -> None:
    """Otherwise sha256sum would check less than the manifest lists."""
    sums = b"\n".join((folder / "SHA256SUMS").read_bytes().splitlines()[1:]) + b"\n"

    def fewer(body: Body) -> None:
        entry = next(e for e in body["files"] if e["path"] == "SHA256SUMS")
        entry.update(size=len(sums), sha256=hashlib.sha256(sums).hexdigest())

    rewrite_manifest(folder, fewer)
    (folder / "SHA256SUMS").write_bytes(sums)
    assert found(folder) == ["manifest.json: the listed hash of SHA256SUMS does not match the listed files"]


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"null", b"{", b"\xff\xfe", b'{"a": NaN}', b"[" * 100_000, b'{"files": ' + b"9" * 5000 + b"}"],
    ids=["empty", "list", "null", "half", "bytes", "nan", "deep", "digits"],
)
def test_an_invalid_manifest_is_one_finding(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    [said] = found(folder)
    assert said.startswith("manifest.json: ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"project": "eye"', b'"project": "other", "project": "eye"'),
        (b'"name": "Eye"', b'"name":  "Eye"'),
        (b'"name": "Eye"', b'"name": "\\u0045ye"'),
        (b'"illustrative": false', b'"illustrative": false, "more": NaN'),
        (b'"name": "Eye"', b'"name": "\\ud800"'),
        (b"}\n", b"}"),
        (b"}\n", b"}\n\n"),
    ],
)
def test_a_manifest_written_otherwise_is_found_whatever_it_says(folder: Path, old: bytes, new: bytes) -> None:
    path = folder / "manifest.json"
    whole = path.read_bytes()
    at = whole.rindex(old)
    path.write_bytes(whole[:at] + new + whole[at + len(old) :])
    assert len(found(folder)) == 1


def test_a_manifest_of_two_hundred_megabytes_is_not_read(folder: Path) -> None:
    with (folder / "manifest.json").open("r+b") as file:
        file.truncate(200 << 20)
    assert found(folder) == ["manifest.json: too large for a manifest"]


def take(pieces: Iterable[bytes], each: Callable[[bytes], object]) -> None:
    for piece in pieces:
        each(piece)


def test_the_last_piece_of_a_file_comes_only_when_the_whole_file_fits(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "CHUNK", 1000)
    entry = next(e for e in folders.read(folder).entries if e.path == "statistics.json")
    path = folder / entry.path
    whole = path.read_bytes()
    assert b"".join(folders.checked(folder, entry)) == whole
    path.write_bytes(whole[:-2] + b"X\n")
    taken: list[bytes] = []
    with pytest.raises(folders.Altered, match=r"statistics\.json: the SHA-256"):
        take(folders.checked(folder, entry), taken.append)
    assert sum(map(len, taken)) < len(whole)


def test_reading_a_growing_file_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "CHUNK", 100)
    entry = next(e for e in folders.read(folder).entries if e.path == "LICENSE")
    taken: list[bytes] = []
    with (folder / "LICENSE").open("ab", buffering=0) as file:

        def one_more(piece: bytes) -> None:
            taken.append(piece)
            file.write(b"x" * 1000)

        with pytest.raises(folders.Altered):
            take(folders.checked(folder, entry), one_more)
    assert len(taken) < 5


def test_two_files_that_swapped_their_names_are_found(folder: Path) -> None:
    (folder / "LICENSE").rename(folder / "x")
    (folder / "README.md").rename(folder / "LICENSE")
    (folder / "x").rename(folder / "README.md")
    assert [said.split(":")[0] for said in found(folder)] == ["LICENSE", "README.md"]


def test_the_manifest_of_the_first_release_reads_as_it_was_written(folder: Path) -> None:
    body = json.loads((folder / "manifest.json").read_text())
    assert manifest.as_bytes(manifest.with_digest(body)) == (folder / "manifest.json").read_bytes()
