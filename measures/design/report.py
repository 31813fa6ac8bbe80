"""What a design comes to: how often what stands where, as plain numbers for a page, and its digest."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from measures.design.pairs import Paired, sides
from measures.design.williams import williams_square

ALGORITHM = "concord-design 1"
"""Name of the rules of this package, part of every digest; raised with any change of what a seed gives."""

Json = dict[str, Any]


def balance(orders: Iterable[Sequence[str]]) -> Json:
    """Of the ``orders`` of pages: ``systems`` in the order of letters, ``pages``, ``places`` (systems x places, counts)
    and ``followed`` (systems x systems: how often the column's came directly after the row's)."""
    places: Counter[tuple[str, int]] = Counter()
    followed: Counter[tuple[str, str]] = Counter()
    pages = longest = 0
    for order in orders:
        pages += 1
        longest = max(longest, len(order))
        places.update((system, place) for place, system in enumerate(order))
        followed.update(pairwise(order))
    systems = sorted({system for system, _ in places})
    return {
        "systems": systems,
        "pages": pages,
        "places": [[places[system, place] for place in range(longest)] for system in systems],
        "followed": [[followed[one, other] for other in systems] for one in systems],
    }


def place_bounds(systems: int, pages: Iterable[int], numbers: int = 1) -> tuple[int, int]:
    """How often each system comes at each place, at least and at most, whatever seed orders the pages (`order_of_page`,
    by their indices ``pages``) for the places 0 to ``numbers`` - 1 of each; and as often it follows each other one.

    The two are the same where the pages make whole squares.
    """
    rows = len(williams_square(systems))
    each = rows // systems
    blocks = Counter(page // rows for page in pages).values()
    least = sum(max(0, pages - (rows - each)) for pages in blocks)
    most = sum(min(each, pages) for pages in blocks)
    return least * numbers, most * numbers


def pair_balance(pairs: Iterable[Paired], numbers: int = 1) -> Json:
    """Of the pairs, as seen at the places 0 to ``numbers`` - 1 of each: ``systems``, ``shown`` (systems x systems: how
    often the row's was left of the column's) and ``sides`` of each system."""
    shown = [pair.seen_at(number) for pair in pairs for number in range(numbers)]
    counts = Counter(shown)
    by_side = sides(shown)
    return {
        "systems": list(by_side),
        "shown": [[counts[left, right] for right in by_side] for left in by_side],
        "sides": [by_side[system] for system in by_side],
    }


def digest(plan: Any) -> str:
    """SHA-256, in hex, of a plan (JSON) with the name of the rules that made it."""
    content = {"algorithm": ALGORITHM, "plan": plan}
    written = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(written.encode()).hexdigest()
