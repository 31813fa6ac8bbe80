"""Survey of an output file: an index of its keys and byte ranges, so that single texts can be read.

No more than one row of the file is held in memory.
"""

import io
import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from projects.jobs.batches import Progress, silent
from projects.spreadsheets.delimited import Dialect, parsed_row
from projects.uploads.faults import Faults
from projects.uploads.files import BOM

from .reading import READER, Reading, Row, format_of, rows, text_column

#: An earlier version of the reading rules with the same texts. It kept blanks around keys, and ``nan`` as a text.
EARLIER = "concord-outputs 1"
#: Maximum number of outputs in a file. Each takes a row of about a hundred bytes in the index.
MOST = 2_000_000
GROUP = 1000
_TABLES = """
CREATE TABLE place (key TEXT PRIMARY KEY, line INTEGER, start INTEGER, stop INTEGER, digest BLOB) WITHOUT ROWID;
CREATE TABLE about (json TEXT);
"""


class Changed(Exception):
    """The file has changed since it was surveyed."""


@dataclass(frozen=True)
class Location:
    """Location of an output: its first line, from 1, its half-open byte range [start, stop), and the SHA-256 of these
    bytes.
    """

    line: int
    start: int
    stop: int
    digest: bytes


@dataclass(frozen=True)
class About:
    """The contents of a file, and how its rows are read.

    ``head`` holds the bytes before the first output of a CSV file. ``text_column`` is -1 in an index of `EARLIER`,
    which did not store it.
    """

    reader: str
    sha256: str
    size: int
    format: str
    head: bytes
    outputs: int
    delimiter: str = ","
    is_quoted: bool = True
    text_column: int = -1
    warnings: Sequence[str] = ()


class Survey:
    """Index of a file without faults, open for reading.

    Raise OSError if the index is missing, and `Changed` if it belongs to another file or reader.
    """

    def __init__(self, path: Path, index: Path) -> None:
        self.path = path
        if not index.is_file():
            raise FileNotFoundError(index)
        # The index is never written again, so no lock is needed. Network folders may not support locks.
        self._index = sqlite3.connect(f"{index.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            about = json.loads(self._index.execute("SELECT json FROM about").fetchone()[0])
            self.about = About(**about | {"head": bytes.fromhex(about["head"])})
        except (sqlite3.Error, TypeError, KeyError, ValueError):
            self.close()
            raise Changed from None
        if self.about.reader not in (READER, EARLIER) or self.about.size != path.stat().st_size:
            self.close()
            raise Changed
        self.dialect = Dialect(self.about.delimiter, self.about.is_quoted)
        self.text_column = self.about.text_column
        if self.about.format == "csv" and self.text_column < 0:
            self.text_column = text_column(parsed_row(self.about.head.removeprefix(BOM), self.dialect))

    def find(self, key: str) -> Location | None:
        row = self._index.execute("SELECT line, start, stop, digest FROM place WHERE key = ?", (key,)).fetchone()
        return Location(*row) if row else None

    def text(self, place: Location) -> str:
        """Return the text at a location, read from the file. Raise `Changed` if its hash differs."""
        with self.path.open("rb") as file:
            file.seek(place.start)
            row = file.read(place.stop - place.start)
        if sha256(row).digest() != place.digest:
            raise Changed
        if self.about.format == "csv":
            return parsed_row(row, self.dialect)[self.text_column]
        (output,) = rows(io.BytesIO(row), self.about.format, "", Faults(), Reading())
        return output.text

    def in_groups(self) -> Iterator[list[tuple[int, str]]]:
        """Yield lists of (line, key) of all outputs in file order, up to `GROUP` at a time."""
        rows = self._index.execute("SELECT line, key FROM place ORDER BY line")
        while group := rows.fetchmany(GROUP):
            yield group

    def close(self) -> None:
        self._index.close()


def survey(path: Path, name: str, index: Path, progress: Progress = silent) -> tuple[About, Faults]:
    """Read a file and write its index, which is valid only if there are no faults. A duplicate key is a fault.

    Raise OSError if a file cannot be read or written.
    """
    format, size, faults, reading = format_of(path), path.stat().st_size, Faults(), Reading()
    progress(0, size, "checking")
    with path.open("rb") as file, closing(sqlite3.connect(index)) as connection:
        # The survey starts again after any interruption, so waiting for the disk gains nothing.
        connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
        digest = file_digest(file, "sha256").hexdigest()
        file.seek(0)
        head, outputs = b"", 0
        with path.open("rb") as second:
            for row in rows(file, format, name, faults, reading):
                if outputs == MOST:
                    faults.add(name, row.line, "file", f"more than {MOST} outputs, the maximum of a file")
                    break
                if not outputs and format == "csv":
                    head = second.read(row.start)
                second.seek(row.start)
                location = (row.line, row.start, row.end, sha256(second.read(row.end - row.start)).digest())
                if connection.execute(
                    "INSERT OR IGNORE INTO place VALUES (?, ?, ?, ?, ?)", (row.key, *location)
                ).rowcount:
                    outputs += 1
                else:
                    faults.add(name, row.line, "key", _duplicate_message(connection, row))
                progress(row.end, size, "checking")
        if not outputs and not faults:
            faults.add(name, 1, "file", "the file contains no output")
        about = About(
            READER,
            digest,
            size,
            format,
            head,
            outputs,
            reading.dialect.delimiter,
            reading.dialect.is_quoted,
            reading.text_column,
            reading.warnings(),
        )
        connection.execute("INSERT INTO about VALUES (?)", (json.dumps(vars(about) | {"head": head.hex()}),))
        connection.commit()
    return about, faults


def _duplicate_message(connection: sqlite3.Connection, row: Row) -> str:
    earlier: Any = connection.execute("SELECT line FROM place WHERE key = ?", (row.key,)).fetchone()
    return f"duplicate key {row.key[:80]!r}, first on line {earlier[0]}"
