"""What a coefficient says about itself: value, standard error, interval, method, counts, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from scipy import special  # type: ignore[import-untyped]

Interval = tuple[float, float]

NO_VARIATION = "no variation"
NOT_ENOUGH_RATINGS = "not enough ratings"
ONE_VALUE = "a scale of one value"

PERFECT = "perfect agreement: the interval has no width"
TOTAL = "total disagreement: the interval has no width"
NO_WIDTH = "all items alike: the interval has no width"
ONE_ITEM = "one item: no interval"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient.

    ``value`` is None exactly when ``undefined`` says why. ``se`` and ``ci`` are None where there is no interval
    (fewer than two items). ``n_items``, ``n_raters`` and ``n_ratings`` are the counts it was computed on; ``pa`` and
    ``pe`` observed and expected agreement. ``flags`` are what a reader must know before reading the interval.
    """

    name: str
    value: float | None
    se: float | None
    ci: Interval | None
    method: str
    n_items: int
    n_raters: int
    n_ratings: int
    undefined: str | None = None
    flags: tuple[str, ...] = ()
    pa: float | None = None
    pe: float | None = None
    bootstrap_ci: Interval | None = None

    def with_bootstrap(self, ci: Interval | None) -> Coefficient:
        return replace(self, bootstrap_ci=ci)

    def as_json(self) -> dict[str, object]:
        """The object of one coefficient in the agreement report (only for a defined one)."""
        return {
            "value": self.value,
            "se": self.se,
            "ci": list(self.ci) if self.ci else None,
            "method": self.method,
            "bootstrap_ci": list(self.bootstrap_ci) if self.bootstrap_ci else None,
        }


@lru_cache(maxsize=256)
def t_quantile(level: float, df: int) -> float:
    """The two-sided t quantile: 2.2010 for level 0.95 and 11 degrees of freedom."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.stdtrit(df, 0.5 + level / 2))


def t_interval(value: float, se: float, n: int, level: float) -> Interval:
    """value -+ t(n - 1) * se, the upper bound clipped at 1 as in irrCAC; needs n >= 2."""
    if n < 2:
        raise ValueError("an interval needs at least two items")
    half = t_quantile(level, n - 1) * se
    return value - half, min(1.0, value + half)


def width_flags(se: float, pa: float | None) -> tuple[str, ...]:
    """Why an interval has no width, if it has none."""
    if se > 1e-12:
        return ()
    if pa is not None and math.isclose(pa, 1, abs_tol=1e-12):
        return (PERFECT,)
    if pa is not None and math.isclose(pa, 0, abs_tol=1e-12):
        return (TOTAL,)
    return (NO_WIDTH,)
