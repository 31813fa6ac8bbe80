"""How many items a reliability study needs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from scipy import special  # type: ignore[import-untyped]


@lru_cache(maxsize=64)
def z_quantile(level: float) -> float:
    """The two-sided normal quantile: 1.95996 for level 0.95."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.ndtri(0.5 + level / 2))


def items_needed(se: float, n: int, half_width: float, level: float = 0.95) -> int:
    """Items for an interval of value -+ ``half_width``, from a pilot of ``n`` items with standard error ``se``.

    n' = (z SE_1 / half_width)^2 with SE_1 = se sqrt(n), the standard error one item would have; at least 2.
    """
    if n < 2 or not se >= 0 or not half_width > 0:
        raise ValueError("planning needs a pilot of two items or more, a standard error, and a half width above 0")
    wanted = (z_quantile(level) * se * math.sqrt(n) / half_width) ** 2
    return max(2, math.ceil(wanted - 1e-9))


def half_width_curve(se: float, n: int, sizes: Iterable[int], level: float = 0.95) -> tuple[tuple[int, float], ...]:
    """(items, half width of the interval) for each of ``sizes``, from a pilot of ``n`` items."""
    if n < 2 or not se >= 0:
        raise ValueError("planning needs a pilot of two items or more and a standard error")
    one = z_quantile(level) * se * math.sqrt(n)
    return tuple((size, one / math.sqrt(size)) for size in sizes if size > 0)
