"""What an option of a protocol means where it is held against a scale that is not the protocol's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from measures.ratings import m3
from measures.ratings.confusion import SKIP, STANDARD


def scale_of(derives: str, key: str, standard: str) -> Sequence[str]:
    """The scale that options of a criterion can mean values of; empty where they are held against nothing but
    themselves. ``derives``: of the protocol; ``standard``: of the criterion."""
    if derives == m3.DERIVES and key in m3.GOLD_SCALES:
        return m3.GOLD_SCALES[key]
    return (SKIP,) if standard == STANDARD else ()


def meanings(options: Iterable[tuple[str, str]], scale: Sequence[str]) -> dict[str, str]:
    """(value, what it is declared to mean, or empty) of options -> by value what of ``scale`` each means: what is
    declared, else the same word in whatever case. Options that mean nothing there are left out."""
    words = {each.casefold(): each for each in scale}
    found = {value: declared or words.get(value.casefold(), "") for value, declared in options}
    return {value: meant for value, meant in found.items() if meant in scale}
