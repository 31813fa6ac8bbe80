"""Comparing recomputed with printed figures, and reading files of a release."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from measures.recompute.files import MAX_LISTED, Findings, Folder, InvalidRelease


def found(printed: Any, again: Any) -> tuple[list[str], int]:
    """Return (differences, number of equal figures)."""
    findings = Findings()
    findings.compare("f.json", "it", printed, again)
    return findings.differences, findings.equal["f.json"]


def test_figures_are_the_same_up_to_the_last_digits_and_everything_else_exactly() -> None:
    printed = {"n": 3, "mean": {"value": 0.1, "ci": [0.0, 1]}, "why": "", "few": True, "none": None}
    again = {"n": 3, "mean": {"value": 0.1 + 1e-13, "ci": (1e-15, 1.0)}, "why": "", "few": True, "none": None}
    assert found(printed, again) == ([], 4)


@pytest.mark.parametrize(
    ("printed", "again", "told"),
    [
        ({"n": 3}, {"n": 4}, "it, n: printed 3, recomputed 4"),
        (
            {"a": [{"name": "x", "v": 0.5}]},
            {"a": [{"name": "x", "v": 0.5001}]},
            "it, a, x, v: printed 0.5, recomputed 0.5001",
        ),
        ({"a": [1, 2]}, {"a": [1]}, "it, a, length: printed 2, recomputed 1"),
        ({"a": 1}, {}, "it, a: printed 1, recomputed nothing"),
        ({}, {"a": None}, "it, a: printed nothing, recomputed None"),
        ({"a": None}, {"a": 0}, "it, a: printed None, recomputed 0"),
        ({"a": True}, {"a": 1}, "it, a: printed True, recomputed 1"),
        ({"a": "1"}, {"a": 1}, "it, a: printed '1', recomputed 1"),
        ({"a": {}}, {"a": 1}, "it, a: printed {}, recomputed 1"),
        ({"a": float("nan")}, {"a": 0.0}, "it, a: printed nan, recomputed 0.0"),
        ({"a": "x" * 100}, {"a": "y"}, f"it, a: printed 'x{'x' * 75}..., recomputed 'y'"),
    ],
)
def test_each_difference_is_named_by_its_place(printed: Any, again: Any, told: str) -> None:
    assert found(printed, again)[0] == [f"f.json: {told}"]


def test_the_first_of_many_differences_are_listed_and_all_are_counted() -> None:
    findings = Findings()
    findings.compare("f.json", "it", list(range(MAX_LISTED + 50)), list(range(1, MAX_LISTED + 51)))
    assert (len(findings.differences), findings.unlisted, findings.count) == (MAX_LISTED, 50, MAX_LISTED + 50)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = [{"path": name} for name in ("rows.csv", "rows.jsonl", "gone.csv")]
    (tmp_path / "manifest.json").write_text(json.dumps({"project": "eye", "version": "1.0.0", "files": files}))
    return tmp_path


def test_rows_come_back_as_they_were_written(folder: Path) -> None:
    (folder / "rows.csv").write_bytes('a,b\n1,"x\r\ny, ""z"""\n2,\u2028\n'.encode())
    (folder / "rows.jsonl").write_bytes('{"a": "\u2028\u0085"}\n{"a": 2}\n'.encode())
    there = Folder(folder)
    assert list(there.rows("rows.csv")) == [{"a": "1", "b": 'x\r\ny, "z"'}, {"a": "2", "b": "\u2028"}]
    assert list(there.lines("rows.jsonl")) == [{"a": "\u2028\u0085"}, {"a": 2}]
    assert (list(there.rows("other.csv")), list(there.lines("other.jsonl"))) == ([], [])


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"a,b\n1,2,3\n", b'a\n"1', b"a\n\xff\n"])
def test_files_without_a_table_are_refused(folder: Path, content: bytes) -> None:
    (folder / "rows.csv").write_bytes(content)
    with pytest.raises(InvalidRelease, match=r"^rows\.csv: not a UTF-8 CSV"):
        list(Folder(folder).rows("rows.csv"))


@pytest.mark.parametrize("content", [b"{", b"[1]\n", b"\xff\n", b"[" * 100_000])
def test_invalid_json_lines_are_refused(folder: Path, content: bytes) -> None:
    (folder / "rows.jsonl").write_bytes(content)
    with pytest.raises(InvalidRelease, match=r"^rows\.jsonl: a line is not a JSON object"):
        list(Folder(folder).lines("rows.jsonl"))


@pytest.mark.parametrize("content", ["", "[]", '{"project": "eye"}', '{"project": 1, "version": 2, "files": [3]}'])
def test_invalid_manifests_are_refused(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    with pytest.raises(InvalidRelease, match="not a manifest of a release"):
        Folder(folder)


def test_a_listed_file_that_is_missing_is_an_error(folder: Path) -> None:
    with pytest.raises(InvalidRelease, match=r"^gone\.csv: cannot be read"):
        list(Folder(folder).rows("gone.csv"))


def test_reading_a_release_keeps_the_csv_field_limit_of_the_process(tmp_path: Path) -> None:
    """Imports of the same process still refuse cells that are too long."""
    before = csv.field_size_limit()
    (tmp_path / "manifest.json").write_text(json.dumps({"project": "p", "version": "1.0.0", "files": []}))
    assert Folder(tmp_path).name == "p 1.0.0"
    assert csv.field_size_limit() == before
