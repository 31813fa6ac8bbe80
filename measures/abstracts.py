"""The background of a structured abstract: what a review asks, before what it did and found.

MS^2 (DeYoung et al., EMNLP 2021) takes the pairs of a review from the sentences that its classifier calls BACKGROUND or
GOAL. There is no such classifier here: sections are told by their headings, and an abstract without them has no
background. For the review that MS^2 published as a sample the two are the same, to the letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: NLM's category of the sections in which an abstract concludes.
CONCLUSIONS = "CONCLUSIONS"


def _either(listed: str) -> str:
    """Longest first: "DATA SOURCES" before "DATA"."""
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
    """In capitals before a word with a capital, a tag or a colon; or with a first capital before a colon."""
    upper, title = names.upper().replace(r"\S", r"\s"), names
    return re.compile(
        rf"(?<![\w'/-])(?:(?:{upper})(?=\s*:|\s+(?:[^\W_a-z]|<))|(?=[A-Z])(?i:{title})(?=\s*:))",
    )


_STARTS, _ENDS = _heading(_BEFORE), _heading(_AFTER)
#: In MS^2's files a sentence ends at its stop, and the tags that close behind it belong to the next.
_CLOSING = re.compile(r"(?<=[.?!])(?:\s*</(?:pop|int|out)>)+\s*$")


def background_of(abstract: str) -> str:
    """The sections of background and aim that an abstract begins with, headings and tags included; "" without them.

    Tags that close behind the last stop are left out, so that what they would close is not tagged: MS^2 loses it, too.
    An abstract in which no other section follows has none: what it found cannot be told from what it asked.
    """
    begin = len(abstract) - len(abstract.lstrip())
    if not _STARTS.match(abstract, begin):
        return ""
    end = _ENDS.search(abstract, begin)
    return _CLOSING.sub("", abstract[begin : end.start()].rstrip()) if end else ""


def conclusions_of(abstract: str, sections: Iterable[tuple[str, int, int]]) -> str:
    """The conclusions of a structured abstract on one line, without their headings; "" where no section is one.

    ``sections``: (NLM's category, start, end) of each, half-open in code points, without its heading.
    """
    return " ".join(
        " ".join(abstract[start:end].split()) for category, start, end in sections if category == CONCLUSIONS
    )
