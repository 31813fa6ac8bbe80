"""Reading outputs: CSV with a column of keys and one of texts, as MSLR's predictions are, or one JSON object a line.

A file is read row by row and never held whole. What is wrong is named by line and field, and nothing is repaired: texts
come out as they stand, line breaks within quotes included.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from annotation.imports.json_lines import parse
from annotation.imports.reading import Line, other_file
from projects.uploads.faults import Faults

#: Name of these rules; raised with any change that can change a text.
READER = "concord-outputs 1"
#: The names that a column or field may have, in lower case: ours first, then M3's and MSLR's.
KEYS = ("key", "docid", "reviewid", "review_id", "id")
TEXTS = ("text", "generated", "summary", "prediction", "output")
#: The longest line in bytes, and the longest text of a CSV in characters: what is longer is an unclosed quote.
LONGEST_LINE = 16 * 1024 * 1024
LONGEST_TEXT = 100_000
#: The longest record of a CSV in characters, whatever its lines.
LONGEST_RECORD = 4 * 2**20
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Row:
    """One output. ``line`` is where it begins, from 1; its bytes are [start, end) of the file."""

    key: str
    text: str
    line: int
    start: int
    end: int


class _Unreadable(Exception):
    """From here on the file cannot be read; the fault has been added."""


class _Lines:
    """Decoded lines with their endings; ``number`` of them so far, which end at byte ``offset``. ``taken`` characters
    are of the record at hand."""

    def __init__(self, file: BinaryIO, name: str, faults: Faults) -> None:
        self.file, self.name, self.faults = file, name, faults
        self.number = self.taken = 0
        self.offset = len(_BOM) if file.read(len(_BOM)) == _BOM else 0
        file.seek(self.offset)

    def __iter__(self) -> Iterator[str]:
        while raw := self.file.readline(LONGEST_LINE + 1):
            self.number += 1
            if len(raw) > LONGEST_LINE:
                self.stop("line", f"longer than {LONGEST_LINE // 2**20} MiB, the most a line may have")
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                self.stop("line", f"byte 0x{raw[error.start]:02X} at byte {error.start + 1} of the line is not UTF-8: "
                                  "save the file as UTF-8")  # fmt: skip
            self.offset += len(raw)
            yield text

    def stop(self, field: str, message: str, line: int | None = None) -> NoReturn:
        self.faults.add(self.name, line or self.number, field, message)
        raise _Unreadable


def format_of(path: Path) -> str:
    """``jsonl`` where the first character is a brace, else ``csv``."""
    with path.open("rb") as file:
        return "jsonl" if file.read(4096).removeprefix(_BOM).lstrip()[:1] == b"{" else "csv"


def rows(file: BinaryIO, form: str, name: str, faults: Faults) -> Iterator[Row]:
    """The good rows of a file of a format; faults of the others are added. Keys may come twice: see `survey`."""
    if kind := other_file(file.read(16)):
        faults.add(name, 1, "file", f"expected CSV or JSON lines in UTF-8, found {kind}: save it so first")
        return
    file.seek(0)
    lines = _Lines(file, name, faults)
    with suppress(_Unreadable):
        yield from _of_jsonl(lines) if form == "jsonl" else _of_csv(lines)


def _of_csv(lines: _Lines) -> Iterator[Row]:
    records = _records(lines)
    header = next(records, (None, 0, 0))[0]
    if header is None:
        lines.stop("file", "the file is empty; expected a header and one row an output", 1)
    of_key, of_text = _places([name.strip().lower() for name in header], lines)
    for fields, line, start in records:
        if len(fields) != len(header):
            lines.faults.add(lines.name, line, "line", f"{len(fields)} fields; the header has {len(header)}")
            continue
        key, text = fields[of_key], fields[of_text]
        if _is_good({header[of_key]: key, header[of_text]: text}, key, line, lines):
            yield Row(key, text, line, start, lines.offset)


def _records(lines: _Lines) -> Iterator[tuple[list[str], int, int]]:
    """Records with the line and the byte at which they begin; blank lines are left out."""
    reader = csv.reader(_bounded(lines), strict=True)
    while True:
        line, start = lines.number + 1, lines.offset
        lines.taken = 0
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            lines.stop("line", f"no CSV from here on: {error}", line)
        if fields:
            yield fields, line, start


def _bounded(lines: _Lines) -> Iterator[str]:
    """The lines, unless a record takes up too many characters of them: one that never ends would take all memory."""
    for text in lines:
        lines.taken += len(text)
        if lines.taken > LONGEST_RECORD:
            lines.stop("line", f"a record of more than {LONGEST_RECORD:,} characters: a quote that is not closed?")
        yield text


def _places(header: Sequence[str], lines: _Lines) -> tuple[int, int]:
    found = []
    for names in (KEYS, TEXTS):
        here = [at for at, name in enumerate(header) if name in names]
        if len(here) != 1:
            had = ", ".join(repr(header[at]) for at in here) or "none"
            header_is = f"; the header, read as fields between commas, is {', '.join(map(repr, header))}"
            lines.stop("header", f"one column named {' or '.join(names)} is needed; there is {had}{header_is[:200]}", 1)
        found.append(here[0])
    return found[0], found[1]


def _of_jsonl(lines: _Lines) -> Iterator[Row]:
    start = lines.offset
    for text in lines:
        begin, start = start, lines.offset
        body = text.removesuffix("\n").removesuffix("\r")
        if not body.strip():
            continue
        line = Line(lines.number, body, is_cut=not text.endswith("\n"))
        value = parse(line, lines.name, lines.faults)
        if value is not None and (found := _pair(value, lines)):
            yield Row(*found, lines.number, begin, start)


def _pair(value: Mapping[str, object], lines: _Lines) -> tuple[str, str] | None:
    names = []
    for known in (KEYS, TEXTS):
        here = [name for name in value if name.lower() in known]
        if len(here) != 1:
            had = ", ".join(map(repr, here)) or "none"
            lines.faults.add(lines.name, lines.number, known[0], f"one field named {' or '.join(known)} is needed; "
                             f"there is {had}")  # fmt: skip
            return None
        names.append(here[0])
    key, text = value[names[0]], value[names[1]]
    # MSLR's review ids are numbers in some files and texts in others.
    key = str(key) if isinstance(key, int) and not isinstance(key, bool) else key
    if not isinstance(key, str) or not isinstance(text, str):
        wrong = names[1] if isinstance(key, str) else names[0]
        lines.faults.add(lines.name, lines.number, wrong, "expected a text")
        return None
    return (key, text) if _is_good({names[0]: key, names[1]: text}, key, lines.number, lines) else None


def _is_good(named: Mapping[str, str], key: str, line: int, lines: _Lines) -> bool:
    """Whether a key and a text can be stored; faults are added under the names that the file gives them."""
    for name, value in named.items():
        fault = ""
        if "\0" in value:
            fault = f"a NUL character at character {value.index(chr(0)) + 1}"
        elif _is_broken(value):
            fault = "half a surrogate pair"
        elif len(value) > LONGEST_TEXT:
            fault = f"{len(value)} characters; {LONGEST_TEXT} are the most"
        if fault:
            lines.faults.add(lines.name, line, name, fault)
            return False
    if not key.strip():
        lines.faults.add(lines.name, line, next(iter(named)), "an empty key")
        return False
    return True


def _is_broken(text: str) -> bool:
    """Whether half of a surrogate pair is in it, which only JSON can bring: no data base takes that."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
