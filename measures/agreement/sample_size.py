"""How many items a reliability study needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from scipy import special  # type: ignore[import-untyped]

from measures.clustered import t_quantile


@lru_cache(maxsize=64)
def z_quantile(level: float) -> float:
    """The two-sided normal quantile: 1.95996 for level 0.95."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.ndtri(0.5 + level / 2))


def items_needed(se: float, n: int, half_width: float, level: float = 0.95, clusters: int | None = None) -> int:
    """The fewest items for an interval of value -+ ``half_width``, from a pilot of ``n`` items and its standard error.

    The half width of n' items is t SE_1 / sqrt(n') with SE_1 = se sqrt(n), the standard error one item would have; at
    least 2. ``se`` may be one over ``clusters`` of the pilot: then as many items a cluster are planned for as it has.
    """
    if not half_width > 0:
        raise ValueError("planning needs a half width above 0")
    most = 2
    while _half_width(se, n, most, level, clusters) > half_width + 1e-9:
        most *= 2
    low, high = max(most // 2, 1), most  # too few (or 1), and enough
    while high - low > 1:
        middle = (low + high) // 2
        enough = _half_width(se, n, middle, level, clusters) <= half_width + 1e-9
        low, high = (low, middle) if enough else (middle, high)
    return high


def half_width_curve(
    se: float, n: int, sizes: Iterable[int], level: float = 0.95, clusters: int | None = None
) -> tuple[tuple[int, float], ...]:
    """(items, half width of the interval) for each of ``sizes`` of two or more, as in `items_needed`."""
    return tuple((size, _half_width(se, n, size, level, clusters)) for size in sizes if size > 1)


def _half_width(se: float, n: int, size: int, level: float, clusters: int | None) -> float:
    if n < 2 or not se >= 0:
        raise ValueError("planning needs a pilot of two items or more and a standard error")
    df = max(size * (clusters or n) / n - 1, 1.0)
    return t_quantile(level, df) * se * math.sqrt(n / size)
