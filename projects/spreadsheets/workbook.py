"""Read one sheet of an XLSX workbook, with each value as the text that a spreadsheet program shows."""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from itertools import count
from typing import IO, Any, BinaryIO, NamedTuple
from xml.parsers import expat
from zipfile import BadZipFile

from openpyxl.reader.excel import ExcelReader
from openpyxl.utils import column_index_from_string, get_column_letter
from openpyxl.utils.escape import unescape
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.xml.constants import SHEET_MAIN_NS

from projects.uploads.faults import Unreadable

#: The last row that a workbook can have. Without this limit a file with a higher number would block the reader.
LAST_ROW = 1_048_576
#: Maximum number of merged ranges in a sheet.
MOST_MERGED = 20_000
_ROW, _CELL, _MERGED = (f"{SHEET_MAIN_NS} {name}" for name in ("row", "c", "mergeCell"))
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,9})", re.ASCII)
_CHUNK = 1 << 16


class Damaged(Exception):
    """The rows or cells of a sheet are out of order."""

    def __init__(self, row: int, message: str) -> None:
        super().__init__(message)
        self.row, self.message = row, message


class Merged(NamedTuple):
    """A range of merged cells. Rows and columns count from 1."""

    name: str
    first_row: int
    first_column: int
    last_row: int
    last_column: int


class Layout:
    """The hidden rows and merged ranges of a sheet. Raise `Damaged` if its rows or cells are out of order."""

    def __init__(self, content: IO[bytes]) -> None:
        self.hidden_rows: list[int] = []
        self.merged: list[Merged] = []
        self._row = self._column = 0
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._begin
        try:
            while chunk := content.read(_CHUNK):
                parser.Parse(chunk, False)
        except expat.ExpatError:
            return  # openpyxl reports the error

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        if name == _ROW:
            self._begin_row(attributes)
        elif name == _CELL:
            self._begin_cell(attributes.get("r"))
        elif name == _MERGED and (range := _range(attributes.get("ref", ""))):
            self.merged.append(range)
            if len(self.merged) > MOST_MERGED:
                raise Damaged(range.first_row, f"more than {MOST_MERGED:,} merged ranges")

    def _begin_row(self, attributes: dict[str, str]) -> None:
        stated = attributes.get("r", "")
        number = int(stated) if re.fullmatch(r"-?\d{1,18}", stated, re.ASCII) else self._row + 1
        if not self._row < number <= LAST_ROW:
            raise Damaged(self._row + 1, f"damaged: a row numbered {number} follows row {self._row}")
        self._row, self._column = number, 0
        if attributes.get("hidden") in ("1", "true"):
            self.hidden_rows.append(number)

    def _begin_cell(self, stated: str | None) -> None:
        column = self._column + 1
        if stated and (place := _PLACE.fullmatch(stated)):
            column = column_index_from_string(place[1])
            if int(place[2]) != self._row or column <= self._column:
                raise Damaged(self._row, f"damaged: the cell {stated} is out of its place in row {self._row}")
        self._column = column


def _range(written: str) -> Merged | None:
    corners = [_PLACE.fullmatch(corner) for corner in written.split(":")]
    if len(corners) != 2 or not all(corners):
        return None
    (left, top), (right, bottom) = ((column_index_from_string(c[1]), int(c[2])) for c in corners if c)
    return Merged(written, top, left, bottom, right)


def covered(merged: Iterable[Merged], rows: Iterator[int], width: int) -> Iterator[dict[int, str]]:
    """Yield for each row the columns (from 0) that merged ranges cover, with the name of the range.

    ``rows`` must be in order. Raise `Damaged` if ranges overlap.
    """
    waiting = sorted((range for range in merged if range.first_column <= width), key=lambda r: -r.first_row)
    open_ranges: list[Merged] = []
    for row in rows:
        while waiting and waiting[-1].first_row <= row:
            open_ranges.append(waiting.pop())
        open_ranges = [range for range in open_ranges if range.last_row >= row]
        if len(open_ranges) > width:
            raise Damaged(row, "damaged: merged ranges overlap")
        yield {
            column - 1: range.name
            for range in open_ranges
            for column in _columns(range, width)
            if (row, column) != (range.first_row, range.first_column)
        }


def _columns(merged: Merged, width: int) -> Iterator[int]:
    yield from range(merged.first_column, min(merged.last_column, width) + 1)


#: The sheets of a workbook that Concord exports: the one that people fill in, and the one with instructions.
ANSWERS, ABOUT = "answers", "about"
MOST_COLUMNS = 200
STRICT = b"http://purl.oclc.org/ooxml/spreadsheetml/main"
MOST_CELL = 32_767
#: The header must be in the first rows, because a small file can declare a million blank rows, which take time.
HEADER_WITHIN = 1_000
#: Exceptions that openpyxl raises for parts that are missing or do not match their declaration.
_DAMAGED = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    EOFError,
    InvalidFileException,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zlib.error,
)

_SPLIT = "split them, and write the value into each"


class SheetRow(NamedTuple):
    """A row of a sheet. ``unusable`` is why a cell has no text, by column (from 0)."""

    number: int
    cells: list[str]
    unusable: dict[int, str]


class _Reader(ExcelReader):
    """An `ExcelReader` that skips chart sheets. They have no rows, and openpyxl fails on some of them."""

    def read_chartsheet(self, sheet: Any, rel: Any) -> None:
        return


