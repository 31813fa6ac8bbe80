"""Rows of a CSV file or of JSON lines, one at a time, with their line numbers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from projects.jobs.batches import Progress
from projects.spreadsheets.delimited import CUT, Delimited
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import BOM, Source

from .json_lines import parse, path_at
from .reading import Habits, lines

Row = tuple[int, Mapping[str, Any]]
#: Maps the names of a header to columns, "" for an ignored one; returns None after adding faults.
Columns = Callable[[Sequence[str], Callable[[str, str], None]], list[str] | None]


def rows(
    source: Source, faults: Faults, habits: Habits, progress: Progress, columns: Columns, expected: str
) -> Iterator[Row]:
    """Yield (first line, value by column) of every readable row; unreadable rows become faults.

    ``expected`` names the columns in words, for the message about an empty file.
    """
    with source.path.open("rb") as file:
        head = file.read(4096).removeprefix(BOM)
    if not head:
        faults.add(source.name, 1, "file", f"the file is empty; expected the columns {expected}")
    elif head.lstrip().startswith(b"{"):
        yield from _json_rows(source, faults, habits, progress, columns)
    else:
        yield from _csv_rows(source, faults, habits, progress, columns)


def _json_rows(source: Source, faults: Faults, habits: Habits, progress: Progress, columns: Columns) -> Iterator[Row]:
    for line in lines(source, faults, habits, path_at, progress):
        value = parse(line, source.name, faults)
        if value is None:
            continue
        names = columns(list(value), lambda f, m, n=line.number: faults.add(source.name, n, f, m))  # type: ignore[misc]
        if names is not None:
            yield line.number, dict(zip(names, value.values(), strict=True))


def _csv_rows(source: Source, faults: Faults, habits: Habits, progress: Progress, columns: Columns) -> Iterator[Row]:
    try:
        with source.path.open("rb") as file:
            table = Delimited(file, source.name)
            habits.bom = table.has_bom
            habits.notes += table.assumptions
            line = table.header_line
            names = columns(table.header, lambda field, message: faults.add(source.name, line, field, message))
            for record in table if names is not None else ():
                progress(record.end, source.size, "reading")
                if record.fault:
                    faults.add(source.name, record.line, "line", record.fault)
                else:
                    yield record.line, dict(zip(names or (), record.cells, strict=True))
                if faults.are_too_many:
                    break
            if table.is_cut:
                habits.notes.append(CUT)
    except Unreadable as unreadable:
        unreadable.add_to(faults)
