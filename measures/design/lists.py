"""Allocate texts and pairs to raters, by lists (Latin squares), page orders (Williams squares) and balanced pairs.

In a Latin-square list each rater sees each source once, and the system changes between the lists.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product
from typing import Any

from ..sampling import Seed, T, order_key, shuffled

TRIES = 20
"""Number of candidate orders drawn for a list. The one with the most even carry-over is used."""


def latin_lists(sources: Sequence[T], systems: Sequence[T], seed: Seed) -> list[dict[T, T]]:
    """Return one list per system: source -> the system that is shown, in the order of the list.

    Over the lists each source is shown with each of the M ``systems`` once. In a list the numbers of texts per system
    differ by at most one. Each system follows each (including itself) about equally often. Systems are reassigned for
    every M sources, so that one source's system does not predict the others. The positions of a source in two
    consecutive lists, counted over both lists, are at least about half a list apart. Raise ValueError without systems.
    """
    if not systems:
        raise ValueError("a list needs a system")
    order, m = shuffled(sources, f"{seed}:sources"), len(systems)
    lists: list[dict[T, T]] = [{} for _ in systems]
    for start in range(0, len(order), m):
        drawn = shuffled(systems, f"{seed}:systems:{start}")
        for shift, one in zip(shuffled(range(m), f"{seed}:shifts:{start}"), lists, strict=True):
            one |= {source: drawn[(i + shift) % m] for i, source in enumerate(order[start : start + m])}
    ordered: list[dict[T, T]] = []
    early: set[T] = set()
    for g, one in enumerate(lists):
        waiting: dict[T, list[T]] = {system: [] for system in systems}
        candidate = shuffled(order, f"{seed}:list:{g}")
        # Sources are popped from the end, so those from the first half of the previous list come first.
        for source in [s for s in candidate if s not in early] + [s for s in candidate if s in early]:
            waiting[one[source]].append(source)
        order_of_systems = even_carry_over({system: len(each) for system, each in waiting.items()}, f"{seed}:order:{g}")
        ordered.append({waiting[system].pop(): system for system in order_of_systems})
        early = set(list(ordered[-1])[: len(order) // 2])
    return ordered


def even_carry_over(counts: Mapping[T, int], seed: Seed) -> list[T]:
    """Return an order in which each name occurs ``counts`` times and the transitions are about even.

    A transition is an ordered pair of consecutive names, including repetitions. Even transitions prevent a name from
    predicting the next one.
    """
    return min((_drawn(counts, f"{seed}:{n}") for n in range(TRIES)), key=lambda order: unevenness(order, counts))


def unevenness(order: Sequence[Hashable], names: Mapping[T, int]) -> int:
    """Return the sum of squared transition counts. Smaller is more even."""
    transitions = Counter(pairwise(order))
    return sum(transitions[pair] ** 2 for pair in product(names, names))


def _drawn(counts: Mapping[T, int], seed: Seed) -> list[T]:
    """Draw an order, preferring the rarest transition.

    Ties are broken at random. Preferring the name with the most remaining occurrences would make repetitions rare.
    """
    left, transitions = dict(counts), Counter[tuple[T, T]]()
    order: list[T] = []
    for step in range(sum(counts.values())):
        before = order[-1:]
        best = min(
            (name for name in shuffled(list(left), f"{seed}:{step}") if left[name]),
            key=lambda name: transitions[before[0], name] if before else 0,
        )
        transitions.update((previous, best) for previous in before)
        left[best] -= 1
        order.append(best)
    return order


@dataclass(frozen=True, slots=True)
class Paired:
    """The texts of two systems for one source, as seen at the first position; `seen_at` gives the other positions."""

    source: str
    left: str
    right: str

    def seen_at(self, number: int, repeat: int = 0) -> tuple[str, str]:
        """Return (left, right) at position ``number`` (from 0). A repeat swaps the sides."""
        return (self.right, self.left) if (number + repeat) % 2 else (self.left, self.right)


def balanced_pairs(
    sources: Sequence[str], systems: Sequence[str], seed: Seed, *, each: int | None = None
) -> list[Paired]:
    """Return the pairs of every source, with the sources in the seed's order.

    ``each`` is the number of pairs per source, None for all. The numbers of sources of any two pairs differ by at most
    one. Each system of a pair is on the left for half of its sources. For an odd number, the system that was on the
    left less often gets the additional one. Raise ValueError for fewer than two systems and for more pairs than exist.
    """
    every = [(a, b) for a, b in combinations(sorted(systems), 2)]
    each = len(every) if each is None else each
    if not every or not 1 <= each <= len(every):
        raise ValueError(f"{len(systems)} systems do not form {each} pairs")
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
    """Return the (source, pair) combinations that show the second system on the left."""
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


def sides(pairs: Iterable[tuple[str, str]]) -> dict[str, dict[str, int]]:
    """Return system -> how often it was on the left and on the right."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: {"left": 0, "right": 0})
    for left, right in pairs:
        counts[left]["left"] += 1
        counts[right]["right"] += 1
    return {system: counts[system] for system in sorted(counts)}


