"""A file of outputs gone through once: which keys it has and where, written down beside it, so that a text is fetched
without the rest. However large the file is, no more of it than a row is held."""

import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from projects.background.progress import Progress, silent
from projects.uploads.faults import Faults

from .reading import READER, Row, format_of, rows

#: Outputs that a file may hold: of each a line is written into the index, some hundred bytes.
MOST = 2_000_000
GROUP = 1000
_TABLES = """
CREATE TABLE place (key TEXT PRIMARY KEY, line INTEGER, start INTEGER, stop INTEGER, digest BLOB) WITHOUT ROWID;
CREATE TABLE about (json TEXT);
"""


class Changed(Exception):
    """The file is no longer what was gone through."""


@dataclass(frozen=True)
class Place:
    """Where the output of a key stands: its first line, from 1, its bytes [start, stop), and their SHA-256."""

    line: int
    start: int
    stop: int
    digest: bytes


@dataclass(frozen=True)
class About:
    """What a file holds. ``head`` are the bytes before its first output: a CSV's header."""

    reader: str
    sha256: str
    size: int
    format: str
    head: bytes
    outputs: int


class Survey:
    """An index of a file that has no fault, open for reading. Raises OSError where there is none, `Changed` where it is
    of another file or from another reader."""

    def __init__(self, path: Path, index: Path) -> None:
        self.path = path
        if not index.is_file():
            raise FileNotFoundError(index)
        # Nobody writes it any more: no lock is needed, which a network folder may not have.
        self._index = sqlite3.connect(f"{index.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            about = json.loads(self._index.execute("SELECT json FROM about").fetchone()[0])
            self.about = About(**about | {"head": bytes.fromhex(about["head"])})
        except (sqlite3.Error, TypeError, KeyError, ValueError):
            self.close()
            raise Changed from None
        if self.about.reader != READER or self.about.size != path.stat().st_size:
            self.close()
            raise Changed

    def place(self, key: str) -> Place | None:
        found = self._index.execute("SELECT line, start, stop, digest FROM place WHERE key = ?", (key,)).fetchone()
        return Place(*found) if found else None

    def text(self, place: Place) -> str:
        """The text that stands at a place, read from the file anew. Raises `Changed`."""
        with self.path.open("rb") as file:
            file.seek(place.start)
            row = file.read(place.stop - place.start)
        if sha256(row).digest() != place.digest:
            raise Changed
        (found,) = rows(io.BytesIO(self.about.head + row), self.about.format, "", Faults())
        return found.text

    def in_groups(self) -> Iterator[list[tuple[int, str]]]:
        """(line, key) of all outputs in the order of the file, a thousand at a time."""
        rows = self._index.execute("SELECT line, key FROM place ORDER BY line")
        while group := rows.fetchmany(GROUP):
            yield group

    def close(self) -> None:
        self._index.close()


def survey(path: Path, name: str, index: Path, progress: Progress = silent) -> tuple[About, Faults]:
    """Go through a file and write its index, which is of use where there is no fault: a key that comes twice is one
    too. OSError as of files."""
    form, size, faults = format_of(path), path.stat().st_size, Faults()
    progress(0, size, "checking")
    with path.open("rb") as file, closing(sqlite3.connect(index)) as made:
        # Begun anew after whatever ends it: nothing is lost by not waiting for the disk.
        made.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}")
        digest = file_digest(file, "sha256").hexdigest()
        file.seek(0)
        head, outputs = b"", 0
        with path.open("rb") as again:
            for row in rows(file, form, name, faults):
                if outputs == MOST:
                    faults.add(name, row.line, "file", f"more than {MOST} outputs, the most that a file may hold")
                    break
                if not outputs and form == "csv":
                    head = again.read(row.start)
                again.seek(row.start)
                place = (row.line, row.start, row.end, sha256(again.read(row.end - row.start)).digest())
                if made.execute("INSERT OR IGNORE INTO place VALUES (?, ?, ?, ?, ?)", (row.key, *place)).rowcount:
                    outputs += 1
                else:
                    faults.add(name, row.line, "key", _twice(made, row))
                progress(row.end, size, "checking")
        if not outputs and not faults:
            faults.add(name, 1, "file", "the file holds no output")
        about = About(READER, digest, size, form, head, outputs)
        made.execute("INSERT INTO about VALUES (?)", (json.dumps(vars(about) | {"head": head.hex()}),))
        made.commit()
    return about, faults


def _twice(made: sqlite3.Connection, row: Row) -> str:
    earlier: Any = made.execute("SELECT line FROM place WHERE key = ?", (row.key,)).fetchone()
    return f"the key {row.key[:80]!r} stands in line {earlier[0]} already"
