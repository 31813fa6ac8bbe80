"""Full texts as plain values, and detection of the parts that describe the included studies."""

import re
from collections.abc import Sequence
from functools import lru_cache
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
    """A section or table without its nested sections. ``title`` joins the titles from the outermost section inwards."""

    title: str
    text: str
    is_included: bool


class Reference(NamedTuple):
    text: str
    pmid: str
    doi: str
    is_included: bool


class FullTextRecord(NamedTuple):
    """One article. ``line`` is its first line in the file."""

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


def is_about_included(titles: Sequence[str]) -> bool:
    """Return whether a text under these titles (outermost first) is about the included studies.

    The innermost title that mentions included or other studies decides, because excluded studies can appear within the
    characteristics of studies.
    """
    return next((included for title in reversed(titles) if (included := _is_included_title(title)) is not None), False)


@lru_cache(maxsize=1_000)
def _is_included_title(title: str) -> bool | None:
    if _OTHERS.search(title):
        return False
    return True if _INCLUDED.search(title) else None