class Workbook:
    """A sheet of a workbook. Iteration yields the rows below the header, without blank rows.

    The sheet is the one named ``answers``, or the first visible one with a row. Raise `Unreadable` if the workbook is
    damaged or has no rows.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.assumptions: list[str] = []
        with self._intact():
            reader = _Reader(file, read_only=True, data_only=False, keep_links=False)
            reader.read()
            pages: list[Any] = list(reader.wb.worksheets)
        own = [page for page in pages if page.title == ANSWERS and page.sheet_state == "visible"]
        visible = [page for page in pages if page.sheet_state == "visible"]
        for page in own or visible or pages:
            if first := self._first_row(page):
                break
        else:
            if any(map(self._is_strict, pages)):
                raise Unreadable(name, 0, "file", "a Strict Open XML workbook: save it as 'Excel Workbook (.xlsx)'")
            named = ", ".join(repr(page.title) for page in own or visible or pages) or "none"
            raise Unreadable(name, 1, "file", f"no row names the columns; empty sheets: {named}")
        self.page, self.place = page, f"{name}[{page.title}]"
        self.header, self.header_line = first.cells, first.number
        self.layout = self._read_layout()
        self._say_what_is_left_out([page for page in pages if not own or page.title != ABOUT])

    def __iter__(self) -> Iterator[SheetRow]:
        width = max(n for n, cell in enumerate(self.header, start=1) if cell.strip())
        ranges = covered(self.layout.merged, count(self.header_line + 1), width)
        for row in self._rows(self.page, self.header_line + 1, width):
            with self._in_order():
                hidden = next(ranges)
            if row.unusable or any(cell.strip() for cell in row.cells):
                merged = {column: f"is one of the merged cells {name}: {_SPLIT}" for column, name in hidden.items()}
                yield row._replace(unusable=merged | row.unusable)

    def _read_layout(self) -> Layout:
        with self._intact(), self._in_order(), self.page.parent._archive.open(self.page._worksheet_path) as content:
            return Layout(content)

    @contextmanager
    def _in_order(self) -> Iterator[None]:
        try:
            yield
        except Damaged as damaged:
            raise Unreadable(self.place, damaged.row, "line", damaged.message) from None

    def _say_what_is_left_out(self, pages: Sequence[Any]) -> None:
        hidden = [repr(page.title) for page in pages if page.sheet_state != "visible"]
        if hidden:
            self.assumptions.append(f"Hidden sheets are not read: {', '.join(hidden)}.")
        others = [repr(page.title) for page in pages if page is not self.page and page.sheet_state == "visible"]
        if others:
            self.assumptions.append(f"Only the sheet {self.page.title!r} is read, not {', '.join(others)}.")
        if self.layout.hidden_rows:
            first, *more = self.layout.hidden_rows
            numbers = f"{first} and {len(more):,} more" if more else f"{first}"
            self.assumptions.append(f"Hidden rows are read like others: {numbers}.")
        if self.header_line > 1:
            self.assumptions.append("Blank rows above the header are ignored.")

    def _first_row(self, page: Any) -> SheetRow | None:
        # A sheet may declare a wrong size.
        with self._intact():
            page.reset_dimensions()
        rows = self._rows(page, 1, MOST_COLUMNS + 1, HEADER_WITHIN)
        first = next((row for row in rows if any(cell.strip() for cell in row.cells)), None)
        if first and first.cells[MOST_COLUMNS].strip():
            raise Unreadable(f"{self.name}[{page.title}]", first.number, "line", f"more than {MOST_COLUMNS} columns")
        return first

    def _is_strict(self, page: Any) -> bool:
        """Return whether a sheet uses the Strict Open XML namespace, whose rows openpyxl does not read."""
        with self._intact(), page.parent._archive.open(page._worksheet_path) as content:
            return STRICT in content.read(2_000)

    def _rows(self, page: Any, first: int, width: int, last: int = LAST_ROW) -> Iterator[SheetRow]:
        # Cells can have any column; read only as many columns as the header has.
        rows = page.iter_rows(min_row=first, max_row=last, max_col=width)
        number = first
        while True:
            with self._intact():
                cells = next(rows, None)
            if cells is None:
                return
            unusable = {column: why for column, cell in enumerate(cells) if (why := _why_unusable(cell))}
            yield SheetRow(number, [_text(cell.value) for cell in cells], unusable)
            number += 1

    @contextmanager
    def _intact(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGED as error:
            message = f"this workbook cannot be read ({type(error).__name__}): save it as XLSX anew, or as CSV UTF-8"
            raise Unreadable(self.name, 0, "file", message) from error


def _why_unusable(cell: Any) -> str:
    """Return why a cell has no text, or an empty string."""
    if cell.value is None:
        return ""
    if cell.data_type == "f":
        return "holds a formula; expected a value"
    if isinstance(cell.value, date | time | timedelta):
        shown = str(cell.value).removesuffix(" 00:00:00")
        kind = "time" if isinstance(cell.value, time | timedelta) else "date"
        return f"holds the {kind} {shown}, which may have been a text: format the cell as text, and retype it"
    if cell.data_type == "e":
        return f"holds the error {cell.value}; expected a value"
    text = _text(cell.value)
    if len(text) > MOST_CELL:
        most = f"a cell of a workbook has at most {MOST_CELL:,}"
        return f"holds {len(text):,} characters; {most}: save the table as CSV UTF-8"
    return "holds a NUL character" if "\0" in text else ""


def _text(value: object) -> str:
    """Return a value as it is shown: numbers with 15 digits, texts with escaped characters decoded."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
    text = str(value)
    if "_x" in text:
        # An escaped character above U+FFFF is written as a surrogate pair.
        text = unescape(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def letter(column: int) -> str:
    """Return the letter of a column (from 0)."""
    return get_column_letter(column + 1)
