"""Longest common subsequences, a row of the table as one integer: 60 and more cells at a time.

Source: H. Hyyro, Bit-parallel LCS-length computation revisited (AWOCA 2004). Bit j of row i is 0 where the table grows
from column j to j + 1, so that a cell is the number of zeros before it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

Places = Mapping[Hashable, int]


def places_of(tokens: Sequence[Hashable]) -> Places:
    """For each token an integer with a bit set where it stands."""
    places: dict[Hashable, int] = {}
    for i, token in enumerate(tokens):
        places[token] = places.get(token, 0) | 1 << i
    return places


def lcs_length(a: Sequence[Hashable], b: Sequence[Hashable]) -> int:
    """Length of a longest common subsequence; O(len(a) len(b) / word size)."""
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    places = places_of(short)
    row = full = (1 << len(short)) - 1
    for row in _rows((places[token] for token in long if token in places), full):  # noqa: B007
        pass
    return len(short) - row.bit_count()


def lcs_indices(a: Sequence[Hashable], b: Sequence[Hashable], places: Places | None = None) -> list[int]:
    """Indices in ``a`` of one longest common subsequence, descending: the one that rouge-score's backtracking reads.

    From the last cell: equal tokens are taken; else to the left where that cell is larger, else up. ``places`` may
    hand in ``places_of(b)``. Rows of tokens that ``b`` lacks equal the row above, so the walk always leaves them
    upwards: they are left out.
    """
    places = places_of(b) if places is None else places
    kept = [i for i, token in enumerate(a) if token in places]
    if not kept:
        return []
    full = (1 << len(b)) - 1
    rows = [full, *_rows((places[a[i]] for i in kept), full)]
    found = []
    i, j = len(kept), len(b)
    below = (1 << j) - 1
    while i and j:
        # zeros among the first j bits of each row: the cells t[i][j], t[i - 1][j] and t[i][j - 1]
        if places[a[kept[i - 1]]] >> (j - 1) & 1:
            found.append(kept[i - 1])
            i, j, below = i - 1, j - 1, below >> 1
            continue
        here = j - (rows[i] & below).bit_count()
        if not here:
            break
        up = j - (rows[i - 1] & below).bit_count()
        left = here - 1 + (rows[i] >> (j - 1) & 1)
        if left > up:
            j, below = j - 1, below >> 1
        else:
            i -= 1
    return found


def _rows(matches: Iterator[int], full: int) -> Iterator[int]:
    row = full
    for match in matches:
        common = row & match
        row = (row + common | row - common) & full
        yield row
