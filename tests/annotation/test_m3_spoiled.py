"""The published level 3 with one fault is refused as a whole, with the line."""

import json
from pathlib import Path

import pytest

from annotation.models import Review
from api.problems import Problem
from projects.models import Import, Project, Unit
from tests.annotation.m3_files import LEVEL3, as_bytes, checked, import_records, published, write

pytestmark = [published, pytest.mark.django_db]


@pytest.fixture(scope="module")
def content() -> bytes:
    return LEVEL3.read_bytes()


def broken(lines: list[bytes]) -> None:
    lines[199] = lines[199].replace(b'", "', b'" "', 1)


def duplicate(lines: list[bytes]) -> None:
    lines[299] = lines[9]


def unknown_polarity(lines: list[bytes]) -> None:
    lines[199] = as_bytes([json.loads(lines[199]) | {"target_direction": "better"}])


def wrong_type(lines: list[bytes]) -> None:
    record = json.loads(lines[199])
    record["input_studies"][0]["source_pmid"] = 123
    lines[199] = as_bytes([record])


def latin_1(lines: list[bytes]) -> None:
    record = json.loads(lines[199]) | {"target_text": "Café"}
    lines[199] = json.dumps(record, ensure_ascii=False).encode("latin-1", "replace") + b"\n"


def truncated(lines: list[bytes]) -> None:
    lines[-1] = lines[-1][: len(lines[-1]) // 2]


def emptied(lines: list[bytes]) -> None:
    lines.clear()


@pytest.mark.parametrize(
    ("spoil", "line", "field"),
    [
        (broken, 200, None),
        (duplicate, 300, "docid"),
        (unknown_polarity, 200, "target_direction"),
        (wrong_type, 200, "input_studies[0].source_pmid"),
        (latin_1, 200, "target_text"),
        (truncated, 381, None),
        (emptied, 1, "file"),
    ],
)
def test_a_spoiled_copy_of_a_file_is_refused_completely(
    project: Project, file: Path, content: bytes, spoil: object, line: int, field: str | None
) -> None:
    lines = content.splitlines(keepends=True)
    spoil(lines)  # type: ignore[operator]
    source = write(file, b"".join(lines))
    found = checked(project, source)
    assert found.faults.listed[0].line == line
    assert {f.line for f in found.faults} == {line}
    assert found.faults.listed[0].field == field or (field is None and found.faults.listed[0].field)
    with pytest.raises(Problem):
        import_records(project, source)
    assert not any(rows.objects.exists() for rows in (Unit, Import, Review))
