"""The sentences of a unit, and how many of them a summary takes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures.sentences import sentence_ranges

from ..assembly import ordered
from ..protocol import Source


class Undefined(Exception):
    """There is no such summary of this unit, for a reason in words."""


@dataclass(frozen=True)
class Sentence:
    """A sentence of an input. ``input`` is the input's place among the unit's inputs as stored, from 0; ``start`` and
    ``end`` are a half-open range of code points of its text. ``opens``: it is the first of its input."""

    text: str
    input: int
    start: int
    end: int
    opens: bool

    @property
    def words(self) -> int:
        return len(self.text.split())


def pieces(source: Source, assembly: Mapping[str, Any], *, seed: int) -> list[Sentence]:
    """All sentences of the inputs, in the order that the assembly asks for. `Undefined` where there is none."""
    places = {id(text): place for place, text in enumerate(source.inputs)}
    chosen = ordered(source, assembly["order"], seed=seed)[: assembly["documents"]]
    found = [
        Sentence(text.text[start:end], places[id(text)], start, end, number == 0)
        for text in chosen
        for number, (start, end) in enumerate(sentence_ranges(text.text))
    ]
    if not found:
        raise Undefined("The inputs hold no sentence.")
    return found


@dataclass(frozen=True)
class Limit:
    """How much a summary takes: so many sentences, or whole sentences of so many words together."""

    sentences: int | None
    words: int | None
    distinct: bool

    @classmethod
    def of(cls, decoding: Mapping[str, Any]) -> "Limit":
        by_words = decoding["limit"] == "words"
        # Ranked methods alone can be told to take a text once; to the others it does not apply.
        ranked = decoding["method"] not in ("lead", "lead of each")
        return cls(
            None if by_words else decoding["sentences"],
            decoding["words"] if by_words else None,
            ranked and decoding["distinct"],
        )

    def take(self, ranking: Iterable[int], found: Sequence[Sentence]) -> list[int]:
        """The first of a ranking (indices into ``found``, asked for only as long as there is room), best first.

        With a limit of words it ends before the first sentence that does not fit; a shorter one further down is not
        taken instead, because it ranks lower. `Undefined` where not even the first fits.
        """
        taken: list[int] = []
        texts: set[str] = set()
        room = self.words
        for index in ranking:
            sentence = found[index]
            if self.distinct and sentence.text in texts:
                continue
            if room is not None:
                if sentence.words > room:
                    break
                room -= sentence.words
            taken.append(index)
            texts.add(sentence.text)
            if len(taken) == self.sentences:
                break
        if not taken:
            raise Undefined(f"The first sentence alone has more than {self.words} words.")
        return taken
