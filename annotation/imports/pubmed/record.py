"""What PubMed says of one article, whatever file it comes in: plain values, no rows."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from measures.abstracts import CONCLUSIONS, conclusions_of

from ...corpus.lengths import DOCUMENT

#: What is kept of one article, in characters, references apart; each piece weighs a little by itself.
MOST_OF_ARTICLE, PIECE = 10 * DOCUMENT, 20
#: NLM's categories of the sections of an abstract, and labels that mean them where a file does not say.
_CATEGORIES = {
    "BACKGROUND": "BACKGROUND INTRODUCTION CONTEXT RATIONALE IMPORTANCE",
    "OBJECTIVE": "OBJECTIVE OBJECTIVES AIM AIMS PURPOSE GOAL GOALS QUESTION",
    "METHODS": "METHOD METHODS METHODOLOGY DESIGN SETTING DATA STUDY SEARCH SELECTION PARTICIPANTS PATIENTS POPULATION"
    " INTERVENTION INTERVENTIONS MATERIALS MEASUREMENTS REVIEW ELIGIBILITY MAIN",
    "RESULTS": "RESULT RESULTS FINDINGS",
    CONCLUSIONS: "CONCLUSION CONCLUSIONS INTERPRETATION IMPLICATIONS",
}
_CATEGORY_OF = {word: category for category, words in _CATEGORIES.items() for word in words.split()}
#: What tells a section by a word that is not its first: "AUTHORS' CONCLUSIONS", "MAIN RESULTS".
_TELLING = ("CONCLUSION", "CONCLUSIONS", "RESULTS", "FINDINGS")
#: A heading in a line of text: capitals and a colon, at the beginning or behind a stop.
_HEADING = re.compile(r"(?:^|(?<=[.?!)\]]\s))([A-Z][A-Z'\u2019/&,() -]{2,79}):\s+")


class Section(NamedTuple):
    """One section of a structured abstract: a half-open range of its code points, the heading left out."""

    label: str
    category: str
    start: int
    end: int


class Record(NamedTuple):
    """One article. ``abstract`` is None where the file does not say whether there is one; ``line`` is where it begins
    in its file; ``references`` are the PubMed ids of what it cites."""

    pmid: str
    title: str
    abstract: str | None
    sections: tuple[Section, ...] = ()
    year: int | None = None
    publication_types: tuple[str, ...] = ()
    is_retracted: bool = False
    retraction_notice: str = ""
    references: tuple[str, ...] = ()
    line: int = 0

    @property
    def conclusions(self) -> str:
        """The text of the conclusions; "" where no section is one."""
        return conclusions_of(self.abstract or "", ((s.category, s.start, s.end) for s in self.sections))


def category_of(label: str) -> str:
    """NLM's category that a label means; "" where it is not plain."""
    words = re.findall(r"[A-Z]+", label.upper())
    for word in words:
        if word in _TELLING:
            return _CATEGORY_OF[word]
    return next((_CATEGORY_OF[word] for word in words if word in _CATEGORY_OF), "")


def composed(parts: Iterable[tuple[str, str, str]]) -> tuple[str, tuple[Section, ...]]:
    """An abstract of (label, category, text), a line a part with its label before it; and its sections."""
    lines: list[str] = []
    sections: list[Section] = []
    at = 0
    for label, category, text in parts:
        if not text:
            continue
        head = f"{label}: " if label else ""
        if label or category:
            known = category if category in _CATEGORIES else category_of(label)
            sections.append(Section(label, known, at + len(head), at + len(head) + len(text)))
        lines.append(head + text)
        at += len(lines[-1]) + 1
    return "\n".join(lines), tuple(sections)


def sections_of(abstract: str) -> tuple[Section, ...]:
    """The sections of an abstract in which headings are capitals before a colon, as MEDLINE's files have them."""
    heads = list(_HEADING.finditer(abstract))
    if not heads or heads[0].start():
        return ()
    ends: Sequence[int] = [head.start() for head in heads[1:]] + [len(abstract)]
    return tuple(
        Section(head[1], category_of(head[1]), head.end(), len(abstract[:end].rstrip()))
        for head, end in zip(heads, ends, strict=True)
    )


def year_of(text: str) -> int | None:
    """The year of a date as PubMed writes it: "2019 Mar 4", "1998 Dec-1999 Jan"."""
    found = re.match(r"\s*((?:1[89]|20|21)\d\d)\b", text)
    return int(found[1]) if found else None


def is_retracted(publication_types: Iterable[str]) -> bool:
    return any(name.casefold() == "retracted publication" for name in publication_types)
