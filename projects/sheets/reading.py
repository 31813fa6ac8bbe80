"""CSV and XLSX files that people send back, row by row. Whatever is wrong with a file is said in words."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

from api.problems import Refused

from ..uploads.faults import Unreadable
from .cells import restored
from .packing import refuse_unfit
from .writing import ANSWERS

MOST_CELL = 32_767
#: Characters of a row of a CSV file: forty full cells.
LONGEST_ROW = MOST_CELL * 40
MOST_COLUMNS = 200
#: The last row that a workbook has; one that names a later one would keep a reader counting for hours.
LAST_ROW = 1_048_576


@dataclass(frozen=True)
class Row:
    """One row as text by column name. ``formulas`` names the cells that hold a formula: their value is never used.
    ``file`` and ``number`` are where faults of it are (`Fault`)."""

    file: str
    number: int
    cells: dict[str, str]
    formulas: frozenset[str]
    letters: dict[str, str]


def read(path: Path, name: str, *, needed: Sequence[str]) -> Iterator[Row]:
    """The rows of a file below its head. `Unreadable` where it is no such file, lacks a column, or breaks off."""
    with path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    if is_zip:
        yield from _xlsx(path, name, needed)
    elif name.lower().endswith((".xls", ".ods", ".numbers")):
        raise Unreadable(name, 0, "file", "save it as XLSX or CSV and send that")
    else:
        yield from _csv(path, name, needed)


def _letters(file: str, head: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    """Column name -> letter."""
    names = [str(cell).strip().casefold() for cell in head]
    twice = sorted({n for n in names if n and names.count(n) > 1})
    if twice:
        raise Unreadable(file, 1, twice[0], f"row 1 names a column twice: {', '.join(twice)}")
    missing = [n for n in needed if n not in names]
    if missing:
        raise Unreadable(file, 1, missing[0], f"row 1 must name the columns; missing: {', '.join(missing)}")
    return {name: get_column_letter(i) for i, name in enumerate(names, start=1) if name}


def _csv(path: Path, file: str, needed: Sequence[str]) -> Iterator[Row]:
    with path.open("rb") as raw:
        begin = raw.read(4096)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in begin:
        raise Unreadable(file, 1, "file", "not UTF-8 text (UTF-16?): save it as 'CSV UTF-8'")
    first = begin.decode("utf-8-sig", errors="replace").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        bounded = _Bounded(file, text)
        reader = csv.reader(bounded, delimiter=delimiter, strict=True)
        try:
            head = next(reader, None)
            if head is None:
                raise Unreadable(file, 1, "file", "the file is empty; expected a row that names the columns")
            letters = _letters(file, head[:MOST_COLUMNS], needed)
            names = {letter: name for name, letter in letters.items()}
            bounded.taken = 0
            for cells in reader:
                bounded.taken = 0
                found = {
                    names[letter]: restored(cell)
                    for letter, cell in ((get_column_letter(i), c) for i, c in enumerate(cells[:MOST_COLUMNS], start=1))
                    if letter in names
                }
                if any(found.values()):
                    yield Row(file, reader.line_num, found, frozenset(), letters)
        except UnicodeDecodeError:
            # A block of lines is decoded at once: it is one of those that follow.
            raise Unreadable(
                file, reader.line_num + 1, "line", "from about here on not UTF-8 text: save it as 'CSV UTF-8'"
            ) from None
        except csv.Error as error:
            raise Unreadable(file, reader.line_num, "line", f"not CSV ({error})") from None


class _Bounded:
    """Lines of rows, none of which may be longer than one of full cells would be, over however many lines a quoted cell
    goes: memory stays bounded. ``taken`` counts the characters of the row at hand; whoever has read it sets it to 0."""

    def __init__(self, file: str, lines: Any) -> None:
        self.file, self.lines, self.taken, self.number = file, lines, 0, 0

    def __iter__(self) -> "_Bounded":
        return self

    def __next__(self) -> str:
        line: str = self.lines.readline(LONGEST_ROW + 1)
        if not line:
            raise StopIteration
        self.taken += len(line)
        self.number += 1
        if self.taken > LONGEST_ROW:
            message = f"a row has more than {LONGEST_ROW:,} characters: this is no sheet of ours"
            raise Unreadable(self.file, self.number, "line", message)
        if "\0" in line:
            raise Unreadable(self.file, self.number, "line", "a NUL character, which no text has")
        return line


def _xlsx(path: Path, name: str, needed: Sequence[str]) -> Iterator[Row]:
    try:
        refuse_unfit(path)
    except Refused as unfit:
        raise Unreadable(name, 0, "file", unfit.detail) from None
    # Opened here: by its name the library would judge what kind of file it is.
    with path.open("rb") as file:
        try:
            book = load_workbook(file, read_only=True, data_only=False, keep_links=False)
            page = book[ANSWERS] if ANSWERS in book.sheetnames else book.worksheets[0]
            # What a sheet says of its own size is not believed.
            page.reset_dimensions()
            # Nor is the place that a cell names: a row is as wide as its head.
            first = next(page.iter_rows(max_row=1, max_col=MOST_COLUMNS), ())
            head = [str(cell.value or "") for cell in first]
        except Exception as error:
            raise _unreadable(name, error) from error
        place = f"{name}[{page.title}]"
        letters = _letters(place, head, needed)
        names = {letter: name for name, letter in letters.items()}
        width = max(n for n, cell in enumerate(head, start=1) if cell.strip())
        rows = page.iter_rows(min_row=2, max_row=LAST_ROW, max_col=width)
        for number, cells in enumerate(_sound(place, rows), start=2):
            found, formulas = _cells(cells, names)
            if any(found.values()):
                yield Row(place, number, found, formulas, letters)


def _sound(file: str, rows: Iterator[Any]) -> Iterator[Any]:
    """The rows, and `Unreadable` where the file turns out to be damaged further in."""
    try:
        yield from rows
    except Exception as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: Exception) -> Unreadable:
    return Unreadable(file, 0, "file", f"this workbook cannot be read ({type(error).__name__})")


def _cells(cells: Sequence[Any], names: dict[str, str]) -> tuple[dict[str, str], frozenset[str]]:
    """The texts of one row by column name, and the names of those that hold a formula."""
    found, formulas = {}, set()
    for i, cell in enumerate(cells, start=1):
        name = names.get(get_column_letter(i))
        if name is None or cell.value is None:
            continue
        if cell.data_type == "f":
            formulas.add(name)
        found[name] = _text(cell.value)
    return found, frozenset(formulas)


def _text(value: object) -> str:
    """A cell's value as text: a whole number that a program made a float of is that number again."""
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return restored(str(value))[:MOST_CELL]
