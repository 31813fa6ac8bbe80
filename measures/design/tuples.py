"""Tuples of texts of one source for best-worst scaling (Louviere, Flynn and Marley 2015, *Best-Worst Scaling*)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from random import Random
from typing import TypeVar

from ..sampling import Seed, shuffled
from .lists import williams_square

N = TypeVar("N", bound=Hashable)
SIZE = 4
"""Number of texts in a tuple."""
TRIES = 10_000
"""Limit on proposed exchanges. More would make the counts of pairs hardly more equal."""


@dataclass(frozen=True, slots=True)
class Tuple:
    """Systems whose texts of one source are shown together, in the order that the first assignment shows."""

    source: str
    systems: tuple[str, ...]


def seen_at(texts: Sequence[N], number: int, repeat: int = 0) -> list[N]:
    """Return the texts of a tuple in their order at position ``number`` (from 0). A repeat has another order.

    Over as many consecutive positions as a Williams square has rows, each text has each place equally often.
    """
    rows = williams_square(len(texts))
    return [texts[place] for place in rows[(number + repeat) % len(rows)]]


def fewest_tuples(systems: int) -> int:
    """Return the number of tuples per source that shows every system at least once."""
    return -(-systems // SIZE)


def balanced_tuples(
    sources: Sequence[str], systems: Sequence[str], seed: Seed, *, each: int | None = None
) -> list[Tuple]:
    """Return ``each`` different tuples of every source, with the sources in the seed's order.

    None means the fewest that show every system of a source. The numbers of tuples of any two systems differ by at most
    one, in a source and over all sources. The places of a system in its tuples differ by at most one. The numbers of
    tuples that two systems share are as equal as exchanges make them: they differ by at most three for 4 to 9 systems
    and up to 5 tuples of a source. Raise ValueError for fewer than `SIZE` systems, and for more tuples than exist.
    """
    each = fewest_tuples(len(systems)) if each is None else each
    if len(systems) < SIZE or not 1 <= each <= comb(len(systems), SIZE):
        raise ValueError(f"{len(systems)} systems do not form {each} tuples of {SIZE}")
    # Drawn names, so that their order does not decide which systems meet.
    names = shuffled(sorted(systems), f"{seed}:tuple systems")
    order = shuffled(sources, f"{seed}:sources")
    every = list(map(frozenset, combinations(range(len(names)), SIZE)))
    # Many different tuples are hard to find one by one, so the few that are left out are drawn instead.
    if 2 * each > len(every):
        left_out = _Drawn(len(order), len(names), len(every) - each, seed).sets
        chosen = [[one for one in every if one not in of] for of in left_out]
    else:
        chosen = _Drawn(len(order), len(names), each, seed).sets
    rows = [(source, one) for source, of in zip(order, chosen, strict=True) for one in of]
    placed = _placed([sorted(one) for _, one in rows])
    return [Tuple(source, tuple(names[i] for i in one)) for (source, _), one in zip(rows, placed, strict=True)]


class _Drawn:
    """The tuples of each source as sets of system numbers."""

    def __init__(self, sources: int, systems: int, each: int, seed: Seed) -> None:
        self.random = Random(f"{seed}:tuples")
        self.systems = systems
        self.least, more = divmod(SIZE * each, systems)
        self.most = self.least + bool(more)
        total = [0] * systems
        self.own: list[list[int]] = []
        self.sets: list[list[frozenset[int]]] = []
        self.together: Counter[tuple[int, int]] = Counter()
        for n in range(sources):
            ties = shuffled(range(systems), f"{seed}:tuple ties:{n}")
            rarest = sorted(ties, key=lambda i: total[i])
            own = [self.least] * systems
            for i in rarest[:more]:
                own[i] += 1
            total = [t + o for t, o in zip(total, own, strict=True)]
            self.own.append(own)
            self.sets.append(self._filled(list(own), ties, each))
        self._improve()

    def _filled(self, remaining: list[int], ties: Sequence[int], each: int) -> list[frozenset[int]]:
        """Return the tuples of a source: each system as often as it remains, beside those it has met least."""
        sets: list[frozenset[int]] = []
        for _ in range(each):
            one: list[int] = []
            for _ in range(SIZE):
                # Systems with the most remaining tuples come first, so that no two slots are left for one system.
                i = min(
                    (i for i in ties if i not in one),
                    key=lambda i: (
                        -remaining[i],
                        frozenset([*one, i]) in sets,
                        sum(self.together[_pair(i, j)] for j in one),
                    ),
                )
                one.append(i)
                remaining[i] -= 1
            self.together.update(_pair(a, b) for a, b in combinations(one, 2))
            sets.append(frozenset(one))
        return sets

    def _improve(self) -> None:
        """Exchange systems between tuples while the counts of pairs become no less equal, then repair repetitions."""
        places = [(s, k) for s, of in enumerate(self.sets) for k in range(len(of))]
        pairs = comb(self.systems, 2)
        least, more = divmod(len(places) * comb(SIZE, 2), pairs)
        ideal = (pairs - more) * least**2 + more * (least + 1) ** 2
        unevenness = sum(n * n for n in self.together.values())
        for _ in range(TRIES if len(places) > 1 else 0):
            if unevenness == ideal:
                break
            unevenness += self._exchange(self._one_of(places), self._one_of(places))
        for s, of in enumerate(self.sets):
            own = [(s, k) for k in range(len(of))]
            for _ in range(TRIES):
                if len(set(of)) == len(of):
                    break
                self._exchange(self._one_of(own), self._one_of(own))

    def _one_of(self, values: Sequence[N]) -> N:
        # `Random.random` gives the same numbers in every version of Python; `choice` does not.
        return values[int(self.random.random() * len(values))]

    def _exchange(self, first: tuple[int, int], second: tuple[int, int]) -> int:
        """Exchange one system of each tuple if nothing becomes less balanced. Return the change of unevenness."""
        (s, j), (t, k) = first, second
        one, other = self.sets[s][j], self.sets[t][k]
        mine, theirs = sorted(one - other), sorted(other - one)
        if not mine:  # the same tuple
            return 0
        a, b = self._one_of(mine), self._one_of(theirs)
        if s != t and not (self.own[s][a] > self.least and self.own[t][b] > self.least):
            return 0
        if s != t and not (self.own[s][b] < self.most and self.own[t][a] < self.most):
            return 0
        new_one, new_other = one - {a} | {b}, other - {b} | {a}
        was = len(set(self.sets[s])) + len(set(self.sets[t]))
        steps = Counter({_pair(b, i): 1 for i in one - {a}})
        steps.update({_pair(a, i): 1 for i in other - {b}})
        steps.subtract({_pair(a, i): 1 for i in one - {a}})
        steps.subtract({_pair(b, i): 1 for i in other - {b}})
        change = sum(2 * self.together[pair] * by + by * by for pair, by in steps.items())
        self.sets[s][j], self.sets[t][k] = new_one, new_other
        now = len(set(self.sets[s])) + len(set(self.sets[t]))
        if now < was or (now == was and change > 0):
            self.sets[s][j], self.sets[t][k] = one, other
            return 0
        self.together.update(steps)
        if s != t:
            for own, gone, came in ((self.own[s], a, b), (self.own[t], b, a)):
                own[gone] -= 1
                own[came] += 1
        return change


def _pair(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _placed(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    """Order each tuple, so that the places of a system differ by at most one.

    The tuples are halved twice. Each half has half of the slots of each tuple and, to within one, of each system.
    """
    edges = [(n, i) for n, row in enumerate(rows) for i in row]
    halves = _halved(edges)
    placed: list[list[int]] = [[] for _ in rows]
    for half in (True, False):
        part = [edge for edge, is_first in zip(edges, halves, strict=True) if is_first is half]
        for quarter in (True, False):
            for (n, i), is_first in zip(part, _halved(part), strict=True):
                if is_first is quarter:
                    placed[n].append(i)
    return placed


def _halved(edges: Sequence[tuple[int, int]]) -> list[bool]:
    """Split edges of tuples and systems in half at each tuple, and to within one at each system.

    Every tuple has an even number of edges. An additional tuple (-1) makes the number of each system even too. The
    edges then form closed trails of even length, along which the halves alternate.
    """
    degrees = Counter(i for _, i in edges)
    whole = [*edges, *((-1, i) for i, n in degrees.items() if n % 2)]
    at: dict[tuple[str, int], list[int]] = defaultdict(list)
    for e, (n, i) in enumerate(whole):
        at["tuple", n].append(e)
        at["system", i].append(e)
    half: list[bool | None] = [None] * len(whole)
    for start in range(len(whole)):
        side, is_first, e = "tuple", True, start
        while half[e] is None:
            half[e], is_first = is_first, not is_first
            n, i = whole[e]
            side, vertex = ("system", i) if side == "tuple" else ("tuple", n)
            left = at[side, vertex]
            while left and half[left[-1]] is not None:
                left.pop()
            if not left:
                break
            e = left[-1]
    return [bool(each) for each in half[: len(edges)]]
