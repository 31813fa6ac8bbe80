"""Read the rows of a CSV, TSV or XLSX file by column name."""

import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast
from xml.parsers import expat

from openpyxl.packaging.manifest import Manifest
from openpyxl.xml.constants import (
    ARC_CONTENT_TYPES,
    ARC_CORE,
    ARC_CUSTOM,
    ARC_STYLE,
    ARC_THEME,
    SHARED_STRINGS,
    SHEET_MAIN_NS,
    WORKSHEET_TYPE,
)
from openpyxl.xml.functions import fromstring

from api.problems import Refused
from projects.spreadsheets.cells import column_name, is_error, restored
from projects.spreadsheets.delimited import CUT, Delimited
from projects.spreadsheets.workbook import Workbook, letter
from projects.uploads.faults import Unreadable

#: Limits of a workbook: number of parts, unpacked bytes, compression ratio. Far above any sheet of a round.
MOST_PARTS, MOST_BYTES, MOST_RATIO = 500, 256 * 2**20, 200
#: Limits of one part: bytes, and tags and attributes in memory. Sheets and their texts can be large; styles and other
#: parts are small in any workbook that a person made.
LARGE = 64 * 2**20, 400_000
SMALL = 8 * 2**20, 50_000
#: Maximum number of tags and attributes in one row of a sheet. openpyxl frees a row when the next one starts.
MOST_IN_ROW = 100_000
ROW = f"{SHEET_MAIN_NS} row"
#: Parts that openpyxl reads completely because of their names, whatever content type the archive declares.
NAMED = {ARC_CONTENT_TYPES, ARC_STYLE, ARC_THEME, ARC_CORE, ARC_CUSTOM}
CHUNK = 1 << 16


