"""Tokens with their places: what copying, repetition and length are counted in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from measures.spans import Range

TOKENIZER = "concord-tokens 1"
"""Name of the rule below, kept with every figure that depends on it."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)+(?!\w)|\w+|\S")


@dataclass(frozen=True, slots=True)
class Tokens:
    """``ranges`` (n,) half-open ranges of code points; ``keys`` (n,) what tokens are compared by: case-folded."""

    ranges: tuple[Range, ...]
    keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.keys)

    def covering(self, first: int, n: int) -> Range:
        """The range of the text from token ``first`` through ``n`` tokens; n >= 1."""
        return self.ranges[first][0], self.ranges[first + n - 1][1]


def tokens_of(text: str) -> Tokens:
    """Numbers with their decimals ("0.05", "1,200"), runs of letters and digits, every other character alone.

    Unlike ROUGE's tokens these lose nothing but white space: "\\u03b2", "\\u2265" and "<" count. Case is ignored.
    """
    hits = [(hit.span(), hit.group().casefold()) for hit in _TOKEN.finditer(text)]
    return Tokens(tuple(span for span, _ in hits), tuple(key for _, key in hits))


def ngrams(keys: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """All n-grams in order: max(0, len - n + 1) of them. ValueError for n < 1."""
    if n < 1:
        raise ValueError("an n-gram has at least one token")
    return list(zip(*(keys[i:] for i in range(n)), strict=False))
