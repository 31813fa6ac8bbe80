"""Extract the background and the conclusions of a structured abstract.

MS^2 (DeYoung et al., EMNLP 2021) extracts the pairs of a review from the sentences that its classifier labels
BACKGROUND or GOAL. This module uses section headings instead of a classifier, so an abstract without headings has no
background. For the review that MS^2 published as a sample, both methods return the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: NLM's category of the sections that contain conclusions.
CONCLUSIONS = "CONCLUSIONS"


def _either(listed: str) -> str:
    """Return an alternation pattern of comma-separated names, longest first ("DATA SOURCES" before "DATA")."""
    names = sorted((name.strip() for name in listed.split(",")), key=len, reverse=True)
    return "|".join(r"\s+".join(name.split()) for name in names)


_BEFORE = _either(
    "background, introduction, context, rationale, importance, objective, objectives, aim, aims, goal, goals, purpose,"
    " question, background and objective, background and objectives, background and aim, background and aims,"
    " background and purpose, background/objective, background/objectives, background/aims, background/purpose,"
    " background & aims, aims and objectives, objective of the review, aim of the review, purpose of review"
)
_AFTER = _either(
    "method, methods, methodology, materials and methods, patients and methods, methods and results,"
    " methods and findings, methods/results, design, study design, design and methods, research design and methods,"
    " setting, data, data source, data sources, data collection and analysis, data extraction, data synthesis,"
    " data selection, data sources and study selection, search method, search methods, search strategy,"
    " selection criteria, study selection, eligibility criteria, review methods, evidence acquisition,"
    " evidence review, evidence synthesis, participants, patients, subjects, population, intervention, interventions,"
    " measurements, main outcome measure, main outcome measures, outcomes, result, results, main results, findings,"
    " recent findings, main findings, conclusion, conclusions, authors' conclusions, discussion, interpretation,"
    " limitations, summary, funding, registration"
)


def _heading(names: str) -> re.Pattern[str]:
    """Match a name in capitals before a capitalised word, a tag or a colon, or a capitalised name before a colon."""
    upper, title = names.upper().replace(r"\S", r"\s"), names
    return re.compile(rf"(?<![\w'/-])(?:(?:{upper})(?=\s*:|\s+(?:[^\W_a-z]|<))|(?=[A-Z])(?i:{title})(?=\s*:))")


_STARTS, _ENDS = _heading(_BEFORE), _heading(_AFTER)
#: In MS^2's files a sentence ends at its stop, and closing tags after the stop belong to the next sentence.
_CLOSING = re.compile(r"(?<=[.?!])(?:\s*</(?:pop|int|out)>)+\s*$")


def background_of(abstract: str) -> str:
    """Return the leading background and aim sections with headings and tags, or "" if there are none.

    Closing tags after the last stop are dropped, so the text they would close is untagged, as in MS^2. An abstract
    without a later section has no background, because its end cannot be determined.
    """
    begin = len(abstract) - len(abstract.lstrip())
    if not _STARTS.match(abstract, begin):
        return ""
    end = _ENDS.search(abstract, begin)
    return _CLOSING.sub("", abstract[begin : end.start()].rstrip()) if end else ""


def conclusions_of(abstract: str, sections: Iterable[tuple[str, int, int]]) -> str:
    """Return the conclusions of a structured abstract on one line without headings, or "" if there are none.

    ``sections`` holds (NLM's category, start, end) of each section without its heading. Ranges are half-open and count
    code points.
    """
    return " ".join(
        " ".join(abstract[start:end].split()) for category, start, end in sections if category == CONCLUSIONS
    )


CLASSES = (
    "BACKGROUND",
    "GOAL",
    "METHODS",
    "DETAILED_FINDINGS",
    "EVIDENCE_QUALITY",
    "EFFECT",
    "RECOMMENDATION",
    "FURTHER_STUDY",
    "ETC",
)
BACKGROUND, TARGET, OTHER = DERIVED = ("BACKGROUND", "TARGET", "OTHER")
_DERIVED_FROM = {"BACKGROUND": BACKGROUND, "GOAL": BACKGROUND, "EFFECT": TARGET}


def derived(rhetorical_class: str) -> str:
    """Return BACKGROUND, TARGET or OTHER. Raise `ValueError` for a value that is not one of the nine classes."""
    if rhetorical_class not in CLASSES:
        raise ValueError(f"{rhetorical_class!r} is none of MS^2's classes.")
    return _DERIVED_FROM.get(rhetorical_class, OTHER)


def derived_text(part: str, sentences: Iterable[tuple[str, str]]) -> str:
    """Return the texts of one derived part, one per line. ``sentences`` holds (class, text) in document order."""
    return "\n".join(text for rhetorical_class, text in sentences if derived(rhetorical_class) == part)
