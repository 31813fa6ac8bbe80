"""CSV and XLSX files that people send back, row by row. Whatever is wrong with a file is said before it is opened
further: a workbook is a zip archive of XML, and both can be made to hurt."""

import csv
import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

from accounts.problems import Refused

from .cells import restored
from .writing import ANSWERS

#: Limits of a workbook, unpacked. Far above any round's sheet.
MOST_PARTS, MOST_BYTES, MOST_RATIO = 500, 256 * 2**20, 200
MOST_CELL = 32_767
MOST_COLUMNS = 200
#: The last row that a workbook has; one that names a later one would keep a reader counting for hours.
LAST_ROW = 1_048_576


@dataclass(frozen=True)
class Row:
    """One row as text by column name. ``formulas`` names the cells that hold a formula: their value is never used."""

    number: int
    cells: dict[str, str]
    formulas: frozenset[str]
    letters: dict[str, str]

    def place(self, column: str) -> str:
        """Where a cell is, as a spreadsheet program names it."""
        return f"{self.letters[column]}{self.number}" if column in self.letters else f"row {self.number}"


def read(path: Path, name: str, *, needed: Sequence[str]) -> Iterator[Row]:
    """The rows of a file below its head. `Refused` where the file as a whole cannot be read or lacks a column."""
    with path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    if is_zip:
        yield from _xlsx(path, needed)
    elif name.lower().endswith((".xls", ".ods", ".numbers")):
        raise Refused.field("file", f"{name}: save it as XLSX or CSV and send that.")
    else:
        yield from _csv(path, needed)


def _letters(head: Sequence[str], needed: Sequence[str]) -> dict[str, str]:
    """Column name -> letter."""
    names = [str(cell).strip().casefold() for cell in head]
    twice = sorted({n for n in names if n and names.count(n) > 1})
    if twice:
        raise Refused.field("file", f"Row 1 names a column twice: {', '.join(twice)}.")
    missing = [n for n in needed if n not in names]
    if missing:
        raise Refused.field("file", f"Row 1 must name the columns; missing: {', '.join(missing)}.")
    return {name: get_column_letter(i) for i, name in enumerate(names, start=1) if name}


def _csv(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    with path.open("rb") as raw:
        begin = raw.read(4096)
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in begin:
        raise Refused.field("file", "This is not UTF-8 text (UTF-16?). Save it as 'CSV UTF-8'.")
    first = begin.decode("utf-8-sig", errors="replace").split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(_bounded(text), delimiter=delimiter, strict=True)
        try:
            head = next(reader, None)
            if head is None:
                raise Refused.field("file", "The file is empty.")
            letters = _letters(head[:MOST_COLUMNS], needed)
            names = {letter: name for name, letter in letters.items()}
            for cells in reader:
                found = {
                    names[letter]: restored(cell)
                    for letter, cell in ((get_column_letter(i), c) for i, c in enumerate(cells[:MOST_COLUMNS], start=1))
                    if letter in names
                }
                if any(found.values()):
                    yield Row(reader.line_num, found, frozenset(), letters)
        except UnicodeDecodeError:
            raise Refused.field(
                "file", f"Near line {reader.line_num + 1}: not UTF-8 text. Save it as 'CSV UTF-8'."
            ) from None
        except csv.Error as error:
            raise Refused.field("file", f"Line {reader.line_num}: not CSV ({error}).") from None


def _bounded(lines: Any) -> Iterator[str]:
    """Lines, none of which may be longer than a whole row of full cells would be: memory stays bounded."""
    most = MOST_CELL * 40
    while line := lines.readline(most + 1):
        if len(line) > most:
            raise Refused.field("file", f"A line has more than {most} characters: this is no sheet of ours.")
        if "\0" in line:
            raise Refused.field("file", "The file holds a NUL character, which no text has.")
        yield line


def _xlsx(path: Path, needed: Sequence[str]) -> Iterator[Row]:
    _refuse_bombs(path)
    # Opened here: by its name the library would judge what kind of file it is.
    with path.open("rb") as file:
        try:
            book = load_workbook(file, read_only=True, data_only=False, keep_links=False)
            page = book[ANSWERS] if ANSWERS in book.sheetnames else book.worksheets[0]
            # What a sheet says of its own size is not believed.
            page.reset_dimensions()
            rows = _sound(page.iter_rows(max_row=LAST_ROW))
            head = [str(cell.value or "") for cell in next(rows, ())][:MOST_COLUMNS]
        except Refused:
            raise
        except Exception as error:
            raise _unreadable(error) from error
        letters = _letters(head, needed)
        names = {letter: name for name, letter in letters.items()}
        for number, cells in enumerate(rows, start=2):
            found, formulas = _cells(cells[:MOST_COLUMNS], names)
            if any(found.values()):
                yield Row(number, found, formulas, letters)


def _sound(rows: Iterator[Any]) -> Iterator[Any]:
    """The rows, and a `Refused` where the file turns out to be damaged further in."""
    try:
        yield from rows
    except Exception as error:
        raise _unreadable(error) from error


def _unreadable(error: Exception) -> Refused:
    return Refused.field("file", f"This workbook cannot be read ({type(error).__name__}).")


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


def _refuse_bombs(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            size = sum(p.file_size for p in parts)
            packed = sum(p.compress_size for p in parts) or 1
            if len(parts) > MOST_PARTS or size > MOST_BYTES or (size > 2**20 and size / packed > MOST_RATIO):
                raise Refused.field("file", "This workbook unpacks to more than any sheet of ours; it was not opened.")
            for part in parts:
                _refuse_entities(archive, part)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused.field("file", f"This workbook is damaged or protected ({error}).") from None


def _refuse_entities(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> None:
    """No part of a workbook declares a document type; one that does wants to make a parser fetch or grow something."""
    if not part.filename.endswith((".xml", ".rels")):
        return
    with archive.open(part) as inner:
        begin = inner.read(4096)
    if b"<!DOCTYPE" in begin or b"<!ENTITY" in begin or begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Refused.field("file", "This workbook declares XML entities; it was not opened.")
