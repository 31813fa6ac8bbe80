"""Find the changed words of a text: word-level edit distance, ignoring case, and the positions of the changes."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass
from typing import NamedTuple

from measures.spans import Range

#: Maximum number of changed words that are counted exactly. Beyond it, the texts are regarded as unrelated.
COUNTED = 40

# A word, including joined parts ("placebo-controlled", "0.05", "don't") and the sign before a number; else a single
# meaningful sign ("<", "%", "±"). Letters may have combining marks.
_LETTER = r"[\w\u0300-\u036f]"
_WORD = re.compile(rf"(?:(?<![\w.])[-+\u2212](?=\d))?\w{_LETTER}*(?:[-\u2010\u2011'\u2019.,/]\w{_LETTER}*)*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Edit:
    """A run of changed words: ranges of code points in the target and in the text.

    One range is empty if words were only inserted or only deleted. It is then at the position of the change.
    """

    target: Range
    text: Range


@dataclass(frozen=True, slots=True)
class Difference:
    """The minimum number of inserted, deleted or replaced words (None if too many to count), and the edits in order."""

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


def _is_punctuation(char: str) -> bool:
    """Whether a token is punctuation. Percent signs count as words, although Unicode classes them as punctuation."""
    kind = unicodedata.category(char[0])
    return len(char) == 1 and char not in "%‰&" and (kind[0] in "PM" or kind == "Sk")


def folded_words(text: str) -> tuple[str, ...]:
    """Return the words of a text, folded for comparison without case, spaces and punctuation."""
    return tuple(w.folded for w in _words(text))


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in case, spaces and punctuation."""
    return folded_words(a) == folded_words(b)


def difference(target: str, text: str) -> Difference:
    """Return the word-level edit distance (Levenshtein), ignoring case, and one minimal sequence of edits.

    Takes O(words x distance), with the distance limited by `COUNTED`.
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
    """Levenshtein's table for distances up to `COUNTED`, stored by diagonals.

    Source: E. Ukkonen, Algorithms for Approximate String Matching (1985). ``reach[e][k]`` is the largest i for which
    the first i words of ``a`` become the first i + k words of ``b`` by at most e changes. It never decreases from one e
    to the next.
    """

    def __init__(self, a: list[str], b: list[str], reach: list[dict[int, int]]) -> None:
        self.a, self.b, self.reach = a, b, reach
        self.distance = len(reach) - 1

    @classmethod
    def of(cls, a: list[str], b: list[str]) -> _Distances | None:
        """Compute the table, or return None if more than `COUNTED` words differ."""
        end = len(b) - len(a)
        reach: list[dict[int, int]] = []
        for changes in range(COUNTED + 1):
            before = reach[-1] if reach else {}
            row: dict[int, int] = {}
            for k in range(-min(changes, len(a)), min(changes, len(b)) + 1):
                # A word of a replaced or deleted, or a word of b inserted. The first row has no change.
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
        """Return the distance between the first i words of ``a`` and the first j of ``b``, or one more than
        computed.
        """
        return bisect_left(self.reach, i, key=lambda row: row.get(j - i, -1))

    def kept(self) -> list[tuple[int, int]]:
        """Return the indices of unchanged words in both texts, in order, by backtracking from the end of the table."""
        i, j, matches = len(self.a), len(self.b), []
        here = self.distance
        while i and j:
            if self.a[i - 1] == self.b[j - 1]:
                i, j = i - 1, j - 1
                matches.append((i, j))
                continue
            here -= 1
            if self._cell(i - 1, j - 1) == here:
                i, j = i - 1, j - 1
            elif self._cell(i - 1, j) == here:
                i -= 1
            else:
                j -= 1
        return matches[::-1]


def _edits(
    was: list[_Word], now: list[_Word], matches: list[tuple[int, int]], first: int, last: int
) -> tuple[Edit, ...]:
    """Return the edits between unchanged words.

    ``matches`` holds their indices, without the ``first`` and ``last`` ones.
    """
    edits = []
    i, j = first, first
    for next_i, next_j in [*matches, (len(was) - last, len(now) - last)]:
        if next_i > i or next_j > j:
            edits.append(Edit(_stretch(was, i, next_i), _stretch(now, j, next_j)))
        i, j = next_i + 1, next_j + 1
    return tuple(edits)


def _stretch(words: list[_Word], first: int, after: int) -> Range:
    """Return the range of words first..after. An empty range is placed after the previous word."""
    if after > first:
        return words[first].start, words[after - 1].end
    at = words[first - 1].end if first else 0
    return at, at
