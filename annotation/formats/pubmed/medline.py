"""Parse the MEDLINE format, which PubMed exports as .nbib.

A field is a tag of up to four characters, "- " and text. Blank lines separate records.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from projects.jobs.batches import Progress
from projects.uploads.faults import Faults
from projects.uploads.files import Source

from ...clusters.items import PMID
from ...clusters.strata import DOCUMENT
from ...imports.json_lines import illegal_character
from ...imports.reading import Habits, Line, lines
from .record import (
    MOST_OF_ARTICLE,
    NOTICES,
    PIECE,
    Record,
    is_retracted,
    notice_text,
    sections_of,
    unread_year,
    year_of,
)

_FIELD = re.compile(r"([A-Z][A-Z0-9]{1,3}) {0,2}- ?(.*)")
_CONTINUED = re.compile(r" {6}(.*)")
#: The field that PubMed writes last.
_LAST = "SO"
#: Fields whose values are read. Of other fields only the presence is recorded.
_NOTICES = tuple(tag for tag in NOTICES if tag.isupper())
_READ = ("PMID", "AB", "TI", "BTI", "DP", "PT", *_NOTICES, _LAST)
#: Tag -> the values of its fields, each as a list of lines.
Fields = dict[str, list[list[str]]]


@dataclass
class _PartialRecord:
    """A partially read record: its first line, its fields, and the size of its content."""

    line: int
    fields: Fields = field(default_factory=dict)
    weight: int = 0

    def has_room(self, text: str) -> bool:
        """Add the size of a text, and return whether the record is still within the limit."""
        self.weight += len(text) + PIECE
        return self.weight <= MOST_OF_ARTICLE


def is_medline(head: str) -> bool:
    """Return whether a file that starts with ``head`` is in the MEDLINE format."""
    first = head.lstrip("\ufeff").lstrip("\r\n")
    return bool(re.match(r"[A-Z][A-Z0-9]{1,3} {0,2}- ", first))


def records(source: Source, faults: Faults, habits: Habits, progress: Progress) -> Iterator[Record]:
    """Yield the readable records and report the others as errors."""
    partial: _PartialRecord | None = None
    is_cut = False
    for line in lines(source, faults, habits, lambda text, at: _field_of(text), progress):
        is_cut = line.is_cut
        if not line.text.strip():
            if partial:
                yield from _record(source.name, partial.line, partial.fields, faults)
            partial = None
            continue
        # Concatenated files may have no blank line between records.
        if partial and line.text.startswith("PMID") and "PMID" in partial.fields:
            yield from _record(source.name, partial.line, partial.fields, faults)
            partial = None
        partial = partial or _PartialRecord(line.number)
        _add_line(source.name, line, partial, faults)
    if partial:
        if is_cut and _LAST not in partial.fields:
            message = f"the file seems truncated: it ends without a line ending and without the field {_LAST}"
            faults.add(source.name, partial.line, "file", message)
            return
        yield from _record(source.name, partial.line, partial.fields, faults)


def _field_of(text: str) -> str:
    return match[1] if (match := _FIELD.match(text)) else "line"


def _add_line(name: str, line: Line, partial: _PartialRecord, faults: Faults) -> None:
    fields = partial.fields
    if problem := illegal_character(line.text):
        faults.add(name, line.number, _field_of(line.text), problem)
    elif continuation := _CONTINUED.fullmatch(line.text):
        if not fields:
            faults.add(
                name, line.number, "line", "the record starts with a continuation line; expected a tag such as PMID"
            )
        elif (tag := next(reversed(fields))) in _READ and _fits(name, line, partial, continuation[1], faults):
            fields[tag][-1].append(continuation[1])
    elif match := _FIELD.fullmatch(line.text):
        values = fields.pop(match[1], [])
        fields[match[1]] = values  # Re-inserted as the last tag, because a continuation line belongs to the last tag.
        if match[1] in _READ and _fits(name, line, partial, match[2], faults):
            values.append([match[2]])
    else:
        faults.add(name, line.number, "line", 'expected a tag such as "PMID- ", or a continuation line with six spaces')


def _fits(name: str, line: Line, partial: _PartialRecord, text: str, faults: Faults) -> bool:
    """Return whether the text fits the size limit of a record. The first excess is reported as an error."""
    had_room = partial.weight <= MOST_OF_ARTICLE
    if partial.has_room(text):
        return True
    if had_room:
        faults.add(name, line.number, "line", f"more than {MOST_OF_ARTICLE:,} characters in one article")
    return False


def _record(name: str, line: int, fields: Fields, faults: Faults) -> Iterator[Record]:
    texts = {tag: [" ".join(filter(None, map(str.strip, value))) for value in values] for tag, values in fields.items()}
    pmid = next(iter(texts.get("PMID", [])), "")
    if not PMID.fullmatch(pmid):
        faults.add(name, line, "PMID", f"expected a PMID, found {pmid[:40]!r}")
        return
    abstract = " ".join(texts.get("AB", []))
    title = " ".join(texts.get("TI", []) or texts.get("BTI", []))
    for tag, text in (("AB", abstract), ("TI", title)):
        if len(text) > DOCUMENT:
            faults.add(name, line, tag, f"{len(text):,} characters; expected at most {DOCUMENT:,}")
            return
    types = tuple(texts.get("PT", []))
    notices = [(tag, text) for tag in _NOTICES for text in texts.get(tag, [])]
    published = " ".join(texts.get("DP", []))
    yield Record(
        pmid,
        title,
        abstract,
        sections_of(abstract),
        year_of(published),
        types,
        is_retracted(types, (tag for tag, _ in notices)),
        notice_text(notices),
        (),
        line,
        unread_year=unread_year(published),
    )
