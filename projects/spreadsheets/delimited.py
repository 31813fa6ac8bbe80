"""Read CSV and TSV files row by row: RFC 4180, or tab-separated without quoting as exported by spreadsheets."""

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Literal, NamedTuple

from projects.uploads.faults import Unreadable
from projects.uploads.files import BOM, not_utf8, other_file

CUT = "The last line has no line ending; check whether the file is complete."
_LINE_END = re.compile(r"\r\n|\r|\n")
#: Values that programs leave unquoted even if they quote every text.
_NO_TEXT = re.compile(r"[-+]?[\d.,]+(?:[eE][-+]?\d+)?|na|n/a|nan|null|true|false", re.ASCII | re.IGNORECASE)


class BrokenQuote(NamedTuple):
    """A quotation mark that opens a cell and is not closed as RFC 4180 requires. Lines and columns count from 0."""

    line: int
    column: int
    #: The line on which text follows the closing mark; None if there is no closing mark.
    closed: int | None

    def message(self, first: int) -> str:
        """Return the error message. ``first`` is the first line of the row."""
        if self.closed is None:
            return "the quotation mark that opens this cell is not closed; nothing below it can be read"
        where = "" if self.closed == self.line else f" on line {first + self.closed}"
        return f"a quotation mark opens this cell, and text follows the closing one{where}: double the marks in a text"


def broken_quote(text: str, delimiter: str, quote: str = '"') -> BrokenQuote | None:
    """Return the first quotation mark of a row that is not closed, or is closed before the end of its cell."""
    at = line = column = 0
    ends = (delimiter, "\r", "\n", "")
    while at < len(text):
        if text[at] == quote:
            opened, close = at, _closing(text, at, quote)
            if close < 0:
                return BrokenQuote(line, column, None)
            after = line + len(_LINE_END.findall(text[opened:close]))
            if text[close + 1 : close + 2] not in ends:
                return BrokenQuote(line, column, after)
            line, at = after, close + 1
        end = text.find(delimiter, at)
        if end < 0:
            return None
        at, column = end + 1, column + 1
    return None


def _closing(text: str, opened: int, quote: str) -> int:
    """Return the position of the mark that closes the one at ``opened``, or -1."""
    at = opened + 1
    while (at := text.find(quote, at)) >= 0:
        if text[at + 1 : at + 2] != quote:
            return at
        at += 2
    return -1


def is_unquoted(lines: Iterable[str]) -> bool:
    """Return whether a tab-separated file is written without quoting.

    Two conditions must hold. Every line has as many cells as the header if quotation marks are read as text. And a mark
    violates RFC 4180, or encloses a plain text in a column where other texts are not quoted.
    """
    width, is_broken = 0, False
    enclosed: set[int] = set()
    bare: defaultdict[int, bool] = defaultdict(bool)
    for line in lines:
        cells = line.rstrip("\r\n").split("\t")
        if not any(cell.strip() for cell in cells):
            continue
        if not width:
            width = len(cells)
            is_broken = any(map(_is_broken, cells))
            continue
        if len(cells) != width:
            return False
        for column, cell in enumerate(cells):
            if not cell.startswith('"'):
                bare[column] |= bool(cell) and not _NO_TEXT.fullmatch(cell)
            elif _is_broken(cell):
                is_broken = True
            elif not any(mark in cell[1:-1] for mark in ',;"'):
                enclosed.add(column)
    return is_broken or any(bare[column] for column in enclosed)


def _is_broken(cell: str) -> bool:
    """Return whether a cell starts with a quotation mark and does not end with the matching one."""
    is_enclosed = len(cell) > 1 and cell.endswith('"') and '"' not in cell[1:-1].replace('""', "")
    return cell.startswith('"') and not is_enclosed


#: Maximum size of a row in bytes, over all its lines. A longer row indicates an unclosed quotation mark.
LONGEST_ROW = 4 * 2**20
MOST_COLUMNS = 2_000
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: The line in which Excel declares the separator of a file.
_SEP_LINE = re.compile(r'"?sep=(?P<separator>[^\w\s"]|\t)"?\s*', re.IGNORECASE)
_QUOTED = re.compile(r'"[^"]*(?:"|$)')
_CHUNK = 1 << 16


