"""Read tables row by row in constant memory: CSV and TSV, JSON lines, JSON and Parquet."""

import codecs
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from projects.spreadsheets.delimited import Delimited, Dialect
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import BOM, Source, other_file

from ...imports import json_lines
from ...imports.json_lines import describe
from ...imports.reading import LONGEST_LINE, Habits, lines
from ...imports.stream import START, Position
from .mapping import Settings, other_form

CHUNK = 1 << 20
#: Rows of a JSON or Parquet file in which its columns are looked for.
SAMPLED = 1_000
#: Column with the keys of a JSON object of objects.
KEYS = "(key)"


class Row(NamedTuple):
    """A row. ``line``: its first line; of a Parquet file its number. ``end``: offset after it. ``fault`` or empty."""

    line: int
    end: int
    cells: list[Any]
    fault: str = ""


class Table:
    """A table in a file. Rows that cannot be read become faults. A cell is a text, a list or None."""

    def __init__(self, source: Source, settings: Settings) -> None:
        self.source, self.settings = source, settings
        self._copy: Any = None
        self.habits = Habits()
        #: Line of the names of the columns.
        self.header_line = 1
        self.names: list[str] = []

    def open(self) -> "Table":
        """Read the names of the columns. Raise `Unreadable`."""
        refuse_other_files(self.source)
        if is_parquet(self.source):  # also with the mapping of a CSV file of the same columns
            self.settings = replace(self.settings, format="parquet")
        if self.settings.encoding != "utf-8" and self.settings.format != "parquet":
            self._copy = _as_utf8(self.source, self.settings.encoding)
            # Sources are compared by size and time; this one is read only.
            path = Path(self._copy.name)
            self.readable = replace(self.source, path=path, size=path.stat().st_size)
        else:
            self.readable = self.source
        if self.settings.format == "csv":
            with self.readable.path.open("rb") as file:
                table = self._delimited(file)
                self.names, self.header_line = unique(table.header), table.header_line
                self.habits.bom, self.habits.notes = table.has_bom, list(table.assumptions)
        elif self.settings.format == "parquet":
            self.names = list(_parquet(self.source).schema_arrow.names)
            self._find_paths()
        else:
            self._find_paths()
        return self

    def _find_paths(self) -> None:
        """Collect the paths of the first rows, in the order in which they occur first."""
        faults, names = Faults(), dict[str, None]()
        for _, _, value in islice(self._objects(START, faults), SAMPLED):
            names.update(dict.fromkeys(name for name in flattened(value) if other_form(name) not in names))
        if not names:
            fault = faults.listed[0] if faults else None
            raise Unreadable(
                self.source.name,
                fault.line if fault else 1,
                fault.field if fault else "file",
                fault.message if fault else "the file has no rows",
            )
        self.names = list(names)

    def rows(self, start: Position, faults: Faults) -> Iterator[Row]:
        try:
            if self.settings.format == "csv":
                yield from self._delimited_rows(start)
            else:
                for line, end, value in self._objects(start, faults):
                    cells = flattened(value)
                    yield Row(line, end, [cells.get(name, cells.get(other_form(name))) for name in self.names])
        except Unreadable as unreadable:
            unreadable.add_to(faults)

    def _delimited(self, file: BinaryIO) -> Delimited:
        dialect = Dialect(self.settings.delimiter, bool(self.settings.quote), self.settings.quote or '"')
        return Delimited(file, self.source.name, dialect=dialect, has_header=self.settings.header)

    def _delimited_rows(self, start: Position) -> Iterator[Row]:
        with self.readable.path.open("rb") as file:
            table = self._delimited(file)
            if start.offset:
                table.continue_from(start.offset, lines_before(self.readable.path, start.offset))
            for record in table:
                yield Row(record.line, record.end, record.cells, record.fault)
            self.habits.no_final_newline = table.is_cut

    def _objects(self, start: Position, faults: Faults) -> Iterator[tuple[int, int, Any]]:
        """Yield (line, end, object) of the rows of a file that is no CSV."""
        if self.settings.format == "parquet":
            yield from _parquet_rows(self.source, start)
        elif self.settings.format == "json":
            yield from _elements(self.readable, start, faults)
        else:
            number = lines_before(self.readable.path, start.offset)
            for line in lines(
                self.readable, faults, self.habits, json_lines.path_at, offset=start.offset, number=number
            ):
                if line.text.strip() and (value := json_lines.parse(line, self.source.name, faults)) is not None:
                    yield line.number, line.end, value


