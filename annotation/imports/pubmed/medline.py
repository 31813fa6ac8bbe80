"""MEDLINE's format, which PubMed saves as .nbib: a tag of four characters, "- " and text, blank lines between."""

import re
from collections.abc import Iterator

from projects.background.progress import Progress
from projects.uploads.faults import Faults
from projects.uploads.source import Source

from ...corpus.items import PMID
from ...corpus.lengths import DOCUMENT
from ..json_lines import no_text
from ..reading import Habits, Line, lines
from .record import Record, is_retracted, sections_of, year_of

_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_CONTINUED = re.compile(r" {6}(.*)")
#: The field that PubMed writes last.
_LAST = "SO"
Fields = dict[str, list[str]]


def looks_like(head: str) -> bool:
    """Whether a file that begins so is of this format."""
    first = head.lstrip("\ufeff").lstrip("\r\n")
    return bool(re.match(r"[A-Z][A-Z0-9]{1,3} {0,2}- ", first))


def records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """The records that can be read, one at a time; the others become faults."""
    begun: tuple[int, Fields] | None = None
    is_cut = False
    for line in lines(source, faults, habits, lambda text, at: _field_of(text), progress):
        is_cut = line.is_cut
        if not line.text.strip():
            if begun:
                yield from _record(source.name, *begun, faults)
            begun = None
            continue
        if begun and line.text.startswith("PMID") and "PMID" in begun[1]:  # files put together without a blank line
            yield from _record(source.name, *begun, faults)
            begun = None
        begun = begun or (line.number, {})
        _take(source.name, line, begun[1], faults)
    if begun:
        if is_cut and _LAST not in begun[1]:
            message = f"the file ends without a line ending and without {_LAST}: it seems cut off"
            faults.add(source.name, begun[0], "file", message)
            return
        yield from _record(source.name, *begun, faults)


def _field_of(text: str) -> str:
    return found[1] if (found := _FIELD.match(text)) else "line"


def _take(name: str, line: Line, fields: Fields, faults: Faults) -> None:
    if unfit := no_text(line.text):
        faults.add(name, line.number, _field_of(line.text), unfit)
    elif more := _CONTINUED.fullmatch(line.text):
        if not fields:
            faults.add(name, line.number, "line", "a line that goes on begins the record")
            return
        last = next(reversed(fields.values()))
        last[-1] = f"{last[-1]} {more[1]}".strip()
    elif found := _FIELD.fullmatch(line.text):
        values = fields.pop(found[1], [])
        fields[found[1]] = [*values, found[2].strip()]  # the tag that a line that goes on belongs to is the last
    else:
        faults.add(name, line.number, "line", 'expected a tag and "- ", such as "PMID- ", or six spaces')


def _record(name: str, line: int, fields: Fields, faults: Faults) -> Iterator[Record]:
    pmid = next(iter(fields.get("PMID", [])), "")
    if not PMID.fullmatch(pmid):
        faults.add(name, line, "PMID", f"expected a PubMed id, found {pmid[:40]!r}")
        return
    abstract = " ".join(fields.get("AB", []))
    title = " ".join(fields.get("TI", []) or fields.get("BTI", []))
    for field, text in (("AB", abstract), ("TI", title)):
        if len(text) > DOCUMENT:
            faults.add(name, line, field, f"{len(text):,} characters; expected at most {DOCUMENT:,}")
            return
    types = tuple(fields.get("PT", []))
    notices = fields.get("RIN", [])
    yield Record(
        pmid, title, abstract, sections_of(abstract), year_of(" ".join(fields.get("DP", []))), types,
        is_retracted(types) or bool(notices), "; ".join(notices)[:300], (), line,
    )  # fmt: skip