@dataclass(frozen=True)
class Dialect:
    """The separator of cells, and whether quotation marks enclose cells or are text."""

    delimiter: str = ","
    is_quoted: bool = True
    quote: str = '"'

    @property
    def quoting(self) -> Literal[0, 3]:
        return csv.QUOTE_MINIMAL if self.is_quoted else csv.QUOTE_NONE


class Line(NamedTuple):
    """A line with its line end; its bytes are [start, end) of the file."""

    number: int
    text: str
    start: int
    end: int


class Record(NamedTuple):
    """A row. ``line`` is its first line, from 1; its bytes are [start, end).

    ``fault`` is why the row does not match the header, or empty.
    """

    line: int
    start: int
    end: int
    cells: list[str]
    fault: str


class Delimited:
    """A CSV or TSV file. Iteration yields the rows below the header, without blank rows.

    Raise `Unreadable` at the position after which the rest of the file cannot be parsed. ``assumptions`` are sentences
    for import warnings. If ``dialect`` is given, it is not detected. Without ``has_header`` the first row is data, and
    the columns have numbers.
    """

    def __init__(self, file: BinaryIO, name: str, *, dialect: Dialect | None = None, has_header: bool = True) -> None:
        self.file, self.name = file, name
        self.assumptions: list[str] = []
        self.header: list[str] = []
        self.header_line = 1
        #: Whether the last line has no line end, which may mean that the file is truncated.
        self.is_cut = False
        if kind := other_file(file.read(4096)):
            raise Unreadable(name, 1, "file", f"expected CSV in UTF-8, found {kind}; save it as 'CSV UTF-8'")
        self._read_dialect(dialect)
        self._records = self._read_records()
        first = next(self._records, None)
        if first is None:
            raise self._empty()
        self.header, self.header_line, self.header_end = first.cells, first.line, first.end
        if not has_header:
            self.header = [f"column {n}" for n in range(1, len(first.cells) + 1)]
            self._records = self._read_records()
        if len(self.header) > MOST_COLUMNS:
            raise Unreadable(name, first.line, "line", f"more than {MOST_COLUMNS:,} columns")

    def __iter__(self) -> Iterator[Record]:
        width = len(self.header)
        for record in self._records:
            if len(record.cells) == width:
                yield record
                continue
            cells, fault = record.cells, ""
            if any(cell.strip() for cell in cells[width:]) or len(cells) < width:
                fault = f"expected {width} cells, found {len(cells)}{self._width_hint(record)}"
            yield record._replace(cells=cells[:width], fault=fault)

    def continue_from(self, offset: int, line: int) -> None:
        """Continue with the row at this offset. ``line``: the number of lines before it."""
        self.start, self.before = offset, line
        self._records = self._read_records()

    def column(self, number: int) -> str:
        """Return the name of a column (from 0) for messages."""
        name = self.header[number].strip() if number < len(self.header) else ""
        return name[:80] or f"column {number + 1}"

    def _empty(self) -> Unreadable:
        return Unreadable(self.name, 1, "file", "the file is empty; expected a row that names the columns")

    def _width_hint(self, record: Record) -> str:
        if len(record.cells) > len(self.header):
            return f"; a text with {SEPARATORS.get(self.dialect.delimiter, 'separators')} needs quotes"
        if any("\n" in cell for cell in record.cells):
            return "; a cell goes on over several lines: is its quotation mark closed?"
        return ""

    def _read_dialect(self, given: Dialect | None) -> None:
        """Find the line of the header. Detect the separator and whether the file uses quoting, if it is not given."""
        self.start, self.before = 0, 0
        self.file.seek(0)
        self.has_bom = self.file.read(len(BOM)) == BOM
        if self.has_bom:
            self.start = len(BOM)
        delimiter = ""
        lines = self._lines()
        for line in lines:
            if line.number == 1 and (named := _SEP_LINE.fullmatch(line.text)):
                delimiter = named["separator"]
                self.assumptions.append(f"The first line names the separator: {delimiter!r}.")
            elif line.text.strip(",;| \t\r\n\xa0\ufeff"):
                break
            elif line.number == 1:
                self.assumptions.append("Blank lines above the header are ignored.")
        else:
            raise self._empty()
        self.start, self.before = line.start, line.number - 1
        if given:
            self.dialect = given
            return
        self.dialect = Dialect(delimiter or _separator(line.text))
        if self.dialect.delimiter == "\t" and is_unquoted(text for _, text, _, _ in self._lines()):
            self.dialect = Dialect("\t", is_quoted=False)
            self.assumptions.append("The file is tab-separated without quoting: quotation marks are text.")

    def _lines(self) -> Iterator[Line]:
        """Yield the lines from the header on. In a file without LF the lines end with CR."""
        self.file.seek(self.start)
        chunk = self.file.read(_CHUNK)
        end = b"\r" if b"\r" in chunk and b"\n" not in chunk else b"\n"
        number, offset, rest = self.before, self.start, b""
        while chunk or rest:
            *bodies, rest = (rest + chunk).split(end)
            raws = [body + end for body in bodies]
            if not chunk:
                raws, rest = [rest], b""
            for raw in raws:
                number += 1
                self.is_cut = not raw.endswith(end)
                yield Line(number, self._decoded(raw, number, offset), offset, offset + len(raw))
                offset += len(raw)
            if len(rest) > LONGEST_ROW:
                raise self._too_long(number + 1)
            chunk = self.file.read(_CHUNK)

    def _decoded(self, raw: bytes, number: int, offset: int) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            message = not_utf8(raw.rstrip(b"\r\n"), error, offset)
            if error.reason == "unexpected end of data" and not raw.endswith((b"\n", b"\r")):
                message = "the file ends inside a character: it seems to be truncated"
            raise Unreadable(self.name, number, "line", message) from None

    def _read_records(self) -> Iterator[Record]:
        taken: list[Line] = []
        size = 0

        def texts() -> Iterator[str]:
            nonlocal size
            for line in self._lines():
                taken.append(line)
                size += line.end - line.start
                if size > LONGEST_ROW:
                    raise self._broken(taken, "")
                yield line.text

        reader = csv.reader(
            texts(),
            delimiter=self.dialect.delimiter,
            quotechar=self.dialect.quote,
            quoting=self.dialect.quoting,
            strict=True,
        )
        while True:
            taken.clear()
            size = 0
            try:
                cells = next(reader, None)
            except csv.Error as error:
                raise self._broken(taken, str(error)) from None
            if cells is None:
                return
            if any(cell.strip() for cell in cells):
                yield Record(taken[0].number, taken[0].start, taken[-1].end, cells, "")

    def _broken(self, taken: Sequence[Line], error: str) -> Unreadable:
        """Return the error for a row that cannot be read, located at the quotation mark that opens the broken cell."""
        text, first = "".join(line.text for line in taken), taken[0].number
        if self.dialect.is_quoted and (fault := broken_quote(text, self.dialect.delimiter, self.dialect.quote)):
            return Unreadable(
                self.name, first + fault.line, self.column(fault.column), fault.message(first) + self._misfit()
            )
        if "field limit" in error:
            return Unreadable(self.name, first, "line", "a cell of more than 131,072 characters")
        if "new-line" in error:
            return Unreadable(self.name, first, "line", "a carriage return inside a cell; its text needs quotes")
        return self._too_long(first)

    def _misfit(self) -> str:
        """Return why a tab-separated file cannot be read without quoting."""
        width = 0
        for line in self._lines() if self.dialect.delimiter == "\t" else ():
            count = line.text.count("\t") + 1
            width = width or count
            if line.text.strip() and count != width:
                return f"; read without quoting, line {line.number} has {count} cells instead of {width}"
        return ""

    def _too_long(self, line: int) -> Unreadable:
        message = f"the row is longer than the limit of {LONGEST_ROW // 2**20} MiB"
        return Unreadable(self.name, line, "line", message)


def parsed_row(raw: bytes, dialect: Dialect) -> list[str]:
    """Parse the bytes of one record and return its cells."""
    lines = io.StringIO(raw.decode(), newline="")
    rows = csv.reader(lines, delimiter=dialect.delimiter, quotechar=dialect.quote, quoting=dialect.quoting, strict=True)
    return next(cells for cells in rows if cells)


def _separator(header: str) -> str:
    """Return the separator: a tab if there is one outside quotes, otherwise the more frequent of , and ;.

    Column names contain no tabs.
    """
    bare = _QUOTED.sub("", header)
    return "\t" if "\t" in bare else max(",;", key=bare.count)
