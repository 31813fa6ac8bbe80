"""Try a mapping on the first rows of an uploaded table."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from api.problems import Conflict, Refused
from projects.jobs.batches import silent
from projects.models import Job, Project
from projects.uploads import files
from projects.uploads.faults import Fault, Faults, Unreadable
from projects.uploads.files import Source

from ..formats.columns import Table as TableFormat
from ..formats.columns.guesses import guess_roles, guess_settings
from ..formats.columns.items import Items
from ..formats.columns.mapping import INPUT, ITEM, LEFT_OUT, ColumnMapping, Settings
from ..formats.columns.tables import Row, Table, is_parquet
from ..imports.passes import Preview
from ..imports.stream import START
from ..imports.uploads import CorpusUpload

BY_COMMAND = (
    "Parquet tables are imported by command: manage.py import_data csv FILE --map-file FILE. To choose the roles here, "
    "save the table as CSV; its mapping can be exported for the command"
)
#: Rows that are read, and shown.
ROWS, SHOWN, SHOWN_WITH_FAULTS = 1_000, 10, 50
#: Bytes that are read at most: rows of long texts are fewer.
BYTES = 4 * 2**20
#: Characters of a cell that are sent.
LONGEST_CELL = 300
ITEMS = 20
#: Faults of one column with the same message become one entry from this number on.
ALIKE = 3


@dataclass(frozen=True)
class Fix:
    """A change of the mapping that mends a fault."""

    button: str
    settings: dict[str, str]


def source_of(project: Project, job_id: int) -> tuple[Job, Source]:
    """Return the job that checked an uploaded table, and the first file. Raise `Refused` or `Conflict`."""
    job = Job.objects.filter(pk=job_id, project=project, kind=CorpusUpload.checks).first()
    if job is None or job.params.get("format") != TableFormat.key:
        raise Refused.field("job", "This project has no check of a table with this id.")
    path = files.path_of(job.params["upload"])
    if not path.exists():
        raise Conflict("This file was already imported, or the upload has expired. Upload it again.")
    return job, Source.of(path, job.params["name"])


def fitted(
    source: Source, mapping: ColumnMapping | None, *, must_fit: bool = False
) -> tuple[Table, list[Row], ColumnMapping]:
    """Return the table, its first rows, and the mapping. If it has other columns, their roles are guessed again.

    ``must_fit``: raise `Refused` if a column of the mapping is gone. Raise `Unreadable`.
    """
    if is_parquet(source):  # pyarrow is never loaded into a web process
        raise Unreadable(source.name, 1, "file", BY_COMMAND)
    settings = mapping.settings if mapping else guess_settings(source)
    table = Table(source, settings).open()
    rows = _first(table)
    if mapping and must_fit and (gone := mapping.gone(table.names)):
        names = ", ".join(column.name for column in gone)
        raise Refused.field("mapping", f"The mapping does not fit: this file has no column {names}.")
    if mapping and (must_fit or mapping.has_all(table.names)):
        return table, rows, mapping.fitted(table.names)
    guess = guess_roles(table.names, rows, settings)
    if mapping and "rows" not in mapping.guessed:
        guess = replace(guess, rows=mapping.rows, guessed=tuple(n for n in guess.guessed if n != "rows"))
    return table, rows, guess


def _first(table: Table) -> list[Row]:
    rows: list[Row] = []
    for row in islice(table.rows(START, Faults()), ROWS):
        rows.append(row)
        if _is_cut(table, rows):
            break
    return rows


def _is_cut(table: Table, rows: Sequence[Row]) -> bool:
    """Return whether there may be more rows than these, the first ones."""
    return len(rows) >= ROWS or (bool(rows) and rows[-1].end > BYTES)


def tried(project: Project, source: Source, mapping: ColumnMapping | None, *, must_fit: bool = False) -> dict[str, Any]:
    """Return the first rows of a table with a mapping: their faults, items, and what is still to be done."""
    try:
        table, rows, mapping = fitted(source, mapping, must_fit=must_fit)
    except Unreadable as unreadable:
        return _unreadable(source, mapping, list(unreadable.faults))
    # With all rows, what cannot be read at the end is a fault too.
    is_complete = not _is_cut(table, rows)
    problems = list(mapping.problems())
    if len(table.names) == 1 and mapping.settings.format == "csv":
        problems = [("", "Only one column. Check the delimiter.")]
    faults, found = Faults(), None
    if not problems:
        found = _preview(project, source, mapping, None if is_complete else len(rows), faults)
    numbers = {name: n for n, name in enumerate(table.names)}
    by_line: dict[int, dict[str, str]] = {}
    for fault in faults:
        line = max((row.line for row in rows if row.line <= fault.line), default=fault.line)
        column = fault.field if fault.field in numbers else table.names[-1]
        by_line.setdefault(line, {})[str(numbers[column])] = fault.message
    items, counts = _items(source, table, mapping, len(rows)) if found else ([], {})
    return {
        **as_lists(mapping),
        "shape": mapping.shape,
        "size": source.size,
        "rows_read": len(rows),
        "is_complete": is_complete,
        "first_rows": [_shown(row, by_line) for row in rows[:SHOWN]],
        "fault_rows": [_shown(row, by_line) for row in rows if row.line in by_line][:SHOWN_WITH_FAULTS],
        "faults": list(grouped(list(faults), mapping)),
        "faults_total": faults.total,
        "missing": [{"column": name, "message": message} for name, message in problems],
        "unconfirmed": [column.name for column in mapping.unconfirmed()],
        "counts": counts,
        "items": items,
    }


def _items(
    source: Source, table: Table, mapping: ColumnMapping, rows: int
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Return the first items that have no fault, and counts of all of them in the first rows."""
    stream = TableFormat(mapping.confirmed()).stream("")
    records = Items(mapping, table, source, Faults(), rows).records(START)
    items = [record.item for record in records if record.item is not None]
    return [stream.sample(item) for item in items[:ITEMS]], {"items": len(items), **stream.count(items)}


