"""Rows of a file with their lines, one at a time: CSV (a head with the names of columns) or JSON lines."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from projects.background.progress import Progress
from projects.uploads.faults import Faults
from projects.uploads.source import Source

from .json_lines import parse, path_at
from .reading import Habits, lines

_BOM = b"\xef\xbb\xbf"
DELIMITERS = ",;\t"
LONGEST_ROW = 2**20
Row = tuple[int, Mapping[str, Any]]
#: Which column each name of a head stands for, "" for one that is left out; None after naming what is wrong with them.
Columns = Callable[[Sequence[str], Callable[[str, str], None]], list[str] | None]


def rows(
    source: Source, faults: Faults, habits: Habits, progress: Progress, columns: Columns, expected: str
) -> Iterator[Row]:
    """(line on which it begins, value by column) of every row that can be read; the others become faults.

    ``expected``: the columns in words, for a file that has none.
    """
    with source.path.open("rb") as file:
        head = file.read(4096).removeprefix(_BOM)
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


class _Physical:
    """The lines of a CSV file as its reader wants them, with their endings: a quoted cell may go on over several, and
    its text is kept as it stands. ``first`` is the number of the first line since it was last set to 0, ``taken`` how
    many characters have come since then: a row that never ends would take all memory."""

    def __init__(self, source: Source, faults: Faults, habits: Habits, progress: Progress) -> None:
        self.faults, self.habits, self.name = faults, habits, source.name
        self.lines = lines(source, faults, habits, lambda text, at: "line", progress)
        self.first = self.last = self.taken = 0

    def __iter__(self) -> "_Physical":
        return self

    def __next__(self) -> str:
        while True:
            before = self.habits.crlf
            line = next(self.lines)
            self.last = line.number
            self.first = self.first or line.number
            self.taken += len(line.text)
            if self.taken > LONGEST_ROW:
                raise csv.Error(f"a row of more than {LONGEST_ROW:,} characters")
            if "\0" not in line.text:
                return line.text + ("\r\n" if self.habits.crlf > before else "\n")
            at = line.text.index("\0") + 1
            self.faults.add(self.name, line.number, "line", f"a NUL character at column {at}")


def _csv_rows(source: Source, faults: Faults, habits: Habits, progress: Progress, columns: Columns) -> Iterator[Row]:
    physical = _Physical(source, faults, habits, progress)
    try:
        first = next(physical, None)
        if first is None:
            return
        delimiter = max(DELIMITERS, key=first.count)
        names = columns(
            next(csv.reader([first], delimiter=delimiter, strict=True), []),
            lambda field, message: faults.add(source.name, physical.first, field, message),
        )
    except csv.Error as error:
        faults.add(source.name, physical.first, "line", f"not CSV: {error}")
        return
    if names is None:
        return
    reader = csv.reader(physical, delimiter=delimiter, strict=True)
    while True:
        physical.first = physical.taken = 0
        try:
            cells = next(reader, None)
        except csv.Error as error:
            # Where quotes are not closed the reader cannot know what the rest is.
            message = f"not CSV: {error}; what follows was not read"
            faults.add(source.name, physical.first or physical.last, "line", message)
            return
        if cells is None:
            return
        if not cells:
            continue
        if len(cells) != len(names):
            message = f"expected {len(names)} cells, found {len(cells)}; a text with {_said(delimiter)} needs quotes"
            faults.add(source.name, physical.first, "line", message)
            continue
        yield physical.first, dict(zip(names, cells, strict=True))


def _said(delimiter: str) -> str:
    return {",": "commas", ";": "semicolons"}.get(delimiter, "tabs")
