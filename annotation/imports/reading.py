"""Reading what people bring: lines of UTF-8 within limits, and JSON without its traps.

Everything that is wrong becomes a fault with its line; nothing here raises for what a file contains, and nothing is
repaired. Offsets in later rows count code points of the texts exactly as they stand in the file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from projects.background.progress import Progress, silent
from projects.uploads.faults import Faults
from projects.uploads.source import Source

#: The longest line that is read, in bytes.
LONGEST_LINE = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
#: First bytes that tell another kind of file, longest first.
_OTHER_FILES = (
    (b"\xff\xfe\x00\x00", "UTF-32 text (little-endian byte order mark)"),
    (b"\x00\x00\xfe\xff", "UTF-32 text (big-endian byte order mark)"),
    (b"\xff\xfe", "UTF-16 text (little-endian byte order mark)"),
    (b"\xfe\xff", "UTF-16 text (big-endian byte order mark)"),
    (b"PK\x03\x04", "a ZIP archive (or an Office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite data base"),
)


@dataclass(frozen=True)
class Line:
    """One decoded line without its ending. ``is_cut``: it is the last, and no line ending follows."""

    number: int
    text: str
    is_cut: bool


@dataclass
class Habits:
    """How a file was written where that differs from the published form; reported, never changed in the texts."""

    bom: bool = False
    crlf: int = 0
    no_final_newline: bool = False
    notes: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        found = []
        if self.bom:
            found.append("The file starts with a byte order mark, which is no part of a text.")
        if self.crlf:
            found.append(f"{self.crlf} lines end in CR LF; a release ends lines in LF.")
        if self.no_final_newline:
            found.append("The last line has no line ending; a release has one.")
        return found + self.notes


def lines(
    source: Source,
    faults: Faults,
    habits: Habits,
    where: Callable[[str, int], str],
    progress: Progress = silent,
) -> Iterator[Line]:
    """The lines of a UTF-8 file, one at a time; faulty ones are added to ``faults`` and left out.

    ``where(text, position)`` names the field at a position of a line, for faults inside it.
    """
    with source.path.open("rb") as file:
        head = file.read(4096)
        if kind := other_file(head):
            faults.add(source.name, 1, "file", f"expected UTF-8 text, found {kind}; save it as UTF-8 first")
            return
        habits.bom = head.startswith(_BOM)
        offset = len(_BOM) if habits.bom else 0
        if source.size <= offset:
            faults.add(source.name, 1, "file", "the file is empty; expected one JSON object a line")
            return
        file.seek(offset)
        number = 0
        while raw := file.readline(LONGEST_LINE + 2):
            number += 1
            start, offset = offset, offset + len(raw)
            if not raw.endswith(b"\n") and len(raw) > LONGEST_LINE:
                while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
                    offset += len(rest)
                offset += len(rest)
                faults.add(
                    source.name, number, "line", f"longer than {LONGEST_LINE // 2**20} MiB, the most a line may have"
                )
                continue
            is_cut = not raw.endswith(b"\n")
            body = raw.removesuffix(b"\n")
            if body.endswith(b"\r"):
                habits.crlf += 1
                body = body[:-1]
            habits.no_final_newline = is_cut
            progress(offset, source.size, "reading")
            try:
                yield Line(number, body.decode(), is_cut)
            except UnicodeDecodeError as error:
                before = body[: error.start].decode()
                message = _not_utf8(body, error, start)
                if is_cut and error.reason == "unexpected end of data":
                    message = "the file ends inside a character and without a line ending: it seems cut off"
                faults.add(source.name, number, where(before, len(before)), message)


def other_file(head: bytes) -> str | None:
    for magic, name in _OTHER_FILES:
        if head.startswith(magic):
            return name
    pairs = head[:256]
    if len(pairs) >= 4 and 0 in pairs and (not any(pairs[1::2]) or not any(pairs[::2])):
        return "UTF-16 text (every second byte is zero)"
    return None


def _not_utf8(body: bytes, error: UnicodeDecodeError, start: int) -> str:
    near = body[max(0, error.start - 12) : error.start + 12].decode("cp1252", errors="replace")
    return (
        f"byte 0x{body[error.start]:02X} at byte {error.start + 1} of the line ({start + error.start} from the start "
        f'of the file) is not UTF-8; read as Latin-1 it would be "{near}": save the file as UTF-8'
    )
