"""A full text as plain values, and which of its parts are about the included studies."""

import re
from collections.abc import Sequence
from typing import NamedTuple

_STUDIES = "(?:studies|trials|articles)"
_INCLUDED = re.compile(
    rf"\b(?:characteristics|descriptions?|summary|overview|details|list) of (?:the )?(?:\w+ )?{_STUDIES}\b"
    rf"|^\W*(?:[\d.]+\s*)?(?:the )?included (?:primary )?{_STUDIES}\W*$"
    rf"|\b(?:studies|trials|articles|references) included\b",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"\b(?:excluded|exclusion|ongoing|awaiting)\b", re.IGNORECASE)


class TextSection(NamedTuple):
    """A section or a table, without those inside it: its titles from the outermost, and its text."""

    title: str
    text: str
    is_included: bool


class Reference(NamedTuple):
    text: str
    pmid: str
    doi: str
    is_included: bool


class FullTextRecord(NamedTuple):
    """One article; ``line`` is where it begins in its file."""

    pmid: str
    pmcid: str
    doi: str
    title: str
    licence: str
    licence_url: str
    copyright: str
    sections: tuple[TextSection, ...]
    references: tuple[Reference, ...]
    line: int


def says_included(titles: Sequence[str]) -> bool:
    """Whether what stands under these titles, the outermost first, is about the studies that a review includes. The
    innermost that says something of it decides: excluded studies may stand within the characteristics of studies."""
    for title in reversed(titles):
        if _OTHERS.search(title):
            return False
        if _INCLUDED.search(title):
            return True
    return False
