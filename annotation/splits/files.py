"""Read the file of a split: a CSV table or JSON lines with a unit or review, and its part."""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from projects.models import Project
from projects.uploads.faults import Faults

from .levels import LEVELS
from .parameters import PART

#: Files of a million units are below this.
LARGEST = 64 << 20
#: Columns that identify a row, by preference.
KEYS = ("unit", "docid", "review")
#: Columns that have the part.
PARTS = ("part", "split")


def read_parts(project: Project, level: str, path: Path, name: str) -> tuple[dict[str, str], Faults]:
    """Return the part of each unit of a level by its key, and the faults of the file by line and field.

    A row of a review is for all its units. An empty part means none.
    """
    faults = Faults()
    units = {row.key: row.review for row in LEVELS[level].rows(project)}
    of_review: dict[str, list[str]] = {}
    for unit, review in units.items():
        of_review.setdefault(review, []).append(unit)
    parts: dict[str, str] = {}
    met: dict[str, int] = {}
    for line, row in _rows(path, name, faults):
        key_field = next((field for field in KEYS if field in row), "")
        part_field = next((field for field in PARTS if field in row), "")
        if not key_field or not part_field:
            missing = PARTS[0] if key_field else KEYS[0]
            faults.add(name, line, missing, "missing")
            continue
        key, part = row[key_field].strip(), row[part_field].strip()
        known = of_review.get(key, []) if key_field == "review" else [key] if key in units else []
        if not known:
            faults.add(name, line, key_field, f"{key!r} is not a {_noun(key_field, level)} of this project")
        elif key in met:
            faults.add(name, line, key_field, f"{key!r} is already in line {met[key]}")
        elif part and not PART.fullmatch(part):
            faults.add(name, line, part_field, f"{part!r} is not a name of a part: use letters, digits and _")
        else:
            met[key] = line
            parts |= dict.fromkeys(known, part)
    if not met and not faults:
        faults.add(name, 0, "file", "the file has no rows")
    return {unit: part for unit, part in parts.items() if part}, faults


def _noun(field: str, level: str) -> str:
    if field == "review":
        return "question" if level == "question" else "review"
    return f"unit of the level {level}"


def _rows(path: Path, name: str, faults: Faults) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the line and the cells of each row that can be read."""
    if path.stat().st_size > LARGEST:
        faults.add(name, 0, "file", f"larger than {LARGEST >> 20} MB")
        return
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        faults.add(name, 0, "file", f"not UTF-8 text (byte {error.start})")
        return
    yield from _json_lines(text, name, faults) if text.lstrip().startswith("{") else _csv(text, name, faults)


def _json_lines(text: str, name: str, faults: Faults) -> Iterator[tuple[int, Mapping[str, str]]]:
    for line, content in enumerate(text.splitlines(), 1):
        if not content.strip():
            continue
        try:
            row: Any = json.loads(content)
        except (ValueError, RecursionError):
            faults.add(name, line, "line", "not valid JSON")
            continue
        if not isinstance(row, dict):
            faults.add(name, line, "line", "expected an object")
            continue
        yield line, {str(key): value if isinstance(value, str) else json.dumps(value) for key, value in row.items()}


def _csv(text: str, name: str, faults: Faults) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        head = [cell.strip() for cell in next(reader, [])]
        for expected in (KEYS, PARTS):
            if not set(expected) & set(head):
                faults.add(name, 1, expected[0], f"expected a column {' or '.join(expected)}")
                return
        for cells in reader:
            if not any(cells):
                continue
            if len(cells) != len(head):
                faults.add(name, reader.line_num, "line", f"{len(cells)} cells; the header has {len(head)}")
                continue
            yield reader.line_num, dict(zip(head, cells, strict=True))
    except csv.Error as error:
        faults.add(name, reader.line_num, "line", f"not valid CSV: {error}")
