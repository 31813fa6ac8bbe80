"""Read UTF-8 lines within limits.

Every error becomes a fault with its line number. Content never raises an exception and is never repaired. Offsets in
later rows count code points of the texts exactly as in the file.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from projects.jobs.batches import Progress, silent
from projects.uploads.faults import Faults
from projects.uploads.files import BOM, Source, is_json_object, not_utf8, other_file

#: Maximum length of a line in bytes.
LONGEST_LINE = 16 * 1024 * 1024
#: Size of the read buffer. Lines longer than it are joined from pieces, which takes as long as parsing them.
BUFFER = 1024 * 1024


class Line(NamedTuple):
    """One decoded line without its ending. ``is_cut``: it is the last line and has no line ending."""

    number: int
    text: str
    is_cut: bool
    #: Offset in the file after the line.
    end: int = 0


@dataclass
class Habits:
    """Differences between a file and the published form. They are reported, and the texts stay unchanged."""

    bom: bool = False
    crlf: int = 0
    no_final_newline: bool = False
    notes: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        out = []
        if self.bom:
            out.append("The file starts with a byte order mark, which is not part of any text.")
        if self.crlf:
            out.append(f"{self.crlf} lines end in CR LF. Lines of a release end in LF.")
        if self.no_final_newline:
            out.append("The last line has no line ending. In a release it has one.")
        return out + self.notes


def lines(
    source: Source,
    faults: Faults,
    habits: Habits,
    where: Callable[[str, int], str],
    progress: Progress = silent,
    *,
    offset: int = 0,
    number: int = 0,
    longest: int | None = None,
) -> Iterator[Line]:
    """Yield the lines of a UTF-8 file; invalid lines are added to ``faults`` and omitted.

    ``where(text, position)`` names the field at a position of a line, for faults inside it. To continue, pass the
    offset after a line and its number. ``longest``: maximum length of a line in bytes,
    `LONGEST_LINE` if not given.
    """
    longest = longest or LONGEST_LINE
    with source.path.open("rb", buffering=BUFFER) as file:
        if not offset:
            head = file.read(4096)
            if kind := other_file(head):
                faults.add(source.name, 1, "file", f"expected UTF-8 text with one record per line, found {kind}")
                return
            habits.bom |= head.startswith(BOM)
            offset = len(BOM) if head.startswith(BOM) else 0
            if source.size <= offset:
                faults.add(source.name, 1, "file", "the file is empty; expected one JSON object per line")
                return
        file.seek(offset)
        while not faults.are_too_many and (raw := file.readline(longest + 2)):
            number += 1
            start, offset = offset, offset + len(raw)
            if not raw.endswith(b"\n") and len(raw) > longest:
                while (rest := file.readline(1 << 20)) and not rest.endswith(b"\n"):
                    offset += len(rest)
                offset += len(rest)
                faults.add(source.name, number, "line", f"the line is longer than {longest // 2**20} MiB, the maximum")
                continue
            is_cut = not raw.endswith(b"\n")
            body = raw.removesuffix(b"\n")
            if body.endswith(b"\r"):
                habits.crlf += 1
                body = body[:-1]
            habits.no_final_newline |= is_cut
            progress(offset, source.size, "reading")
            try:
                yield Line(number, body.decode(), is_cut, offset)
            except UnicodeDecodeError as error:
                before = body[: error.start].decode()
                message = not_utf8(body, error, start)
                if is_cut and error.reason == "unexpected end of data":
                    message = "the file seems truncated: it ends within a character and without a line ending"
                faults.add(source.name, number, where(before, len(before)), message)


def whole(source: Source, faults: Faults, longest: int) -> Line | None:
    """Return a file as one line, for one JSON object over several lines, or None after reporting an error.

    ``longest``: maximum size of the file in bytes.
    """
    if source.size > longest:
        faults.add(source.name, 1, "file", f"the object is longer than {longest // 2**20} MiB, the maximum")
        return None
    content = source.path.read_bytes()
    if (kind := other_file(content[:4096])) and not is_json_object(content[:4096]):
        faults.add(source.name, 1, "file", f"expected one JSON object in UTF-8, found {kind}")
        return None
    if not content.removeprefix(BOM).strip():
        faults.add(source.name, 1, "file", "the file is empty; expected one JSON object")
        return None
    try:
        return Line(1, content.removeprefix(BOM).decode(), not content.endswith(b"\n"), len(content))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        faults.add(source.name, line, "line", not_utf8(content, error, 0))
        return None
