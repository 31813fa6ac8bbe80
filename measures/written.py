"""Words and sentences of texts that people write from passages: one rule for counts, limits and choosing sentences.

A word is a run of characters without white space that contains a letter or a digit. Sentences are those of
``measures.sentences``. In addition, each list item begins one, and three blanks end one, because passages from web
pages are often one line: "Symptoms: - Fever - Pain". ``frontend/src/kinds/write/written.ts`` is the same rule;
``tests/measures/written.json`` has cases for both.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal

from .sentences import SPLITTER, sentence_ranges
from .spans import Range

RULE = f"concord-written 1, {SPLITTER}"
"""Version of these rules, stored with every figure that depends on them; increased with any change of a rule."""

CountUnit = Literal["words", "sentences"]

_BULLET = r"[-*\u2022]\s+\S"
#: A list begins at the start of a line, after two blanks, or after punctuation. Elsewhere a single "-" is a dash.
_FIRST_ITEM = re.compile(rf"(?:^|(?<=\s\s)|(?<=[.:;?!)]\s))(?={_BULLET})", re.MULTILINE)
#: Inside a list, a single blank is enough before an item with a capital.
_NEXT_ITEM = re.compile(rf"(?:^|(?<=\s\s)|(?<=[.:;?!)]\s)|(?<=\s)(?=.\s+[A-Z]))(?={_BULLET})", re.MULTILINE)
_BREAK = re.compile(r"(?<=\s\s\s)(?=\S)")
_TITLE = re.compile(r"\s*[^.!:\n]{2,110}:(?=\s+\S)")


def word_count(text: str) -> int:
    return sum(any(map(str.isalnum, run)) for run in text.split())


def sentence_count(text: str) -> int:
    return len(written_ranges(text))


def count(text: str, unit: CountUnit) -> int:
    return word_count(text) if unit == "words" else sentence_count(text)


def title_end(passage: str) -> int:
    """Return the end of the title that a passage begins with ("Dehydration (Symptoms): ..."), or 0."""
    title = _TITLE.match(passage)
    return title.end() if title else 0


def passage_ranges(passage: str) -> tuple[Range, ...]:
    """Return what people choose from a passage: its title, if it has one, and its sentences."""
    end = title_end(passage)
    if not end:
        return written_ranges(passage)
    start = len(passage[:end]) - len(passage[:end].lstrip())
    return ((start, end), *((a + end, b + end) for a, b in written_ranges(passage[end:])))


def written_ranges(text: str) -> tuple[Range, ...]:
    """Return the sentences as half-open ranges of code points, in order, without white space at either end.

    Every other character is in exactly one range.
    """
    breaks = (hit.start() for hit in _BREAK.finditer(text))
    cuts = sorted({0, *_items(text), *breaks, len(text)})
    return tuple(
        (begin + start, begin + end)
        for begin, stop in pairwise(cuts)
        for start, end in sentence_ranges(text[begin:stop])
    )


def _items(text: str) -> list[int]:
    """Return the offsets at which list items begin."""
    first = _FIRST_ITEM.search(text)
    if first is None:
        return []
    return [first.start(), *(hit.start() for hit in _NEXT_ITEM.finditer(text, first.start() + 1))]
