"""A slot whose words stand nowhere in the target, though it says that they do."""

from __future__ import annotations

from collections.abc import Iterator

from measures.lexicon_direction import singular
from measures.tokens import tokens_of

from .claims import Cluster, Slot

#: Small words that a recomposed slot may add, and endings that it may change.
_SMALL = "a an and at by for from in into of on or the to with without vs versus plus its their other than"
SMALL = frozenset(_SMALL.split())
STEM = 5


def stray_words(cluster: Cluster) -> Iterator[tuple[Slot, list[str]]]:
    """Slots that are neither words of the target, nor recomposed from them, nor bracketed, with those it lacks.

    The target has a word where it has one with the same beginning ("glaucomatous", "glaucoma"). A slot that has at
    least half of its words from the target is recomposed.
    """
    if cluster.target is None:
        return
    there = _stems(cluster.target.text)
    for slot in cluster.slots:
        words = _words(slot.explicit) if slot.is_reworded else []
        stray = [word for word in words if _stem(word) not in there]
        if 2 * len(stray) > len(words):
            yield slot, stray


def reason(slot: Slot, stray: list[str]) -> str:
    words = ", ".join(f"“{word}”" for word in stray)
    return f"The {slot.name} “{slot.text.strip()}” is not in brackets, and the target does not say {words}."


def _words(text: str) -> list[str]:
    return [key for key in tokens_of(text).keys if key[0].isalnum() and key not in SMALL]


def _stem(word: str) -> str:
    return singular(word)[:STEM]


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word) for word in _words(text))
