"""A file of outputs gone through once: which keys it has and where, so that a text can be fetched without the rest."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path

from annotation.imports.faults import Faults

from .reading import format_of, rows

#: Outputs that a file may hold: each is known by its key and place in memory.
MOST = 200_000


@dataclass(frozen=True)
class Place:
    """Where the output of a key stands: its first line, from 1, and its bytes [start, end)."""

    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Survey:
    """What a file holds. ``head`` are the bytes before its first output: a CSV's header."""

    path: Path
    name: str
    sha256: str
    format: str
    head: bytes
    places: Mapping[str, Place]
    faults: Faults

    def text(self, key: str) -> str:
        """The text of a key, read from the file anew. KeyError where it has none."""
        place = self.places[key]
        with self.path.open("rb") as file:
            file.seek(place.start)
            one = io.BytesIO(self.head + file.read(place.end - place.start))
        (row,) = rows(one, self.format, self.name, Faults())
        return row.text


def survey(path: Path, name: str) -> Survey:
    """Go through a file. What is wrong with it, a key that comes twice too, is in ``faults``; OSError as of files."""
    form = format_of(path)
    faults = Faults()
    places: dict[str, Place] = {}
    head = b""
    with path.open("rb") as file:
        sha256 = file_digest(file, "sha256").hexdigest()
        file.seek(0)
        for row in rows(file, form, name, faults):
            if len(places) == MOST:
                faults.add(name, row.line, "file", f"more than {MOST} outputs, the most that a file may hold")
                break
            if not places and not faults and form == "csv":
                head = _first(path, row.start)
            if row.key in places:
                earlier = places[row.key].line
                faults.add(name, row.line, "key", f"the key {row.key[:80]!r} stands in line {earlier} already")
            else:
                places[row.key] = Place(row.line, row.start, row.end)
    if not places and not faults:
        faults.add(name, 1, "file", "the file holds no output")
    return Survey(path, name, sha256, form, head, places, faults)


def _first(path: Path, size: int) -> bytes:
    """The bytes before the first good row. Rows with faults among them would be read again: the header is its first
    record, and whoever asks for texts has seen that there are no faults."""
    with path.open("rb") as file:
        return file.read(size)
