"""How far two splits of a sentence are from one another. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from measures.text_agreement import word_f1

from ...corpus.slots import SLOTS, key_of

Row = Mapping[str, Any]


def apart(one: Sequence[Row], other: Sequence[Row]) -> float:
    """0 where they have the same tuples, 1 where no word is shared: one less the likeness of the tuples that are
    paired, the likest first, by how many tuples the longer split has."""
    likeness = sorted(
        ((_alike(a, b), m, n) for m, a in enumerate(one) for n, b in enumerate(other)), key=lambda found: -found[0]
    )
    left, right, total = set(range(len(one))), set(range(len(other))), 0.0
    for alike, m, n in likeness:
        if m in left and n in right:
            left.remove(m)
            right.remove(n)
            total += alike
    return 1.0 - total / max(len(one), len(other), 1)


def _alike(one: Row, other: Row) -> float:
    """The mean over the four slots: 1 where they say the same, else the F1 of their words."""
    return sum(
        1.0 if key_of(one[slot]) == key_of(other[slot]) else word_f1(one[slot]["text"], other[slot]["text"]) or 0.0
        for slot in SLOTS
    ) / len(SLOTS)
