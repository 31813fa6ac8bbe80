"""Whether a workbook may be opened: it is a zip archive of XML, and both can be made to hurt.

openpyxl holds whole parts in memory, several hundred bytes for a tag of five. So each part is read once before, as a
stream, and weighed by what would be held of it. A part that is no XML stops this reader where it would stop openpyxl.
"""

import zipfile
from collections.abc import Iterator
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

#: Limits of a workbook, unpacked. Far above any round's sheet.
MOST_PARTS, MOST_BYTES, MOST_RATIO = 500, 256 * 2**20, 200
#: Limits of one part, in bytes and in tags and attributes that are held at a time: the cells and the texts of a sheet
#: may be many, styles and the rest are few in any workbook that a person made.
LARGE = 64 * 2**20, 400_000
SMALL = 8 * 2**20, 50_000
#: The same within one row of a sheet, which is let go when the next one comes.
MOST_IN_ROW = 100_000
ROW = f"{SHEET_MAIN_NS} row"
#: Parts that openpyxl reads whole by their names, whatever the archive says that they are.
NAMED = {ARC_CONTENT_TYPES, ARC_STYLE, ARC_THEME, ARC_CORE, ARC_CUSTOM}
CHUNK = 1 << 16


def refuse_unfit(path: Path) -> None:
    """Raise `Refused` for an archive that is damaged, protected, or would grow beyond any sheet of ours."""
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
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused.field("file", f"This workbook is damaged or protected ({error}).") from None


def _with_limits(
    archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo]
) -> Iterator[tuple[zipfile.ZipInfo, tuple[int, int]]]:
    """Each part with its limits; the list of what the parts are comes first, for the others' limits depend on it."""
    by_name = {part.filename: part for part in parts}
    if len(by_name) < len(parts):
        raise Refused.field("file", "This workbook has two parts of one name; it was not opened.")
    if listing := by_name.pop(ARC_CONTENT_TYPES, None):
        yield listing, SMALL
        large = _large(archive.read(listing))
    else:
        large = set()
    for name, part in by_name.items():
        yield part, LARGE if name in large else SMALL


def _large(listing: bytes) -> set[str]:
    """The parts that are sheets or the texts of sheets, and nothing else."""
    try:
        listed: Any = Manifest.from_tree(cast(Any, fromstring(listing)))
        declared = [(part.PartName.lstrip("/"), part.ContentType) for part in listed.Override]
    except Exception:
        return set()  # openpyxl will say what is wrong with it
    others = {name for name, type in declared if type not in (SHARED_STRINGS, WORKSHEET_TYPE)}
    return {name for name, _ in declared} - others - NAMED


class _Weight:
    """What a reader of one part would hold: counted as it streams by, refused as soon as it is too much."""

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
        """No part of a workbook has one; one that does wants to make a parser fetch or grow something."""
        raise Refused.field("file", "This workbook declares XML entities; it was not opened.")


def _too_much() -> Refused:
    return Refused.field("file", "This workbook unpacks to more than any sheet of ours; it was not opened.")
