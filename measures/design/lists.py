"""Latin-square lists: each rater of a list sees each source once, each time by another system."""

from __future__ import annotations

from collections.abc import Sequence

from measures.sampling import Seed, T, shuffled


def latin_lists(sources: Sequence[T], entrants: Sequence[T], seed: Seed) -> list[dict[T, T]]:
    """A list for each of the M ``entrants``: source -> the system it is shown with, in the order of the list.

    Of source j, in the seed's order, list g shows system (j + g) mod M: over the lists each source is seen with each
    system once, and in a list the systems are seen equally often, up to one. ValueError without entrants.
    """
    if not entrants:
        raise ValueError("a list needs a system")
    order, systems = shuffled(sources, f"{seed}:sources"), shuffled(entrants, f"{seed}:systems")
    m = len(systems)
    return [{source: systems[(j + g) % m] for j, source in enumerate(order)} for g in range(m)]