def is_parquet(source: Source) -> bool:
    with source.path.open("rb") as file:
        return file.read(4) == b"PAR1"


def refuse_other_files(source: Source) -> None:
    """Raise `Unreadable` for a compressed file or a document, which would be read as Windows-1252."""
    with source.path.open("rb") as file:
        kind = other_file(file.read(4096))
    if kind and not kind.startswith(("UTF-16", "a JSON", "one JSON")):
        raise Unreadable(source.name, 1, "file", f"found {kind}; unpack the file, or save the table as CSV")


def unique(names: list[str]) -> list[str]:
    """Return the names of columns, without blanks around them. An empty or repeated one gets a number."""
    seen: set[str] = set()
    result = []
    for number, name in enumerate(names, start=1):
        name = name.strip().strip("\ufeff") or f"column {number}"
        free, n = name, 1
        while free in seen:
            n += 1
            free = f"{name} ({n})"
        seen.add(free)
        result.append(free)
    return result


def lines_before(path: Path, offset: int) -> int:
    """Return the number of line ends in the first bytes of a file."""
    count = 0
    with path.open("rb") as file:
        while offset > 0 and (chunk := file.read(min(CHUNK, offset))):
            count += chunk.count(b"\n")
            offset -= len(chunk)
    return count


def flattened(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of an object by path: ``a.b``, ``list[]`` and ``list[].c`` (a list of the values)."""
    cells: dict[str, Any] = {}
    for key, one in value.items():
        path = f"{prefix}{key}"
        if isinstance(one, dict):
            cells |= flattened(one, f"{path}.")
        elif isinstance(one, list) and one and all(isinstance(each, dict) for each in one):
            rows = [flattened(each) for each in one]
            for name in dict.fromkeys(name for row in rows for name in row):
                cells[f"{path}[].{name}"] = [row.get(name, "") for row in rows]
        elif isinstance(one, list):
            cells[f"{path}[]"] = [_plain(each) for each in one]
        else:
            cells[path] = _plain(one)
    return cells


def _plain(value: Any) -> Any:
    """Return a value as a text, None, or a list that no role takes."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (list, dict)):
        return [json.dumps(value, ensure_ascii=False, default=str)]
    return json.dumps(value, default=str).strip('"')


def _as_utf8(source: Source, encoding: str) -> Any:
    """Return a temporary copy of a file in UTF-8. Raise `Unreadable` at the first character that is not readable."""
    codec = "utf-16" if encoding == "utf-16" else "cp1252"
    copy = tempfile.NamedTemporaryFile(suffix=".utf8")  # noqa: SIM115 - it is removed with the table
    line = 1
    with source.path.open("rb") as file:
        if codec == "utf-16":
            head = file.read(2)
            file.seek(0)
            if head not in (b"\xff\xfe", b"\xfe\xff"):
                first = file.read(256)
                file.seek(0)
                codec = "utf-16-be" if first[:1] == b"\0" else "utf-16-le"
        decoder = codecs.getincrementaldecoder(codec)()
        while True:
            chunk = file.read(CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                line += error.object[: error.start].decode(codec, "ignore").count("\n")
                message = f"byte 0x{error.object[error.start]:02X} is not {encoding.title()}: {error.reason}"
                raise Unreadable(source.name, line, "line", message) from None
            line += text.count("\n")
            copy.write(text.encode())
            if not chunk:
                break
    copy.flush()
    return copy


def _elements(source: Source, start: Position, faults: Faults) -> Iterator[tuple[int, int, Any]]:
    """Yield the objects of a JSON array, or of a JSON object of objects, whose keys become a column."""
    reader = _Reader(source)
    try:
        with reader.opened(start) as kind:
            while (found := reader.next(kind)) is not None:
                yield found
    except Unreadable as unreadable:
        unreadable.add_to(faults)


class _Reader:
    """A JSON file that is read element by element. ``offset`` and ``line``: of the start of the buffer."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text, self.offset, self.line = "", 0, 1
        self.is_complete = False

    @contextmanager
    def opened(self, start: Position) -> Iterator[str]:
        with self.source.path.open("rb") as self._file:
            self._decoder = codecs.getincrementaldecoder("utf-8")()
            if self._file.read(len(BOM)) != BOM:
                self._file.seek(0)
            self.offset = self._file.tell()
            self._more()
            self._skip()
            kind = self.text[:1]
            if kind not in ("[", "{"):
                raise self._unreadable("expected a list of objects")
            self._take(1)
            if start.offset:
                self._file.seek(start.offset)
                self.line = lines_before(self.source.path, start.offset) + 1
                self.text, self.offset, self.is_complete = "", start.offset, False
                self._decoder.reset()
            yield kind

    def next(self, kind: str) -> tuple[int, int, Any] | None:
        """Return the next element as (line, end, object), or None at the end."""
        self._skip(",")
        if self.text[:1] == ("]" if kind == "[" else "}"):
            return None
        line, key = self.line, None
        if kind == "{":
            key = self._value()
            self._skip(":")
        value = self._value()
        if not isinstance(value, dict):
            raise Unreadable(self.source.name, line, "file", f"expected a list of objects, found {describe(value)}")
        return line, self.offset, value if key is None else {KEYS: key, **value}

    def _value(self) -> Any:
        while True:
            try:
                value, end = json_lines.value_at(self.text)
            except ValueError as error:
                if not self.is_complete and len(self.text) < LONGEST_LINE:
                    self._more()
                    continue
                position = getattr(error, "pos", 0)
                line = self.line + self.text.count("\n", 0, position)
                field = json_lines.path_at(self.text, position) if position else "file"
                raise Unreadable(self.source.name, line, field, f"not JSON: {error}") from None
            # A number may go on behind the buffer.
            if end == len(self.text) and not self.is_complete:
                self._more()
                continue
            self._take(end)
            return value

    def _skip(self, mark: str = "") -> None:
        """Skip white space, and one mark in it."""
        while True:
            rest = self.text.lstrip(" \t\r\n")
            self._take(len(self.text) - len(rest))
            if self.text:
                if self.text[0] != mark:
                    return
                self._take(1)
                mark = ""
            elif self.is_complete:
                return
            else:
                self._more()

    def _take(self, length: int) -> None:
        taken, self.text = self.text[:length], self.text[length:]
        self.offset += len(taken.encode())
        self.line += taken.count("\n")

    def _more(self) -> None:
        # Twice as much each time: a long element is parsed again, and this must not take quadratic time.
        chunk = self._file.read(max(1 << 16, len(self.text)))
        self.is_complete = not chunk
        try:
            self.text += self._decoder.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            line = self.line + self.text.count("\n") + error.object[: error.start].count(b"\n")
            raise Unreadable(
                self.source.name, line, "line", f"byte 0x{error.object[error.start]:02X} is not UTF-8"
            ) from None

    def _unreadable(self, message: str) -> Unreadable:
        return Unreadable(self.source.name, self.line, "file", message)


def _parquet(source: Source) -> Any:
    try:
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from pyarrow import parquet  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        message = "Parquet needs pyarrow, which this server does not have; save the file as CSV"
        raise Unreadable(source.name, 1, "file", message) from None
    try:
        return parquet.ParquetFile(source.path)
    except pyarrow.ArrowException as error:
        raise Unreadable(source.name, 1, "file", f"not a Parquet file: {error}") from None


def _parquet_rows(source: Source, start: Position) -> Iterator[tuple[int, int, Any]]:
    number = 0
    for batch in _parquet(source).iter_batches(batch_size=SAMPLED):
        if number + batch.num_rows <= start.offset:
            number += batch.num_rows
            continue
        for value in batch.to_pylist():
            number += 1
            if number > start.offset:
                yield number, number, value