def refuse_unfit(path: Path) -> None:
    """Raise `Refused` for a workbook that is damaged, protected or too large."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            size = sum(part.file_size for part in parts)
            packed = sum(part.compress_size for part in parts) or 1
            if len(parts) > MOST_PARTS or size > MOST_BYTES or (size > 2**20 and size / packed > MOST_RATIO):
                raise _too_much()
            for part, limits in _with_limits(archive, parts):
                with archive.open(part) as content:
                    _Weight(*limits).take(content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, zlib.error) as error:
        raise Refused.field("file", f"This workbook is damaged or protected ({error}).") from None


def _with_limits(
    archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo]
) -> Iterator[tuple[zipfile.ZipInfo, tuple[int, int]]]:
    """Yield each part with its limits. The list of content types comes first, because other limits depend on it."""
    by_name = {part.filename: part for part in parts}
    if len(by_name) < len(parts):
        raise Refused.field(
            "file", "This workbook has two parts with the same name, so it was not opened. Save it again as XLSX."
        )
    if listing := by_name.pop(ARC_CONTENT_TYPES, None):
        yield listing, SMALL
        large = _large(archive.read(listing))
    else:
        large = set()
    for name, part in by_name.items():
        yield part, LARGE if name in large else SMALL


def _large(listing: bytes) -> set[str]:
    """Return the parts that are declared only as sheets or shared strings."""
    try:
        listed: Any = Manifest.from_tree(cast(Any, fromstring(listing)))
        declared = [(part.PartName.lstrip("/"), part.ContentType) for part in listed.Override]
    except Exception:
        return set()  # openpyxl reports the error
    others = {name for name, type in declared if type not in (SHARED_STRINGS, WORKSHEET_TYPE)}
    return {name for name, _ in declared} - others - NAMED


class _Weight:
    """Estimate of the memory that a reader of one part needs. Rejects the part as soon as a limit is exceeded."""

    def __init__(self, most_bytes: int, most_held: int) -> None:
        self.most_bytes, self.most_held = most_bytes, most_held
        self.bytes = self.held = self.in_row = self.depth = 0
        self.row_at = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.ordered_attributes = True
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._begin
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._doctype

    def take(self, content: IO[bytes]) -> None:
        try:
            while chunk := content.read(CHUNK):
                self.bytes += len(chunk)
                if self.bytes > self.most_bytes:
                    raise _too_much()
                self.parser.Parse(chunk, False)
        except expat.ExpatError:
            return

    def _begin(self, name: str, attributes: list[str]) -> None:
        self.depth += 1
        weight = 1 + len(attributes) // 2
        if self.row_at:
            self.in_row += weight
        else:
            self.held += weight
            if name == ROW:
                self.row_at, self.in_row = self.depth, 0
        if self.held > self.most_held or self.in_row > MOST_IN_ROW:
            raise _too_much()

    def _end(self, name: str) -> None:
        if self.depth == self.row_at:
            self.row_at = 0
        self.depth -= 1

    def _doctype(self, *_: object) -> None:
        """Reject a document type declaration: valid workbooks have none, and XML attacks use them."""
        raise Refused.field("file", "This workbook declares XML entities, so it was not opened. Save it again as XLSX.")


def _too_much() -> Refused:
    return Refused.field(
        "file", "This workbook is too large when unpacked, so it was not opened. Upload a smaller one."
    )


#: Callback that receives a sentence for the import warnings.
Warn = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """A row as text by column name.

    ``file`` and ``number`` locate it in a `Fault`. ``letters`` has the letter of each column. ``unusable`` is why a
    cell has no text, by column. ``fault`` is why the whole row cannot be used.
    """

    file: str
    number: int
    cells: dict[str, str]
    letters: Mapping[str, str]
    unusable: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""

    def problems(self, columns: Collection[str]) -> list[tuple[str, str]]:
        """Return (column, message) for each of the columns whose cell has no text."""
        if self.fault:
            return [("line", self.fault)]
        return [(name, why) for name, why in sorted(self.unusable.items()) if name in columns]


def _ignore(sentence: str) -> None:
    return


def read(
    path: Path,
    name: str,
    *,
    needed: Sequence[str] = (),
    own_columns: Collection[str] | None = None,
    warn: Warn = _ignore,
    may_be_empty: bool = True,
) -> Iterator[Row]:
    """Yield the rows of a file below its header. Raise `Unreadable` if a column is missing or the file is damaged.

    ``own_columns`` identify a file that Concord exported; its neutralised cells are `restored`. If ``may_be_empty`` is
    false, a file without rows is unreadable.
    """
    if name.lower().endswith((".xls", ".ods", ".numbers")):
        raise Unreadable(name, 0, "file", "expected XLSX or CSV: save it as one of these")
    with path.open("rb") as file:
        is_zip = file.read(4) == b"PK\x03\x04"
    rows = _of_workbook(path, name, needed, warn) if is_zip else _of_text(path, name, needed, warn)
    head = next(rows)
    is_own = own_columns is not None and head.letters.keys() >= set(own_columns)
    row = None
    for row in rows:
        if is_own:
            row.cells.update({column: restored(cell) for column, cell in row.cells.items()})
        yield row
    if row is None and not may_be_empty:
        names = ", ".join(head.letters)[:200]
        raise Unreadable(head.file, head.number, "file", f"no row below the names of the columns: {names}")


def _columns(file: str, line: int, header: Sequence[str], needed: Sequence[str]) -> dict[int, str]:
    """Return column names by number (from 0), without unnamed columns."""
    names = [column_name(cell) for cell in header]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise Unreadable(file, line, twice[0], f"row {line} names a column twice: {', '.join(twice)}")
    missing = [name for name in needed if name not in names]
    if missing:
        had = ", ".join(filter(None, names))[:200]
        message = f"row {line} must name the columns; missing: {', '.join(missing)}; found: {had}"
        raise Unreadable(file, line, missing[0], message)
    return {number: name for number, name in enumerate(names) if name}


# Both readers yield the header first, as a row without cells.


def _of_text(path: Path, name: str, needed: Sequence[str], warn: Warn) -> Iterator[Row]:
    with path.open("rb") as file:
        table = Delimited(file, name)
        columns = _columns(name, table.header_line, table.header, needed)
        letters = {column: letter(number) for number, column in columns.items()}
        for sentence in table.assumptions:
            warn(sentence)
        yield Row(name, table.header_line, {}, letters)
        has_short = False
        for record in table:
            cells, fault = record.cells, record.fault
            if len(cells) < len(table.header) and not table.is_cut:
                # Spreadsheet programs omit the last separators of rows that end in blank cells.
                fault = ""
                if not has_short:
                    warn(f"Line {record.line} has fewer cells than the header: the missing ones are read as blank.")
                has_short = True
            found = {column: cells[number] if number < len(cells) else "" for number, column in columns.items()}
            unusable = {column: why for column, cell in found.items() if (why := _why_unusable(cell))}
            if fault or unusable or any(map(str.strip, found.values())):
                yield Row(name, record.line, found, letters, unusable, fault)
        if table.is_cut:
            warn(CUT)


def _why_unusable(cell: str) -> str:
    if "\0" in cell:
        return "holds a NUL character"
    return f"holds the error {cell.strip()}; expected a value" if is_error(cell) else ""


def _of_workbook(path: Path, name: str, needed: Sequence[str], warn: Warn) -> Iterator[Row]:
    try:
        refuse_unfit(path)
    except Refused as unfit:
        raise Unreadable(name, 0, "file", unfit.detail) from None
    # Pass an open file: with a path, openpyxl would infer the file type from the name.
    with path.open("rb") as file:
        book = Workbook(file, name)
        columns = _columns(book.place, book.header_line, book.header, needed)
        letters = {column: letter(number) for number, column in columns.items()}
        for sentence in book.assumptions:
            warn(sentence)
        yield Row(book.place, book.header_line, {}, letters)
        for row in book:
            found = {column: row.cells[number] for number, column in columns.items()}
            unusable = {
                column: f"cell {letters[column]}{row.number} {row.unusable[number]}"
                for number, column in columns.items()
                if number in row.unusable
            }
            if unusable or any(map(str.strip, found.values())):
                yield Row(book.place, row.number, found, letters, unusable)
