"""What a coefficient says about itself: value, standard error, interval, method, counts, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from measures.clustered import Interval
from measures.clustered import t_quantile as quantile

NO_VARIATION = "no variation"
NOT_ENOUGH_RATINGS = "not enough ratings"
ONE_VALUE = "a scale of one value"

PERFECT = "perfect agreement: the interval has no width"
TOTAL = "total disagreement: the interval has no width"
ALL_ALIKE = "all items alike: the interval has no width"
NO_WIDTH = "the items do not differ in what it rests on: the interval has no width"
ONE_ITEM = "one item: no interval"


@dataclass(frozen=True, slots=True)
class OverReviews:
    """The interval over reviews; without one ``undefined`` says why."""

    se: float | None
    ci: Interval | None
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        return {"se": self.se, "ci": list(self.ci) if self.ci else None, "undefined": self.undefined}


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient.

    ``value`` is None exactly when ``undefined`` says why. ``se`` and ``ci`` take items for independent; they are None
    where there is no interval (fewer than two items). ``reviews`` is the interval that does not: it is there where
    some items are known to belong to one review. ``n_items``, ``n_raters`` and ``n_ratings`` are the counts it was
    computed on; ``pa`` and ``pe`` observed and expected agreement. ``flags`` are what a reader must know before reading
    the interval.
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
    reviews: OverReviews | None = None

    def with_bootstrap(self, ci: Interval | None) -> Coefficient:
        return replace(self, bootstrap_ci=ci)

    def with_reviews(self, reviews: OverReviews | None) -> Coefficient:
        return replace(self, reviews=reviews)

    def as_json(self) -> dict[str, object]:
        """The object of one coefficient in the agreement report (only for a defined one)."""
        return {
            "value": self.value,
            "se": self.se,
            "ci": list(self.ci) if self.ci else None,
            "method": self.method,
            "bootstrap_ci": list(self.bootstrap_ci) if self.bootstrap_ci else None,
            "reviews": self.reviews.as_json() if self.reviews else None,
        }


@lru_cache(maxsize=256)
def t_quantile(level: float, df: float) -> float:
    """`measures.clustered.t_quantile`, remembered."""
    return quantile(level, df)


def t_interval(value: float, se: float, n: int, level: float, least: float = -math.inf) -> Interval:
    """value -+ t(n - 1) * se, the upper bound clipped at 1 as in irrCAC, the lower at ``least``; needs n >= 2."""
    if n < 2:
        raise ValueError("an interval needs at least two items")
    half = t_quantile(level, n - 1) * se
    return max(least, value - half), min(1.0, value + half)


def width_flags(se: float, pa: float | None, alike: bool = False) -> tuple[str, ...]:
    """Why an interval has no width, if it has none. ``alike``: whether all items show the same ratings."""
    if se > 1e-12:
        return ()
    if pa is not None and math.isclose(pa, 1, abs_tol=1e-12):
        return (PERFECT,)
    if pa is not None and math.isclose(pa, 0, abs_tol=1e-12):
        return (TOTAL,)
    return (ALL_ALIKE if alike else NO_WIDTH,)
