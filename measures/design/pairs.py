"""Pairs of systems for a choice between two texts: every pair on equally many sources, each side equally often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from measures.sampling import Seed, order_key, shuffled


@dataclass(frozen=True, slots=True)
class Paired:
    """Two systems' texts of a source. Whoever has place 0 of it sees them so; `seen_at` tells of the others."""

    source: str
    left: str
    right: str

    def seen_at(self, number: int, repeat: int = 0) -> tuple[str, str]:
        """(left, right) at place ``number`` (from 0); a repeat has the sides turned."""
        return (self.right, self.left) if (number + repeat) % 2 else (self.left, self.right)


def balanced_pairs(
    sources: Sequence[str], entrants: Sequence[str], seed: Seed, *, each: int | None = None
) -> list[Paired]:
    """The pairs of every source, sources in the seed's order; ``each``: how many a source has, all where None.

    Any two pairs of systems are on equally many sources, up to one. Of the sources of a pair a half, up to one, has
    the first of them left; where they cannot be halved, whoever was less often left is. ValueError below two entrants
    or for more pairs than there are.
    """
    every = [(a, b) for a, b in combinations(sorted(entrants), 2)]
    each = len(every) if each is None else each
    if not every or not 1 <= each <= len(every):
        raise ValueError(f"{each} pairs of {len(entrants)} systems cannot be had")
    had: Counter[tuple[str, str]] = Counter()
    where: dict[tuple[str, str], list[str]] = defaultdict(list)
    chosen: dict[str, list[tuple[str, str]]] = {}
    for source in shuffled(sources, f"{seed}:sources"):
        tie = {pair: order_key(seed, f"pair:{source}:{pair}") for pair in every}
        chosen[source] = sorted(every, key=lambda pair: (had[pair], tie[pair]))[:each]
        chosen[source].sort(key=lambda pair: tie[pair])
        had.update(chosen[source])
        for pair in chosen[source]:
            where[pair].append(source)
    turned = _turned(where, seed)
    return [
        Paired(source, b, a) if (source, (a, b)) in turned else Paired(source, a, b)
        for source, pairs in chosen.items()
        for a, b in pairs
    ]


def _turned(where: dict[tuple[str, str], list[str]], seed: Seed) -> set[tuple[str, tuple[str, str]]]:
    """Which pairs have their second system left, by source."""
    turned: set[tuple[str, tuple[str, str]]] = set()
    lefts: Counter[str] = Counter()
    for a, b in sorted(where, key=lambda pair: order_key(seed, f"sides:{pair}")):
        order = shuffled(where[a, b], f"{seed}:sides:{a}:{b}")
        half, odd = divmod(len(order), 2)
        second = half + (odd if lefts[a] > lefts[b] else 0)
        turned |= {(source, (a, b)) for source in order[:second]}
        lefts[a] += len(order) - second
        lefts[b] += second
    return turned


def sides(shown: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """system -> how often it was left and right of (left, right)."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"left": 0, "right": 0})
    for left, right in shown:
        counts[left]["left"] += 1
        counts[right]["right"] += 1
    return {system: counts[system] for system in sorted(counts)}
