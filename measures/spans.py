"""Spans: half-open ranges of Unicode code points of a text, exactly as stored.

A span (a cue, a PICO element, an entity) has one or more fragments, each a range [start, end). Texts are never
normalised and quotes never repaired. Comparisons are exact, including trailing spaces.

The fragments of one span do not overlap. Different spans of a text, also of the same type, may overlap, cross and nest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

Range = tuple[int, int]
Ranges = Sequence[Range]
_RUNS = re.compile(r"\S+")
#: Separators in a cell.
BETWEEN_FRAGMENTS, BETWEEN_SPANS = " | ", " || "


class SpanError(ValueError):
    """A range is outside its text, or a quote differs from the text of its range."""


def check_ranges(text: str, ranges: Ranges) -> tuple[Range, ...]:
    """Return the fragments of one span after checking them.

    Fragments must be inside the text, not empty, in order and without overlaps; they may touch. Raise SpanError for the
    first invalid fragment, and for a span without fragments.
    """
    if not ranges:
        raise SpanError("a span needs at least one fragment")
    end_before = 0
    for number, (start, end) in enumerate(ranges, start=1):
        if not 0 <= start <= len(text) or not 0 <= end <= len(text):
            raise SpanError(f"fragment {number} [{start}, {end}) lies outside the text of {len(text)} characters")
        if end <= start:
            raise SpanError(f"fragment {number} [{start}, {end}) is empty or reversed")
        if start < end_before:
            raise SpanError(f"fragment {number} [{start}, {end}) overlaps or precedes the one before it")
        end_before = end
    return tuple((start, end) for start, end in ranges)


def quotes_of(text: str, ranges: Ranges) -> tuple[str, ...]:
    """Return the text of each fragment."""
    return tuple(text[start:end] for start, end in ranges)


def check_quotes(text: str, ranges: Ranges, quotes: Sequence[str]) -> tuple[Range, ...]:
    """Return the checked ranges. Raise SpanError unless every fragment equals its quote."""
    checked = check_ranges(text, ranges)
    if len(quotes) != len(checked):
        raise SpanError(f"{len(checked)} fragments have {len(quotes)} quotes")
    for number, (text_quote, quote) in enumerate(zip(quotes_of(text, checked), quotes, strict=True), start=1):
        if text_quote != quote:
            raise SpanError(f"fragment {number} covers {text_quote!r}, but its quote is {quote!r}")
    return checked


def place(text: str, quotes: Sequence[str]) -> tuple[Range, ...]:
    """Return the ranges of verbatim quotes in a text, each after the previous one.

    Raise SpanError for a quote that does not occur, or occurs more than once and is therefore ambiguous.
    """
    ranges: list[Range] = []
    at = 0
    for quote in quotes:
        count = text.count(quote, at) if quote else 0
        if count != 1:
            how = f"{count} times" if count else "nowhere"
            raise SpanError(f"{quote!r} occurs {how} in the text{' after what precedes it' if at else ''}")
        start = text.index(quote, at)
        at = start + len(quote)
        ranges.append((start, at))
    return tuple(ranges)


def as_cell(fragments: Iterable[tuple[int, int, str]]) -> str:
    """Return a span as one cell: ``start-end "quote"`` for each fragment, joined by `` | ``; offsets in code points."""
    return BETWEEN_FRAGMENTS.join(f'{start}-{end} "{quote}"' for start, end, quote in fragments)


def spans_as_cell(spans: Iterable[Iterable[tuple[int, int, str]]]) -> str:
    """Return several spans as one cell, each as in `as_cell`, joined by `` || ``. They may overlap and nest."""
    return BETWEEN_SPANS.join(as_cell(fragments) for fragments in spans)


_BEGINNING = re.compile(r'(\d+)-(\d+) "', re.ASCII)


def ranges_of_cell(cell: str) -> tuple[Range, ...]:
    """Return the ranges of a cell made by `as_cell`; an empty cell has none. Raise SpanError for any other cell.

    A quote may contain any character, because its length is given by the offsets.
    """
    spans = spans_of_cell(cell)
    if len(spans) > 1:
        raise SpanError(f"{cell!r} has {len(spans)} spans; expected one")
    return spans[0] if spans else ()


def spans_of_cell(cell: str) -> tuple[tuple[Range, ...], ...]:
    """Return the ranges of each span of a cell made by `spans_as_cell`. Raise SpanError for any other cell."""
    spans: list[list[Range]] = [[]]
    at = 0
    while at < len(cell):
        beginning = _BEGINNING.match(cell, at)
        if beginning is None:
            break
        start, end = int(beginning[1]), int(beginning[2])
        at = beginning.end() + end - start
        if end < start or cell[at : at + 1] != '"':
            break
        spans[-1].append((start, end))
        at += 1
        if at == len(cell):
            return tuple(map(tuple, spans))
        if cell.startswith(BETWEEN_FRAGMENTS, at):
            at += len(BETWEEN_FRAGMENTS)
        elif cell.startswith(BETWEEN_SPANS, at):
            at += len(BETWEEN_SPANS)
            spans.append([])
        else:
            break
    if cell:
        raise SpanError(f'{cell!r} is no span in a cell; expected start-end "quote", as in 3-7 "pain"')
    return ()


def covering_range(ranges: Ranges) -> Range:
    """Return the smallest range that covers all fragments. Raise SpanError if there are none."""
    if not ranges:
        raise SpanError("a span without fragments has no range")
    return min(start for start, _ in ranges), max(end for _, end in ranges)


def has_overlap(ranges: Iterable[Range]) -> bool:
    """Return whether two ranges share characters. Ranges that touch do not."""
    ordered = sorted(ranges)
    return any(after[0] < before[1] for before, after in pairwise(ordered))


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """Return ordered ranges of the same characters that neither overlap nor touch. Empty ranges are dropped."""
    joined: list[Range] = []
    for start, end in sorted(r for r in ranges if r[1] > r[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def words(text: str) -> tuple[Range, ...]:
    """Return the words of a text: runs without white space, with punctuation trimmed.

    Bare punctuation is not a word.
    """
    ranges: list[Range] = []
    for run in _RUNS.finditer(text):
        low, high = run.span()
        while low < high and _is_punctuation(text[low]):
            low += 1
        while low < high and _is_punctuation(text[high - 1]):
            high -= 1
        if low < high:
            ranges.append((low, high))
    return tuple(ranges)


def blank_separated(text: str) -> tuple[Range, ...]:
    """Return all runs without white space, also those of punctuation alone, as the spans of MS^2 begin and end."""
    return tuple(run.span() for run in _RUNS.finditer(text))


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


Status = Literal["exact", "case", "absent", "empty"]


@dataclass(frozen=True, slots=True)
class Located:
    """Result of a search for a quote. ``ranges`` holds the chosen match; it is empty for absent and empty quotes.

    ``status`` is ``exact``, ``case`` (found only if case is ignored), ``absent`` or ``empty`` (no quote).
    ``occurrences`` counts all matches ignoring case, because "Both ... both" is ambiguous in any case.
    """

    status: Status
    ranges: tuple[Range, ...]
    occurrences: int

    @property
    def ambiguous(self) -> bool:
        """Whether the quote occurs more than once, so that the chosen match is a guess."""
        return self.occurrences > 1


def locate(text: str, quote: str) -> Located:
    """Find a verbatim quote: the first exact match, else the first match ignoring case. The quote is not normalised.

    Case is ignored by full case folding, in which one character may become several ("ß" is "ss", "İ" is "i" and a dot).
    A match must begin and end between characters of the text, and its range counts these.
    """
    if not quote:
        return Located("empty", (), 0)
    folded, owner = _folded(text)
    needle = quote.casefold()
    ranges: list[Range] = []
    for hit in _hits(folded, needle):
        end = hit + len(needle)
        begins = hit == 0 or owner[hit - 1] != owner[hit]
        ends = end == len(folded) or owner[end - 1] != owner[end]
        if begins and ends:
            ranges.append((owner[hit], owner[end - 1] + 1))
    at = text.find(quote)
    if at >= 0:
        return Located("exact", ((at, at + len(quote)),), len(ranges))
    return Located("case", (ranges[0],), len(ranges)) if ranges else Located("absent", (), 0)


def locate_words(text: str, quote: str) -> Range | None:
    """Return the first range of a quote as whole words, exact or else ignoring case, or None.

    "VA" does not match in "elevating". Any character other than a letter or a digit bounds a word, including hyphens
    and slashes.
    """
    if not quote:
        return None
    if (at := _as_words(text, quote)) is not None:
        return at, at + len(quote)
    folded, owner = _folded(text)
    needle = quote.casefold()
    if (at := _as_words(folded, needle)) is None:
        return None
    return owner[at], owner[at + len(needle) - 1] + 1


def _as_words(text: str, quote: str) -> int | None:
    hits = (
        at for at in _hits(text, quote) if not _is_within_word(text, at) and not _is_within_word(text, at + len(quote))
    )
    return next(hits, None)


def _is_within_word(text: str, at: int) -> bool:
    """Whether a position is inside a word: after a letter or digit, and before one or a combining mark."""
    if not 0 < at < len(text):
        return False
    return text[at - 1].isalnum() and (text[at].isalnum() or unicodedata.combining(text[at]) > 0)


def _hits(text: str, quote: str) -> list[int]:
    """Return the start of each match, including overlapping ones, in linear time.

    A new search after the start of each match would take quadratic time for repetitive quotes. Matches that may overlap
    are therefore found in one pass (Knuth, Morris and Pratt, 1977).
    """
    first = text.find(quote)
    if first < 0 or text.find(quote, first + 1) < 0:
        return [first] if first >= 0 else []
    borders = _borders(quote)
    if not borders[-1]:
        return [hit.start() for hit in re.finditer(re.escape(quote), text)]
    starts, matched = [], 0
    for at in range(first, len(text)):
        while matched and text[at] != quote[matched]:
            matched = borders[matched - 1]
        matched += text[at] == quote[matched]
        if matched == len(quote):
            starts.append(at - matched + 1)
            matched = borders[-1]
    return starts


def _borders(quote: str) -> list[int]:
    """Return for each prefix of a quote the length of its longest proper border (both prefix and suffix)."""
    borders = [0]
    for at in range(1, len(quote)):
        matched = borders[-1]
        while matched and quote[at] != quote[matched]:
            matched = borders[matched - 1]
        borders.append(matched + (quote[at] == quote[matched]))
    return borders


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """Return the case-folded text and, for each of its characters, the index of the original character."""
    if text.isascii():
        return text.lower(), range(len(text))
    pieces = [character.casefold() for character in text]
    owner = [i for i, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), owner
