"""Documents cut to a budget of words or characters: nobody here has the endpoint's tokenizer."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..budget import shares

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Cut:
    """Documents within a budget, how long they were in all, and how much of that was left out."""

    documents: tuple[str, ...]
    length: int
    left_out: int


def within(documents: Sequence[str], unit: str, most: int | None, budget: str) -> Cut:
    """Documents cut to ``most`` words (runs without white space) or characters (code points); None: all is read."""
    measure, prefix = _UNITS[unit]
    lengths = [measure(document) for document in documents]
    if most is None or sum(lengths) <= most:
        return Cut(tuple(documents), sum(lengths), 0)
    kept = shares(lengths, most, equal=budget == "equal shares")
    texts = (
        document if share == length else prefix(document, share)
        for document, share, length in zip(documents, kept, lengths, strict=True)
    )
    # A document that nothing is left of leaves no separator either.
    return Cut(tuple(filter(None, texts)), sum(lengths), sum(lengths) - sum(kept))


def _words(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _first_words(text: str, count: int) -> str:
    end = 0
    for number, word in enumerate(_WORD.finditer(text)):
        if number == count:
            break
        end = word.end()
    return text[:end]


_UNITS: dict[str, tuple[Callable[[str], int], Callable[[str, int], str]]] = {
    "words": (_words, _first_words),
    "characters": (len, lambda text, count: text[:count]),
}
UNITS = tuple(_UNITS)