def williams_square(m: int) -> tuple[tuple[int, ...], ...]:
    """Return the rows of a Williams square, each an order of 0..m-1. Raise ValueError for m < 1."""
    if m < 1:
        raise ValueError("a square needs a system")
    first = [(i + 1) // 2 if i % 2 else (m - i // 2) % m for i in range(m)]
    rows = [tuple((each + shift) % m for each in first) for shift in range(m)]
    if m % 2 and m > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)


def order_of_page(systems: Sequence[T], page_index: int, number: int, repeat: int, seed: Seed) -> list[T]:
    """Return the order of a page's texts for the rater at position ``number`` (from 0) of the page.

    ``systems`` are distinct, in any order. Pages form blocks of ``len(williams_square(m))`` consecutive pages. In each
    block and for each number every page has a different row of the square. The seed assigns systems to letters and
    orders the rows for each block, so that all orders are equally frequent in the long run. A repeated page (``repeat``
    1, 2 ...) has a different row until all rows are used.
    """
    known = sorted(systems, key=str)
    rows = williams_square(len(known))
    block, row = divmod(page_index, len(rows))
    letters = shuffled(known, f"{seed}:letters:{number}:{block}")
    order = shuffled(range(len(rows)), f"{seed}:rows:{number}:{block}")
    return [letters[each] for each in rows[order[(row + repeat) % len(rows)]]]


ALGORITHM = "concord-design 2"
"""Version of the rules of this package, part of every plan; increased if a seed would give another result."""
FIRST_ALGORITHM = "concord-design 1"
"""The version of plans that do not name one."""

Json = dict[str, Any]


def balance(orders: Iterable[Sequence[str]]) -> Json:
    """Return the balance of the ``orders`` of pages.

    Keys: ``systems`` in alphabetical order, ``pages``, ``positions`` (systems x positions, counts), and
    ``transitions`` (systems x systems: how often the column's system directly followed the row's).
    """
    positions: Counter[tuple[str, int]] = Counter()
    transitions: Counter[tuple[str, str]] = Counter()
    pages = longest = 0
    for order in orders:
        pages += 1
        longest = max(longest, len(order))
        positions.update((system, position) for position, system in enumerate(order))
        transitions.update(pairwise(order))
    systems = sorted({system for system, _ in positions})
    return {
        "systems": systems,
        "pages": pages,
        "positions": [[positions[system, position] for position in range(longest)] for system in systems],
        "transitions": [[transitions[one, other] for other in systems] for one in systems],
    }


def carry_over(lists: Iterable[Sequence[str]]) -> Json:
    """Return the carry-over of lists of pages with one text each.

    Keys: ``systems`` in alphabetical order, ``pages``, and ``transitions`` (systems x systems: how often the column's
    page directly followed the row's).
    """
    balanced = balance(lists)
    return {
        "systems": balanced["systems"],
        "pages": sum(map(sum, balanced["positions"])),
        "transitions": balanced["transitions"],
    }


def position_bounds(systems: int, pages: Iterable[int], numbers: int = 1) -> tuple[int, int]:
    """Return the minimum and maximum number of times that each system is in each position, for any seed.

    ``pages`` holds the indices of the pages ordered by `order_of_page`, ``numbers`` how many raters each page has. The
    bounds also hold for how often a system follows another one. They are equal if the pages fill whole squares.
    """
    rows = len(williams_square(systems))
    each = rows // systems
    blocks = Counter(page // rows for page in pages).values()
    least = sum(max(0, pages - (rows - each)) for pages in blocks)
    most = sum(min(each, pages) for pages in blocks)
    return least * numbers, most * numbers


def pair_balance(pairs: Iterable[Paired], numbers: int = 1) -> Json:
    """Return the balance of pairs over the positions 0 to ``numbers`` - 1 of each.

    Keys: ``systems``, ``pairs`` (systems x systems: how often the row's system was left of the column's), and ``sides``
    of each system.
    """
    seen_pairs = [pair.seen_at(number) for pair in pairs for number in range(numbers)]
    counts = Counter(seen_pairs)
    by_side = sides(seen_pairs)
    return {
        "systems": list(by_side),
        "pairs": [[counts[left, right] for right in by_side] for left in by_side],
        "sides": [by_side[system] for system in by_side],
    }


def algorithm_of(plan: Any) -> str:
    """Return the version of the rules that made a plan."""
    return str(plan.get("algorithm", FIRST_ALGORITHM)) if isinstance(plan, dict) else FIRST_ALGORITHM


def digest(plan: Any) -> str:
    """Return the SHA-256, in hex, of a plan (JSON) with the version of its rules."""
    content = {"algorithm": algorithm_of(plan), "plan": plan}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
