"""MEDLINE's format, which PubMed saves as .nbib: a tag of four characters, "- " and text, blank lines between."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from projects.background.progress import Progress
from projects.uploads.faults import Faults
from projects.uploads.source import Source

from ...corpus.items import PMID
from ...corpus.lengths import DOCUMENT
from ..json_lines import no_text
from ..reading import Habits, Line, lines
from .record import MOST_OF_ARTICLE, PIECE, Record, is_retracted, sections_of, year_of

_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_CONTINUED = re.compile(r" {6}(.*)")
#: The field that PubMed writes last.
_LAST = "SO"
#: The fields that are read. Of others it is known that they were there.
_READ = ("PMID", "AB", "TI", "BTI", "DP", "PT", "RIN", _LAST)
Fields = dict[str, list[str]]


@dataclass
class _Begun:
    """A record as far as it was read: the line on which it begins, its fields, and what is kept of it."""

    line: int
    fields: Fields = field(default_factory=dict)
    weight: int = 0

    def has_room(self, text: str) -> bool:
        """Whether a record may have this, too."""
        self.weight += len(text) + PIECE
        return self.weight <= MOST_OF_ARTICLE


def looks_like(head: str) -> bool:
    """Whether a file that begins so is of this format."""
    first = head.lstrip("\ufeff").lstrip("\r\n")
    return bool(re.match(r"[A-Z][A-Z0-9]{1,3} {0,2}- ", first))


def records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """The records that can be read, one at a time; the others become faults."""
    begun: _Begun | None = None
    is_cut = False
    for line in lines(source, faults, habits, lambda text, at: _field_of(text), progress):
        is_cut = line.is_cut
        if not line.text.strip():
            if begun:
                yield from _record(source.name, begun.line, begun.fields, faults)
            begun = None
            continue
        if begun and line.text.startswith("PMID") and "PMID" in begun.fields:  # files put together without a blank line
            yield from _record(source.name, begun.line, begun.fields, faults)
            begun = None
        begun = begun or _Begun(line.number)
        _take(source.name, line, begun, faults)
    if begun:
        if is_cut and _LAST not in begun.fields:
            message = f"the file ends without a line ending and without {_LAST}: it seems cut off"
            faults.add(source.name, begun.line, "file", message)
            return
        yield from _record(source.name, begun.line, begun.fields, faults)


def _field_of(text: str) -> str:
    return found[1] if (found := _FIELD.match(text)) else "line"


def _take(name: str, line: Line, begun: _Begun, faults: Faults) -> None:
    fields = begun.fields
    if unfit := no_text(line.text):
        faults.add(name, line.number, _field_of(line.text), unfit)
    elif more := _CONTINUED.fullmatch(line.text):
        if not fields:
            faults.add(name, line.number, "line", "a line that goes on begins the record")
        elif (tag := next(reversed(fields))) in _READ and _fits(name, line, begun, more[1], faults):
            fields[tag][-1] = f"{fields[tag][-1]} {more[1]}".strip()
    elif found := _FIELD.fullmatch(line.text):
        values = fields.pop(found[1], [])
        fields[found[1]] = values  # the tag that a line that goes on belongs to is the last
        if found[1] in _READ and _fits(name, line, begun, found[2], faults):
            values.append(found[2].strip())
    else:
        faults.add(name, line.number, "line", 'expected a tag and "- ", such as "PMID- ", or six spaces')


def _fits(name: str, line: Line, begun: _Begun, text: str, faults: Faults) -> bool:
    """False, and a fault once, where a record has more than anybody writes."""
    had_room = begun.weight <= MOST_OF_ARTICLE
    if begun.has_room(text):
        return True
    if had_room:
        faults.add(name, line.number, "line", f"more than {MOST_OF_ARTICLE:,} characters of one article")
    return False


def _record(name: str, line: int, fields: Fields, faults: Faults) -> Iterator[Record]:
    pmid = next(iter(fields.get("PMID", [])), "")
    if not PMID.fullmatch(pmid):
        faults.add(name, line, "PMID", f"expected a PubMed id, found {pmid[:40]!r}")
        return
    abstract = " ".join(fields.get("AB", []))
    title = " ".join(fields.get("TI", []) or fields.get("BTI", []))
    for tag, text in (("AB", abstract), ("TI", title)):
        if len(text) > DOCUMENT:
            faults.add(name, line, tag, f"{len(text):,} characters; expected at most {DOCUMENT:,}")
            return
    types = tuple(fields.get("PT", []))
    notices = fields.get("RIN", [])
    yield Record(
        pmid, title, abstract, sections_of(abstract), year_of(" ".join(fields.get("DP", []))), types,
        is_retracted(types) or bool(notices), "; ".join(notices)[:300], (), line,
    )  # fmt: skip
