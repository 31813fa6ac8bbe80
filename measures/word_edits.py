"""Which words of a text were changed: the word-level edit distance, case aside, and where the changes stand."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
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


def folded_words(text: str) -> tuple[str, ...]:
    """What a text says but for case, spaces and punctuation."""
    return tuple(w.folded for w in _words(text))


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in case, spaces and punctuation."""
    return folded_words(a) == folded_words(b)


def difference(target: str, text: str) -> Difference:
    """The words that differ, whatever their case: the word-level edit distance (Levenshtein) and one way to get it.

    O(words x distance), the distance up to `COUNTED`.
    """
    was, now = _words(target), _words(text)
    first = _common(was, now)
    last = _common(was[first:][::-1], now[first:][::-1])
    core_was = [w.folded for w in was[first : len(was) - last]]
    core_now = [w.folded for w in now[first : len(now) - last]]
    table = _Distances.of(core_was, core_now)
    if table is None:
        return Difference(None, (Edit((0, len(target)), (0, len(text))),))
    edits = _edits(was, now, [(first + i, first + j) for i, j in table.kept()], first, last)
    return Difference(table.distance, edits)


def _common(a: list[_Word], b: list[_Word]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x.folded != y.folded), min(len(a), len(b)))


class _Distances:
    """Levenshtein's table, where the distance is at most `COUNTED`: instead of its cells how far each diagonal is
    reached by each number of changes. Source: E. Ukkonen, Algorithms for Approximate String Matching (1985).

    ``reach[e][k]`` is the largest i for which the first i words of ``a`` become the first i + k words of ``b`` by e
    changes or fewer; it never falls from one e to the next.
    """

    def __init__(self, a: list[str], b: list[str], reach: list[dict[int, int]]) -> None:
        self.a, self.b, self.reach = a, b, reach
        self.distance = len(reach) - 1

    @classmethod
    def of(cls, a: list[str], b: list[str]) -> _Distances | None:
        """None where more than `COUNTED` words differ."""
        end = len(b) - len(a)
        reach: list[dict[int, int]] = []
        for changes in range(COUNTED + 1):
            before = reach[-1] if reach else {}
            row: dict[int, int] = {}
            for k in range(-min(changes, len(a)), min(changes, len(b)) + 1):
                # A word replaced, left out of a, or put in from b; nothing changed at all where it is the first row.
                ways = (before.get(k, -2) + 1, before.get(k + 1, -2) + 1, before.get(k - 1, -1))
                i = min(max(*ways, 0 if not changes else -1, -k), len(a), len(b) - k)
                while i < len(a) and i + k < len(b) and a[i] == b[i + k]:
                    i += 1
                row[k] = i
            reach.append(row)
            if row.get(end) == len(a):
                return cls(a, b, reach)
        return None

    def _cell(self, i: int, j: int) -> int:
        """The distance of the first i words of ``a`` from the first j of ``b``; one too large where it is more."""
        return bisect_left(self.reach, i, key=lambda row: row.get(j - i, -1))

    def kept(self) -> list[tuple[int, int]]:
        """Indices of words that stay in both, in order, read back from the end of the table."""
        i, j, kept = len(self.a), len(self.b), []
        here = self.distance
        while i and j:
            if self.a[i - 1] == self.b[j - 1]:
                i, j = i - 1, j - 1
                kept.append((i, j))
                continue
            here -= 1
            if self._cell(i - 1, j - 1) == here:
                i, j = i - 1, j - 1
            elif self._cell(i - 1, j) == here:
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
