"""Spans: half-open ranges of Unicode code points of a text exactly as stored.

A span (a cue, a slot, an entity) is one or more fragments, each a range [start, end). Texts are never normalised and
quotes never repaired: what is compared is what is there, trailing spaces included.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Range = tuple[int, int]
Ranges = Sequence[Range]
_RUNS = re.compile(r"\S+")


class SpanError(ValueError):
    """A range that does not lie in its text, or a quote that is not what the range shows."""


def check_ranges(text: str, ranges: Ranges) -> tuple[Range, ...]:
    """The fragments of one span, checked: inside the text, not empty, in order, not overlapping (touching is fine).

    Raises SpanError for the first that is not; a span without fragments is none either.
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
    """What each fragment shows."""
    return tuple(text[start:end] for start, end in ranges)


def check_quotes(text: str, ranges: Ranges, quotes: Sequence[str]) -> tuple[Range, ...]:
    """Slice the text again and compare: SpanError unless every fragment shows exactly its quote."""
    checked = check_ranges(text, ranges)
    if len(quotes) != len(checked):
        raise SpanError(f"{len(checked)} fragments have {len(quotes)} quotes")
    for number, (shown, quote) in enumerate(zip(quotes_of(text, checked), quotes, strict=True), start=1):
        if shown != quote:
            raise SpanError(f"fragment {number} shows {shown!r}, its quote says {quote!r}")
    return checked


def place(text: str, quotes: Sequence[str]) -> tuple[Range, ...]:
    """Where quotes stand in a text, exactly as they are, each after the one before it.

    SpanError for a quote that does not occur from there on, or occurs more than once: which is meant is not guessed.
    """
    ranges: list[Range] = []
    at = 0
    for quote in quotes:
        found = text.count(quote, at) if quote else 0
        if found != 1:
            how = f"{found} times" if found else "nowhere"
            raise SpanError(f"{quote!r} occurs {how} in the text{' after what precedes it' if at else ''}")
        start = text.index(quote, at)
        at = start + len(quote)
        ranges.append((start, at))
    return tuple(ranges)


def as_cell(fragments: Iterable[tuple[int, int, str]]) -> str:
    """A span in one cell of a table: ``start-end "quote"`` a fragment, joined by `` | ``; offsets in code points."""
    return " | ".join(f'{start}-{end} "{quote}"' for start, end, quote in fragments)


_BEGINNING = re.compile(r'(\d+)-(\d+) "', re.ASCII)


def ranges_of_cell(cell: str) -> tuple[Range, ...]:
    """The ranges of what `as_cell` gave; none of an empty cell. A quote may have any letter: its length is known.

    SpanError for any other cell.
    """
    ranges: list[Range] = []
    at = 0
    while at < len(cell):
        found = _BEGINNING.match(cell, at)
        if found is None:
            break
        start, end = int(found[1]), int(found[2])
        at = found.end() + end - start
        if end < start or cell[at : at + 1] != '"':
            break
        ranges.append((start, end))
        at += 1
        if at == len(cell):
            return tuple(ranges)
        if not cell.startswith(" | ", at):
            break
        at += 3
    if cell:
        raise SpanError(f"{cell!r} is no span in a cell")
    return ()


def covering_range(ranges: Ranges) -> Range:
    """The smallest range that holds all fragments; SpanError when there is none."""
    if not ranges:
        raise SpanError("no fragment, no range")
    return min(start for start, _ in ranges), max(end for _, end in ranges)


def merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    """The same characters as ordered ranges that neither overlap nor touch; empty ranges vanish."""
    joined: list[Range] = []
    for start, end in sorted(r for r in ranges if r[1] > r[0]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


def words(text: str) -> tuple[Range, ...]:
    """The words of a text: runs without white space, punctuation trimmed off both ends; bare punctuation is none."""
    found: list[Range] = []
    for run in _RUNS.finditer(text):
        low, high = run.span()
        while low < high and _is_punctuation(text[low]):
            low += 1
        while low < high and _is_punctuation(text[high - 1]):
            high -= 1
        if low < high:
            found.append((low, high))
    return tuple(found)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character).startswith("P")


Status = Literal["exact", "case", "absent", "empty"]


@dataclass(frozen=True, slots=True)
class Located:
    """Where a quote lies: ``ranges`` holds the hit that was chosen (none when absent or empty).

    ``exact``: as it stands; ``case``: only when case is ignored; ``absent``: nowhere; ``empty``: there is no quote.
    ``occurrences`` counts all hits, case ignored: "Both ... both" leaves open which one was meant, whatever its case.
    """

    status: Status
    ranges: tuple[Range, ...]
    occurrences: int

    @property
    def ambiguous(self) -> bool:
        """Whether the quote occurs more than once, so that the chosen hit is a guess."""
        return self.occurrences > 1


def locate(text: str, quote: str) -> Located:
    """Find a verbatim quote: the first exact hit, else the first ignoring case. Nothing is trimmed or repaired.

    Case is ignored by full case folding, in which one character may become several ("ß" is "ss", "İ" is "i" and a
    dot): a hit must begin and end between characters of the text, and its range counts those.
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
    """The first place of a quote as whole words, exactly as it stands, else but for case; None where there is none.

    "VA" does not stand in "elevating". What is neither letter nor digit bounds a word, hyphens and slashes among it.
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
    """Whether a place has a letter or a digit before it, and one, or a mark that belongs to the one before, behind."""
    if not 0 < at < len(text):
        return False
    return text[at - 1].isalnum() and (text[at].isalnum() or unicodedata.combining(text[at]) > 0)


def _hits(text: str, quote: str) -> list[int]:
    """Where each hit begins, overlapping ones included; in time in proportion to both.

    Searching anew behind the beginning of each hit would read a quote that repeats itself again and again. So hits that
    may overlap are found by one pass (Knuth, Morris and Pratt, 1977).
    """
    first = text.find(quote)
    if first < 0 or text.find(quote, first + 1) < 0:
        return [first] if first >= 0 else []
    borders = _borders(quote)
    if not borders[-1]:
        return [hit.start() for hit in re.finditer(re.escape(quote), text)]
    found, matched = [], 0
    for at in range(first, len(text)):
        while matched and text[at] != quote[matched]:
            matched = borders[matched - 1]
        matched += text[at] == quote[matched]
        if matched == len(quote):
            found.append(at - matched + 1)
            matched = borders[-1]
    return found


def _borders(quote: str) -> list[int]:
    """For each beginning of a quote the length of its longest proper part that it both begins and ends with."""
    borders = [0]
    for at in range(1, len(quote)):
        matched = borders[-1]
        while matched and quote[at] != quote[matched]:
            matched = borders[matched - 1]
        borders.append(matched + (quote[at] == quote[matched]))
    return borders


def _folded(text: str) -> tuple[str, Sequence[int]]:
    """The case-folded text, and for each of its characters the index of the character of ``text`` it came from."""
    if text.isascii():
        return text.lower(), range(len(text))
    pieces = [character.casefold() for character in text]
    owner = [i for i, piece in enumerate(pieces) for _ in piece]
    return "".join(pieces), owner
