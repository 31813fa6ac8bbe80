"""Read output files: CSV with a key and a text column, as in MSLR predictions, or one JSON object per line.

A file is read row by row and never held in memory. Faults give line and field. Texts are read unchanged.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NoReturn

from annotation.imports.json_lines import parse
from annotation.imports.reading import Line
from projects.spreadsheets.cells import column_name, is_missing
from projects.spreadsheets.delimited import Delimited, Dialect
from projects.uploads.faults import Faults, Unreadable
from projects.uploads.files import BOM, other_file

#: Version of the reading rules. Increase it with any change that can change a text.
READER = "concord-outputs 2"
#: Accepted names of the key and text columns, in lower case: the names of Concord first, then those of M3 and MSLR.
KEYS = ("key", "docid", "reviewid", "review_id", "id")
TEXTS = ("text", "generated", "summary", "prediction", "output")
#: Maximum length of a JSON line in bytes, and of a text in characters.
MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_TEXT_CHARACTERS = 100_000


@dataclass(frozen=True)
class Row:
    """One output. ``line`` is its first line, from 1; ``start`` and ``end`` are a half-open byte range of the file."""

    key: str
    text: str
    line: int
    start: int
    end: int


@dataclass
class Reading:
    """How a file was read, so that single rows can be read again.

    ``odd`` maps each warning to its number of rows and its first line.
    """

    dialect: Dialect = field(default_factory=Dialect)
    text_column: int = -1
    assumptions: list[str] = field(default_factory=list)
    warning_counts: dict[str, tuple[int, int]] = field(default_factory=dict)

    def count(self, sentence: str, line: int) -> None:
        number, first = self.warning_counts.get(sentence, (0, line))
        self.warning_counts[sentence] = (number + 1, first)

    def warnings(self) -> list[str]:
        """Return the import warnings."""
        return self.assumptions + [
            f"{sentence} ({number} {'row' if number == 1 else 'rows'}, the first on line {first})"
            for sentence, (number, first) in self.warning_counts.items()
        ]


class _Unreadable(Exception):
    """The rest of the file cannot be read. The fault has been recorded."""


class _Lines:
    """Decoded lines with line ends.

    ``number`` counts the lines read so far; ``offset`` is the byte after the last one.
    """

    def __init__(self, file: BinaryIO, name: str, faults: Faults) -> None:
        self.file, self.name, self.faults = file, name, faults
        self.number = 0
        self.offset = len(BOM) if file.read(len(BOM)) == BOM else 0
        file.seek(self.offset)

    def __iter__(self) -> Iterator[str]:
        while raw := self.file.readline(MAX_LINE_BYTES + 1):
            self.number += 1
            if len(raw) > MAX_LINE_BYTES:
                self.stop("line", f"longer than {MAX_LINE_BYTES // 2**20} MiB, the maximum length of a line")
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                self.stop(
                    "line",
                    f"byte 0x{raw[error.start]:02X} at byte {error.start + 1} of the line is not UTF-8: "
                    "save the file as UTF-8",
                )
            self.offset += len(raw)
            yield text

    def stop(self, field: str, message: str, line: int | None = None) -> NoReturn:
        self.faults.add(self.name, line or self.number, field, message)
        raise _Unreadable


def format_of(path: Path) -> str:
    """Return ``jsonl`` if the first character is a brace, else ``csv``."""
    with path.open("rb") as file:
        return "jsonl" if file.read(4096).removeprefix(BOM).lstrip()[:1] == b"{" else "csv"


def rows(file: BinaryIO, form: str, name: str, faults: Faults, reading: Reading) -> Iterator[Row]:
    """Yield the valid rows of a file, and record the faults of the others. `survey` detects duplicate keys.

    Blanks around a key are removed. A text that programs write for a missing value (``nan``) counts as no output.
    """
    if kind := other_file(file.read(256)):
        faults.add(
            name, 1, "file", f"expected CSV or JSON lines in UTF-8, found {kind}: save the file in such a format"
        )
        return
    file.seek(0)
    parsed = _read_jsonl(_Lines(file, name, faults)) if form == "jsonl" else _read_csv(file, name, faults, reading)
    with suppress(_Unreadable):
        for row in parsed:
            key = row.key.strip()
            if key != row.key:
                reading.count("Blanks around the key are removed.", row.line)
            if is_missing(row.text):
                reading.count(
                    "The text is nan, which programs write for a missing value: the row is skipped.", row.line
                )
                continue
            if not row.text.strip():
                reading.count("The output is empty.", row.line)
            yield Row(key, row.text, row.line, row.start, row.end)


def _read_csv(file: BinaryIO, name: str, faults: Faults, reading: Reading) -> Iterator[Row]:
    try:
        table = Delimited(file, name)
        reading.dialect, reading.assumptions = table.dialect, table.assumptions
        key_index, text_index = _find_columns(table, faults)
        reading.text_column = text_index
        for record in table:
            if record.fault:
                faults.add(name, record.line, "line", record.fault)
                continue
            key, text = record.cells[key_index], record.cells[text_index]
            cells = {table.column(key_index): key, table.column(text_index): text}
            if _is_storable(cells, key, record.line, name, faults):
                yield Row(key, text, record.line, record.start, record.end)
    except Unreadable as unreadable:
        unreadable.add_to(faults)


def text_column(header: Sequence[str]) -> int:
    """Return the index of the text column, or -1 unless there is exactly one."""
    indices = [number for number, name in enumerate(header) if column_name(name) in TEXTS]
    return indices[0] if len(indices) == 1 else -1


def _find_columns(table: Delimited, faults: Faults) -> tuple[int, int]:
    header = [column_name(name) for name in table.header]
    indices = []
    for names in (KEYS, TEXTS):
        matches = [number for number, name in enumerate(header) if name in names]
        if len(matches) != 1:
            present = ", ".join(repr(header[number]) for number in matches) or "none"
            header_is = f"; the header is {', '.join(map(repr, header))}"
            message = f"expected one column named {' or '.join(names)}, found {present}{header_is[:200]}"
            faults.add(table.name, table.header_line, "header", message)
            raise _Unreadable
        indices.append(matches[0])
    return indices[0], indices[1]


def _read_jsonl(lines: _Lines) -> Iterator[Row]:
    start = lines.offset
    for text in lines:
        begin, start = start, lines.offset
        body = text.removesuffix("\n").removesuffix("\r")
        if not body.strip():
            continue
        line = Line(lines.number, body, is_cut=not text.endswith("\n"))
        value = parse(line, lines.name, lines.faults)
        if value is not None and (pair := _read_pair(value, lines)):
            yield Row(*pair, lines.number, begin, start)


def _read_pair(value: Mapping[str, object], lines: _Lines) -> tuple[str, str] | None:
    names = []
    for accepted in (KEYS, TEXTS):
        matches = [name for name in value if name.lower() in accepted]
        if len(matches) != 1:
            present = ", ".join(map(repr, matches)) or "none"
            lines.faults.add(
                lines.name,
                lines.number,
                accepted[0],
                f"expected one field named {' or '.join(accepted)}, found {present}",
            )
            return None
        names.append(matches[0])
    key, text = value[names[0]], value[names[1]]
    # MSLR review ids are numbers in some files and strings in others.
    key = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
    if not isinstance(key, str) or not isinstance(text, str):
        invalid = names[1] if isinstance(key, str) else names[0]
        lines.faults.add(lines.name, lines.number, invalid, "expected a text")
        return None
    cells = {names[0]: key, names[1]: text}
    return (key, text) if _is_storable(cells, key, lines.number, lines.name, lines.faults) else None


def _is_storable(cells: Mapping[str, str], key: str, line: int, file: str, faults: Faults) -> bool:
    """Return whether a key and a text can be stored. Faults are recorded under the column names of the file."""
    for column, value in cells.items():
        fault = ""
        if "\0" in value:
            fault = f"a NUL character at character {value.index(chr(0)) + 1}"
        elif _has_surrogate(value):
            fault = "half a surrogate pair"
        elif len(value) > MAX_TEXT_CHARACTERS:
            fault = f"{len(value)} characters; the maximum is {MAX_TEXT_CHARACTERS}"
        if fault:
            faults.add(file, line, column, fault)
            return False
    if not key.strip():
        faults.add(file, line, next(iter(cells)), "an empty key")
        return False
    return True


def _has_surrogate(text: str) -> bool:
    """Return whether the text contains half of a surrogate pair. Only JSON can contain one, and databases reject it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
