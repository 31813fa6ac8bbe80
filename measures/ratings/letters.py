"""Letters for a table: systems that share one do not differ significantly.

Insert and absorb (Piepho 2004, *An algorithm for a letter-based representation of all-pairwise comparisons*, Journal of
Computational and Graphical Statistics 13): begin with a letter for all, part it at every pair that differs, drop what
lies within another.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from string import ascii_letters


def letters(different: Sequence[Sequence[bool]]) -> list[str]:
    """Of a symmetric table (m, m) of which systems differ: the letters of each.

    Two share a letter exactly where they do not differ. The first of the systems has an "a"; give them best first.
    """
    m = len(different)
    groups = [frozenset(range(m))] if m else []
    for i, j in combinations(range(m), 2):
        if different[i][j]:
            parted = [part for g in groups for part in ((g - {i}, g - {j}) if i in g and j in g else (g,))]
            whole = sorted(set(parted), key=lambda g: (-len(g), sorted(g)))
            groups = [g for k, g in enumerate(whole) if g and not any(g < other for other in whole[:k])]
    for group in sorted(groups, key=lambda g: (len(g), sorted(g))):
        others = [g for g in groups if g != group]
        # Without it all who shared it still share another.
        if all(any(i in g and j in g for g in others) for i in group for j in group):
            groups = others
    groups.sort(key=lambda g: sorted(g))
    return ["".join(_name(k) for k, g in enumerate(groups) if i in g) for i in range(m)]


def _name(k: int) -> str:
    return ascii_letters[k] if k < len(ascii_letters) else f"({k + 1})"
