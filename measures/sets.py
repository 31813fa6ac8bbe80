"""Sets of codes in one cell of a table, as of what a person ticks."""

from __future__ import annotations

from collections.abc import Iterable

BETWEEN = ";"


def as_cell(codes: Iterable[str]) -> str:
    """The codes of a set in one cell, in the order of their letters. ValueError for one that a cell cannot hold."""
    found = sorted(set(codes))
    for code in found:
        if BETWEEN in code or code != code.strip() or not code:
            raise ValueError(f"a set in a cell cannot hold {code!r}: it is empty, or has a {BETWEEN!r} or outer spaces")
    return f"{BETWEEN} ".join(found)


def codes_of_cell(cell: str) -> frozenset[str]:
    """The set of what `as_cell` gave; the empty one of an empty cell."""
    return frozenset(code for part in cell.split(BETWEEN) if (code := part.strip()))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float | None:
    """Shared codes by all codes of the two, 0..1 (Jaccard 1912); None where both are empty."""
    return len(one & other) / len(one | other) if one or other else None


def f1(one: frozenset[str], other: frozenset[str]) -> float | None:
    """Twice the shared codes by the sizes of the two (F1, Dice 1945), 0..1; None where both are empty."""
    return 2 * len(one & other) / (len(one) + len(other)) if one or other else None
