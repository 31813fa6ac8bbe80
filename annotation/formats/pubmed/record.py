"""A PubMed record as plain values, independent of the file format, and the parsing of abstracts and dates."""

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from measures.abstracts import CONCLUSIONS, conclusions_of

from ...clusters.strata import DOCUMENT

#: Maximum size of one article in characters, without references, and the fixed overhead of each text.
MOST_OF_ARTICLE, PIECE = 10 * DOCUMENT, 20
#: NLM categories of abstract sections, with the labels that indicate them if a file gives no category.
_CATEGORIES = {
    "BACKGROUND": "BACKGROUND INTRODUCTION CONTEXT RATIONALE IMPORTANCE",
    "OBJECTIVE": "OBJECTIVE OBJECTIVES AIM AIMS PURPOSE GOAL GOALS QUESTION",
    "METHODS": "METHOD METHODS METHODOLOGY DESIGN SETTING DATA STUDY SEARCH SELECTION PARTICIPANTS PATIENTS POPULATION"
    " INTERVENTION INTERVENTIONS MATERIALS MEASUREMENTS REVIEW ELIGIBILITY MAIN",
    "RESULTS": "RESULT RESULTS FINDINGS",
    CONCLUSIONS: "CONCLUSION CONCLUSIONS INTERPRETATION IMPLICATIONS",
}
_CATEGORY_OF = {word: category for category, words in _CATEGORIES.items() for word in words.split()}
#: Words that identify a section at any position in its label: "AUTHORS' CONCLUSIONS", "MAIN RESULTS".
_DECISIVE = ("CONCLUSION", "CONCLUSIONS", "IMPLICATIONS", "RESULTS", "FINDINGS")
#: Labels that count as conclusions if no section is labelled as conclusions.
_CONCLUDING = re.compile(
    r"(?:(?:GENERAL |CLINICAL |PRACTICAL )?(?:DISCUSSION|SIGNIFICANCE|RELEVANCE|RECOMMENDATIONS?)|(?:IN )?SUMMARY"
    r"|(?:KEY|TAKE[- ]HOME|MAIN) (?:MESSAGES?|POINTS?)|SUMMARY ANSWER|COMMENTS?|PERSPECTIVES?|CLINICAL SIGNIFICANCE"
    r"|(?:SUMMARY|DISCUSSION|SIGNIFICANCE) AND (?:SIGNIFICANCE|RECOMMENDATIONS?|PERSPECTIVES?))"
)
#: Other words that occur in headings: "Authors' conclusions", "Main outcome measures".
_OTHER_WORDS = frozenset(
    (
        "AND",
        "OF",
        "THE",
        "A",
        "FOR",
        "IN",
        "AUTHORS",
        "AUTHOR",
        "S",
        "KEY",
        "SOURCES",
        "SOURCE",
        "EXTRACTION",
        "SYNTHESIS",
        "ANALYSIS",
        "ANALYSES",
        "STRATEGY",
        "CRITERIA",
        "OUTCOME",
        "OUTCOMES",
        "MEASURE",
        "MEASURES",
        "LIMITATIONS",
        "FUNDING",
        "REGISTRATION",
        "RECENT",
        "WIDER",
        "CLINICAL",
        "PRACTICE",
        "COLLECTION",
    )
)
#: An inline heading: a few words and a colon, at the start of the text or after a full stop.
_HEADING = re.compile(r"(?:^|(?<=[.?!)\]]\s))([A-Za-z][A-Za-z'\u2019/&,() -]{2,79}):\s+")
_MOST_WORDS = 6
#: Retractions and related notices: their names in PubMed XML and in MEDLINE, and the prefix shown before the source.
NOTICES = {
    "RetractionIn": "",
    "RIN": "",
    "RetractedandRepublishedIn": "Retracted and republished",
    "RRI": "Retracted and republished",
    "PartialRetractionIn": "Partial retraction",
    "PRIN": "Partial retraction",
    "ExpressionOfConcernIn": "Expression of concern",
    "ECI": "Expression of concern",
}
_RETRACTIONS = ("RetractionIn", "RIN", "RetractedandRepublishedIn", "RRI")


class Section(NamedTuple):
    """A section of a structured abstract, as a half-open range of code points without the heading."""

    label: str
    category: str
    start: int
    end: int