def _unreadable(source: Source, mapping: ColumnMapping | None, faults: list[Fault]) -> dict[str, Any]:
    try:
        mapping = mapping or ColumnMapping(guess_settings(source), ())
    except Unreadable:
        mapping = ColumnMapping(Settings(), ())
    return {
        **as_lists(replace(mapping, columns=())),
        "shape": "",
        "size": source.size,
        "rows_read": 0,
        "is_complete": True,
        "first_rows": [],
        "fault_rows": [],
        "faults": list(grouped(faults, mapping)),
        "faults_total": len(faults),
        "missing": [],
        "unconfirmed": [],
        "counts": {},
        "items": [],
    }


def _preview(project: Project, source: Source, mapping: ColumnMapping, rows: int | None, faults: Faults) -> Preview:
    stream = TableFormat(mapping.confirmed()).stream("")
    stream.most_rows = rows
    preview = Preview(project, stream, [source], faults, silent)
    preview.read()
    return preview


def _shown(row: Row, faults: dict[int, dict[str, str]]) -> dict[str, Any]:
    return {"line": row.line, "cells": [_cell(cell) for cell in row.cells], "faults": faults.get(row.line, {})}


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return f"[{len(value)}] {value[0] if value and value[0] else ''}"[:LONGEST_CELL]
    return (value or "")[:LONGEST_CELL]


def as_lists(mapping: ColumnMapping) -> dict[str, Any]:
    """Return a mapping with its columns as a list, for a page."""
    value = mapping.as_json()
    columns = [
        {
            "name": column.name,
            "role": column.role,
            "is_guessed": column.is_guessed,
            "split": column.split,
            "of": column.of,
            "form": column.form,
            "writer": column.writer,
            "kind": column.kind,
            "low": column.low,
            "high": column.high,
            "untag": column.untag,
        }
        for column in mapping.columns
    ]
    return {**value, "columns": columns}


def grouped(faults: Sequence[Fault], mapping: ColumnMapping) -> Iterator[dict[str, Any]]:
    """Yield the faults, more than `ALIKE` similar ones as one entry: the first, and their number."""
    groups: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        alike = re.sub(r'"[^"]*"|\S*\d\S*', "#", fault.message)
        groups.setdefault((fault.field, alike), []).append(fault)
    for (column, _), listed in groups.items():
        shown = listed if len(listed) <= ALIKE else listed[:1]
        for fault in shown:
            fix = fix_of(fault, mapping)
            yield {
                "line": fault.line,
                "column": column,
                "message": fault.message,
                "count": len(listed) if len(shown) == 1 else 1,
                "fix": {"button": fix.button, "settings": fix.settings} if fix else None,
            }


def fix_of(fault: Fault, mapping: ColumnMapping) -> Fix | None:
    """Return the setting that mends a fault, or None."""
    settings: Settings = mapping.settings
    if "quotation mark" in fault.message and settings.quote:
        return Fix("Set quote to none", {"quote": ""})
    if "not UTF-8" in fault.message and settings.encoding == "utf-8":
        return Fix("Read as Windows-1252", {"encoding": "windows-1252"})
    if "already has" in fault.message and mapping.rows == ITEM:
        return Fix("One row is an input", {"rows": INPUT})
    if fault.message.startswith("differs from") or fault.message.startswith("a list"):
        return Fix("Leave column out", {"role": LEFT_OUT})
    return None
