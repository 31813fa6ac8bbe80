"""The order of the texts of a page: rows of Williams squares.

In a square of M systems every system stands at every place equally often, and follows every other directly equally
often (Williams 1949, *Experimental designs balanced for the estimation of residual effects of treatments*, Australian
Journal of Scientific Research A 2): M rows where M is even, 2 M where it is odd.
"""

from __future__ import annotations

from collections.abc import Sequence

from measures.sampling import Seed, T, shuffled


def williams_square(m: int) -> tuple[tuple[int, ...], ...]:
    """The rows, each an order of 0..m-1. ValueError below one system."""
    if m < 1:
        raise ValueError("a square needs a system")
    first = [(i + 1) // 2 if i % 2 else (m - i // 2) % m for i in range(m)]
    rows = [tuple((each + shift) % m for each in first) for shift in range(m)]
    if m % 2 and m > 1:
        rows += [tuple(reversed(row)) for row in rows]
    return tuple(rows)


def order_of_page(entrants: Sequence[T], page_index: int, number: int, repeat: int, seed: Seed) -> list[T]:
    """The order in which whoever has place ``number`` (from 0) of the page gets its texts.

    ``entrants``: distinct, in any order. Of every ``len(williams_square(m))`` consecutive pages (from a multiple of it)
    of a number each has another row of the square. For each such block of pages the seed deals the systems to the
    letters and says how the rows come, so that in the long run no order is rarer than another. A page that is given
    again (``repeat`` 1, 2 ...) has another row until all rows were had.
    """
    known = sorted(entrants, key=str)
    rows = williams_square(len(known))
    block, place = divmod(page_index, len(rows))
    letters = shuffled(known, f"{seed}:letters:{number}:{block}")
    order = shuffled(range(len(rows)), f"{seed}:rows:{number}:{block}")
    return [letters[each] for each in rows[order[(place + repeat) % len(rows)]]]
