"""Which words of a text were changed: the word-level edit distance, case aside, and where the changes stand."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from measures.spans import Range

#: Up to so many changed words are counted exactly; beyond, a text is simply another one.
COUNTED = 40

# A word, with what joins its parts ("placebo-controlled", "0.05", "don't") and the sign before a number; else a sign
# that means something ("<", "%", "±"). Letters may be written with combining marks.
_LETTER = r"[\w\u0300-\u036f]"
_WORD = re.compile(rf"(?:(?<![\w.])[-+\u2212](?=\d))?\w{_LETTER}*(?:[-\u2010\u2011'\u2019.,/]\w{_LETTER}*)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A run of words that changed: the range of code points in the target and in the text. One of them may be empty
    (words were only put in, or only left out); it then stands where the others would."""

    target: Range
    text: Range


@dataclass(frozen=True, slots=True)
class Difference:
    """The least number of words put in, left out or replaced, and where, in order; None: too many to count."""

    words: int | None
    edits: tuple[Edit, ...]


class _Word(NamedTuple):
    folded: str
    start: int
    end: int


def _words(text: str) -> list[_Word]:
    return [_Word(_folded(m[0]), *m.span()) for m in _WORD.finditer(text) if not _is_punctuation(m[0])]


def _folded(word: str) -> str:
    return unicodedata.normalize("NFC", word).casefold()


def _is_punctuation(found: str) -> bool:
    """Commas, quotes and stray accents are no words; a percent sign is one, although Unicode has it as punctuation."""
    kind = unicodedata.category(found[0])
    return len(found) == 1 and found not in "%‰&" and (kind[0] in "PM" or kind == "Sk")


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in case, spaces and punctuation."""
    return [w.folded for w in _words(a)] == [w.folded for w in _words(b)]


def difference(target: str, text: str) -> Difference:
    """The words that differ, whatever their case: the word-level edit distance (Levenshtein) and one way to get it."""
    was, now = _words(target), _words(text)
    first = _common(was, now)
    last = _common(was[first:][::-1], now[first:][::-1])
    core_was, core_now = was[first : len(was) - last], now[first : len(now) - last]
    table = _distances([w.folded for w in core_was], [w.folded for w in core_now])
    if table is None:
        return Difference(None, (Edit((0, len(target)), (0, len(text))),))
    kept = _kept(table, core_was, core_now)
    edits = _edits(was, now, [(first + i, first + j) for i, j in kept], first, last)
    return Difference(table[-1][len(core_now)], edits)


def _common(a: list[_Word], b: list[_Word]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x.folded != y.folded), min(len(a), len(b)))


def _distances(a: list[str], b: list[str]) -> list[dict[int, int]] | None:
    """Rows of Levenshtein's table within a band of `COUNTED` around the diagonal; None where the distance is more."""
    rows = [{j: j for j in range(min(len(b), COUNTED) + 1)}]
    if abs(len(a) - len(b)) > COUNTED:
        return None
    far = COUNTED + 1
    for i, word in enumerate(a, start=1):
        above = rows[-1]
        row: dict[int, int] = {}
        for j in range(max(0, i - COUNTED), min(len(b), i + COUNTED) + 1):
            best = min(above.get(j, far) + 1, row.get(j - 1, far) + 1)
            if j and above.get(j - 1, far) + (b[j - 1] != word) < best:
                best = above[j - 1] + (b[j - 1] != word)
            row[j] = best
        if min(row.values()) > COUNTED:
            return None
        rows.append(row)
    return rows if rows[-1].get(len(b), far) <= COUNTED else None


def _kept(rows: list[dict[int, int]], a: list[_Word], b: list[_Word]) -> list[tuple[int, int]]:
    """Indices of words that stay in both, in order, read back from the end of the table."""
    i, j, kept = len(a), len(b), []
    while i and j:
        here = rows[i][j]
        if a[i - 1].folded == b[j - 1].folded:
            i, j = i - 1, j - 1
            kept.append((i, j))
        elif rows[i - 1].get(j - 1) == here - 1:
            i, j = i - 1, j - 1
        elif rows[i - 1].get(j) == here - 1:
            i -= 1
        else:
            j -= 1
    return kept[::-1]


def _edits(was: list[_Word], now: list[_Word], kept: list[tuple[int, int]], first: int, last: int) -> tuple[Edit, ...]:
    """The stretches between words that stay: indices of both in ``kept``, and the ``first`` and ``last`` ones."""
    edits = []
    i, j = first, first
    for next_i, next_j in [*kept, (len(was) - last, len(now) - last)]:
        if next_i > i or next_j > j:
            edits.append(Edit(_stretch(was, i, next_i), _stretch(now, j, next_j)))
        i, j = next_i + 1, next_j + 1
    return tuple(edits)


def _stretch(words: list[_Word], first: int, after: int) -> Range:
    """The range of words first..after; an empty one stands behind the word before it."""
    if after > first:
        return words[first].start, words[after - 1].end
    at = words[first - 1].end if first else 0
    return at, at
