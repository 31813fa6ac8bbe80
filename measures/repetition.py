"""How long a summary is, and how much it repeats itself.

Sources: distinct-n: J. Li et al., A Diversity-Promoting Objective Function (NAACL 2016), here over n-grams rather than
tokens; the repeated share, its complement within one text: S. Welleck et al., Neural Text Generation with Unlikelihood
Training (ICLR 2020). n-grams are of words (``measures.tokens`` without punctuation, case ignored) and run on over the
ends of sentences, never over those of texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from measures.sentences import sentences
from measures.spans import words
from measures.tokens import ngrams, tokens_of

SIZES = (1, 2, 3, 4)

_WORDY = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Length:
    """``words`` (those of ``measures.spans``), ``sentences``, and ``characters``: code points, spaces included."""

    words: int
    sentences: int
    characters: int


@dataclass(frozen=True, slots=True)
class Ngrams:
    """The n-grams of one size: ``total``, how many are ``distinct``, and both shares, 0..1.

    ``distinct_share`` (distinct-n) is distinct / total, ``repeated_share`` the rest: n-grams that had come before. Both
    are None when ``undefined`` says why: there is no n-gram of that size.
    """

    n: int
    total: int
    distinct: int
    distinct_share: float | None
    repeated_share: float | None
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "n": self.n, "total": self.total, "distinct": self.distinct, "distinct_share": self.distinct_share,
            "repeated_share": self.repeated_share, "undefined": self.undefined,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Repetition:
    """Repetition in one text; ``repeated_sentences`` of ``sentences`` say, word for word, what an earlier one did."""

    ngrams: tuple[Ngrams, ...]
    sentences: int
    repeated_sentences: int

    def as_json(self) -> dict[str, object]:
        return {
            "ngrams": [each.as_json() for each in self.ngrams], "sentences": self.sentences,
            "repeated_sentences": self.repeated_sentences,
        }  # fmt: skip


def length_of(text: str) -> Length:
    """Length in words, sentences and characters; all 0 for an empty text, which has a length."""
    return Length(len(words(text)), len(sentences(text)), len(text))


def repetition(text: str, sizes: Sequence[int] = SIZES) -> Repetition:
    """Repeated and distinct n-grams of one text, and repeated sentences. ValueError for a size below 1."""
    said = [key for key in (_word_keys(sentence) for sentence in sentences(text)) if key]
    return Repetition(tuple(distinct_over([text], n) for n in sizes), len(said), len(said) - len(set(said)))


def distinct_over(texts: Iterable[str], n: int) -> Ngrams:
    """distinct-n over many texts together: how varied a system's outputs are. ValueError for n < 1."""
    counts: Counter[tuple[str, ...]] = Counter()
    for text in texts:
        counts.update(ngrams(_word_keys(text), n))
    total, distinct = counts.total(), len(counts)
    if not total:
        return Ngrams(n, 0, 0, None, None, f"no text has {n} words" if n > 1 else "no text has a word")
    return Ngrams(n, total, distinct, distinct / total, 1 - distinct / total)


def _word_keys(text: str) -> tuple[str, ...]:
    return tuple(key for key in tokens_of(text).keys if _WORDY.match(key))
