"""Split a unit into sentences, and limit the length of a summary."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures.sentences import sentence_ranges

from ..assembly import ordered
from ..protocol import Source


class Undefined(Exception):
    """The method cannot summarise this unit. The message states the reason."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of an input.

    ``input`` is the index of the input among the stored inputs of the unit, from 0. ``start`` and ``end`` are a
    half-open range of code points in its text. ``opens`` is true for the first sentence of an input.
    """

    text: str
    input: int
    start: int
    end: int
    opens: bool

    @property
    def words(self) -> int:
        return len(self.text.split())


def pieces(source: Source, assembly: Mapping[str, Any], *, seed: int) -> list[Sentence]:
    """Return all sentences of the inputs in assembly order. Raise `Undefined` if there is none."""
    index_of = {id(text): index for index, text in enumerate(source.inputs)}
    chosen = ordered(source, assembly["order"], seed=seed)[: assembly["documents"]]
    sentences = [
        Sentence(text.text[start:end], index_of[id(text)], start, end, number == 0)
        for text in chosen
        for number, (start, end) in enumerate(sentence_ranges(text.text))
    ]
    if not sentences:
        raise Undefined("The inputs contain no sentence.")
    return sentences


@dataclass(frozen=True)
class Limit:
    """The maximum length of a summary: a number of sentences, or of words in whole sentences."""

    sentences: int | None
    words: int | None
    distinct: bool

    @classmethod
    def of(cls, decoding: Mapping[str, Any]) -> "Limit":
        by_words = decoding["limit"] == "words"
        # Only the ranked methods have the option to remove duplicate sentences.
        is_ranked = decoding["method"] not in ("lead", "lead of each")
        return cls(
            None if by_words else decoding["sentences"],
            decoding["words"] if by_words else None,
            is_ranked and decoding["distinct"],
        )

    def take(self, ranking: Iterable[int], sentences: Sequence[Sentence]) -> list[int]:
        """Return the first indices of a ranking that fit the limit, best first. The ranking is consumed lazily.

        With a word limit, the summary ends before the first sentence that does not fit. A shorter sentence further down
        is not taken instead, because it ranks lower. Raise `Undefined` if the first sentence does not fit.
        """
        indices: list[int] = []
        texts: set[str] = set()
        words_left = self.words
        for index in ranking:
            sentence = sentences[index]
            if self.distinct and sentence.text in texts:
                continue
            if words_left is not None:
                if sentence.words > words_left:
                    break
                words_left -= sentence.words
            indices.append(index)
            texts.add(sentence.text)
            if len(indices) == self.sentences:
                break
        if not indices:
            raise Undefined(f"The first sentence has more than {self.words} words, the maximum length.")
        return indices
