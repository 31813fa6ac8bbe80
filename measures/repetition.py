"""Measure the length of a summary and its repetition.

Sources: distinct-n: J. Li et al., A Diversity-Promoting Objective Function (NAACL 2016), here over n-grams instead of
tokens; the repeated share, its complement within one text: S. Welleck et al., Neural Text Generation with Unlikelihood
Training (ICLR 2020). n-grams are of words (``measures.sentences`` without punctuation, case ignored). They cross
sentence boundaries, but not text boundaries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measures.sentences import sentences
from measures.spans import words

from .sentences import ngrams, tokens_of

SIZES = (1, 2, 3, 4)

_WORDY = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Length:
    """Length of a text. ``words`` are those of ``measures.spans``; ``characters`` are code points, including spaces."""

    words: int
    sentences: int
    characters: int


@dataclass(frozen=True, slots=True)
class Ngrams:
    """Counts of n-grams of one size: ``total``, ``distinct``, and both shares, 0..1.

    ``distinct_share`` (distinct-n) is distinct / total. ``repeated_share`` is the remainder, the n-grams that occurred
    before. Both are None, with the reason in ``undefined``, if there is no n-gram of that size.
    """

    n: int
    total: int
    distinct: int
    distinct_share: float | None
    repeated_share: float | None
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "n": self.n,
            "total": self.total,
            "distinct": self.distinct,
            "distinct_share": self.distinct_share,
            "repeated_share": self.repeated_share,
            "undefined": self.undefined,
        }


@dataclass(frozen=True, slots=True)
class Repetition:
    """Repetition in one text. ``repeated_sentences`` of ``sentences`` equal an earlier sentence, word for word."""

    ngrams: tuple[Ngrams, ...]
    sentences: int
    repeated_sentences: int

    def as_json(self) -> dict[str, object]:
        return {
            "ngrams": [each.as_json() for each in self.ngrams],
            "sentences": self.sentences,
            "repeated_sentences": self.repeated_sentences,
        }


def length_of(text: str) -> Length:
    """Return length in words, sentences and characters; all 0 for an empty text."""
    return Length(len(words(text)), len(sentences(text)), len(text))


def repetition(text: str, sizes: Sequence[int] = SIZES) -> Repetition:
    """Count repeated and distinct n-grams and repeated sentences of one text. Raise ValueError for a size below 1."""
    sentence_keys = [key for key in (_word_keys(sentence) for sentence in sentences(text)) if key]
    return Repetition(
        tuple(distinct_over([text], n) for n in sizes), len(sentence_keys), len(sentence_keys) - len(set(sentence_keys))
    )


def distinct_over(texts: Iterable[str], n: int) -> Ngrams:
    """Return distinct-n over many texts together, the diversity of a system's outputs. Raise ValueError for n < 1."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        counts.update(ngrams(_word_keys(text), n))
    total, distinct = counts.total(), len(counts)
    if not total:
        return Ngrams(n, 0, 0, None, None, f"no text has {n} words" if n > 1 else "no text has a word")
    return Ngrams(n, total, distinct, distinct / total, 1 - distinct / total)


def _word_keys(text: str) -> tuple[str, ...]:
    return tuple(key for key in tokens_of(text).keys if _WORDY.match(key))