class Record(NamedTuple):
    """One article.

    ``abstract`` is None if the file does not say whether there is one. ``line`` is the first line of the record in its
    file. ``references`` holds the PMIDs of cited articles, and ``citations`` maps them to citation texts.
    """

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
    citations: Mapping[str, str] = MappingProxyType({})
    #: Version of the record. PubMed numbers the versions of an article.
    version: int = 1
    #: PMIDs of the reviews that include the article, if the file contains them.
    reviews: tuple[str, ...] = ()
    #: The year as written in the file, if it cannot be parsed.
    unread_year: str = ""

    @property
    def conclusions(self) -> str:
        """The text of the conclusions, or "" if no section has that category."""
        return conclusions_of(self.abstract or "", ((s.category, s.start, s.end) for s in self.sections))


def category_of(label: str) -> str:
    """Return the NLM category of a label, or "" if it is unclear."""
    words = re.findall(r"[A-Z]+", label.upper())
    for word in words:
        if word in _DECISIVE:
            return _CATEGORY_OF[word]
    return next((_CATEGORY_OF[word] for word in words if word in _CATEGORY_OF), "")


def compose_abstract(parts: Iterable[tuple[str, str, str]]) -> tuple[str, tuple[Section, ...]]:
    """Join the parts (label, category, text) to an abstract, one line per part, and return it with its sections."""
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
    abstract = "\n".join(lines)
    return abstract, _with_conclusions(sections) if sections else sections_of(abstract)


def sections_of(abstract: str) -> tuple[Section, ...]:
    """Return the sections of an abstract with inline headings before a colon.

    Headings are in capitals, as in MEDLINE files, or consist of known heading words.
    """
    heads = [head for head in _HEADING.finditer(abstract) if head[1].isupper() or _is_known(head[1])]
    if not heads or heads[0].start():
        return ()
    ends: Sequence[int] = [head.start() for head in heads[1:]] + [len(abstract)]
    return _with_conclusions(
        Section(head[1], category_of(head[1]), head.end(), len(abstract[:end].rstrip()))
        for head, end in zip(heads, ends, strict=True)
    )


def _is_known(label: str) -> bool:
    words = re.findall(r"[A-Z]+", label.upper())
    if _CONCLUDING.fullmatch(label.upper()):
        return True
    has_heading_word = any(word in _CATEGORY_OF for word in words)
    return (
        has_heading_word
        and len(words) <= _MOST_WORDS
        and all(word in _CATEGORY_OF or word in _OTHER_WORDS for word in words)
    )


def _with_conclusions(sections: Iterable[Section]) -> tuple[Section, ...]:
    """Return the sections with conclusions marked.

    If none is labelled so, the last section with a concluding label is used.
    """
    result = list(sections)
    if any(section.category == CONCLUSIONS for section in result):
        return tuple(result)
    for at in range(len(result) - 1, -1, -1):
        if result[at].category:
            break
        if _CONCLUDING.fullmatch(result[at].label.strip().upper()):
            result[at] = result[at]._replace(category=CONCLUSIONS)
            break
    return tuple(result)


def year_of(text: str) -> int | None:
    """Return the first year of a PubMed date: "2019 Mar 4", "1998 Dec-1999 Jan", "Winter 2012"."""
    match = re.search(r"\b(?:1[89]|20|21)\d\d\b", text)
    return int(match[0]) if match else None


def unread_year(text: str) -> str:
    """Return a date from which no year can be parsed, truncated. Empty if the year can be parsed."""
    return "" if year_of(text) else text.strip()[:60]


def is_retracted(publication_types: Iterable[str], notices: Iterable[str] = ()) -> bool:
    """Return whether the whole article was retracted. Expressions of concern and partial retractions do not count."""
    return any(name.casefold() == "retracted publication" for name in publication_types) or any(
        notice in _RETRACTIONS for notice in notices
    )


def notice_text(notices: Iterable[tuple[str, str]]) -> str:
    """Return the (type, source) notices as text. Each type is named once, before its sources."""
    parts: list[str] = []
    last = ""
    for what, source in notices:
        words = NOTICES[what]
        parts.append(f"{words}: {source}" if words and words != last else source)
        last = words
    return "; ".join(parts)[:300]
