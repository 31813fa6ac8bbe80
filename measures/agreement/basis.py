"""Quantities that all coefficients share, and the `Coefficient` type with its intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .. import former
from ..clustered import Interval
from ..clustered import t_quantile as quantile
from .ratings import FloatArray, Ratings
from .weights import Weights, is_identity, weight_matrix

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
    """The interval over reviews. ``undefined`` is the reason if there is none (``ci_reason`` in JSON)."""

    se: float | None
    ci: Interval | None
    undefined: str | None = None

    def as_json(self) -> dict[str, object]:
        """Return the object in the format of the former rule's reports."""
        return {"se": self.se, "ci": list(self.ci) if self.ci else None, "undefined": self.undefined}


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One coefficient.

    ``value`` is None if and only if ``undefined`` gives the reason. ``se`` and ``ci`` assume independent items. They
    are None for fewer than two items. ``reviews`` is the reported interval; it accounts for the correlation of items
    within a review. ``n_items``, ``n_raters`` and ``n_ratings`` are the counts that the value is based on. ``pa`` and
    ``pe`` are observed and expected agreement. ``flags`` are caveats about the interval.
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
        """Return the coefficient's object in the agreement report. Only for defined coefficients."""
        result: dict[str, object] = {"value": self.value, "method": self.method}
        if former.is_on():
            result["bootstrap_ci"] = list(self.bootstrap_ci) if self.bootstrap_ci else None
        return result | self.interval_json()

    def interval_json(self) -> dict[str, object]:
        """Return standard errors and interval. ``se`` assumes independent items; ``ci_se`` and ``ci`` do not."""
        if former.is_on():
            reviews = self.reviews.as_json() if self.reviews else None
            return {"se": self.se, "ci": list(self.ci) if self.ci else None, "reviews": reviews}
        over = self.reviews or OverReviews(None, None)
        return {"se": self.se, "ci_se": over.se, "ci": list(over.ci) if over.ci else None, "ci_reason": over.undefined}


@lru_cache(maxsize=256)
def t_quantile(level: float, df: float) -> float:
    """Cached version of `measures.clustered.t_quantile`."""
    return quantile(level, df)


def t_interval(value: float, se: float, n: int, level: float, least: float = -math.inf) -> Interval:
    """Return value -+ t(n - 1) * se. Raise `ValueError` if n < 2.

    The upper bound is clipped at 1 as in irrCAC, and the lower bound at ``least``.
    """
    if n < 2:
        raise ValueError("an interval needs at least two items")
    half = t_quantile(level, n - 1) * se
    return max(least, value - half), min(1.0, value + half)


def interval_words(words: str) -> str:
    """Return the method's description, with the interval over items if the former rule is on."""
    return f"{words}, t interval with n-1 df" if former.is_on() else words


def width_flags(se: float, pa: float | None, alike: bool = False) -> tuple[str, ...]:
    """Return the flag that explains an interval of zero width, if it has none.

    ``alike`` states whether all items have the same ratings.
    """
    if se > 1e-12:
        return ()
    if pa is not None and math.isclose(pa, 1, abs_tol=1e-12):
        return (PERFECT,)
    if pa is not None and math.isclose(pa, 0, abs_tol=1e-12):
        return (TOTAL,)
    return (ALL_ALIKE if alike else NO_WIDTH,)


TINY = 1e-12
"""Below this, 1 - pe counts as zero: all ratings are in one class."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Per-pattern quantities of one set of ratings under one weighting.

    There are s distinct patterns and q values. ``counts`` (s, q) counts the ratings per value. ``times`` (s,) is the
    multiplicity, and ``size`` (s,) the ratings per item. ``pairable`` (s,) is 1.0 for items with at least two ratings.
    ``agreement`` (s,) is the weighted share of agreeing pairs of an item, 0 if not pairable. ``share`` (s, q) is counts
    / size. ``pi`` (q,) is its mean over all items. This is Gwet's form, in which items with one rating still count
    (Gwet 2014, ch. 2.4 and 5).
    """

    ratings: Ratings
    weights: FloatArray
    identity: bool
    weights_name: str
    level: float
    counts: FloatArray
    times: FloatArray
    size: FloatArray
    pairable: FloatArray
    agreement: FloatArray
    share: FloatArray
    pi: FloatArray
    n: int
    n_pairable: int
    pa: float

    @property
    def q(self) -> int:
        return len(self.weights)


def prepare(ratings: Ratings, weights: Weights = "identity", level: float = 0.95) -> Basis:
    """Return the shared quantities of ``ratings`` under ``weights``, a name or a q x q matrix."""
    matrix = weight_matrix(weights, ratings.numeric)
    identity = weights == "identity" if isinstance(weights, str) else is_identity(matrix)
    table = ratings.table
    counts, times = table.counts, table.multiplicity
    size = counts.sum(axis=1)
    pairable = (size >= 2).astype(np.float64)
    agreement = item_agreement(counts, size, matrix, identity)
    share = counts / size[:, None]
    n = int(times.sum())
    n_pairable = int(times @ pairable)
    name = weights if isinstance(weights, str) else "custom"
    return Basis(
        ratings,
        matrix,
        identity,
        name,
        level,
        counts,
        times,
        size,
        pairable,
        agreement,
        share,
        times @ share / n if n else np.zeros(len(matrix)),
        n,
        n_pairable,
        float(times @ agreement / n_pairable) if n_pairable else 0.0,
    )


def item_agreement(counts: FloatArray, size: FloatArray, weights: FloatArray, identity: bool) -> FloatArray:
    """Return the weighted share of agreeing pairs among an item's ratings, shape (s,). It is 0 if there is no pair."""
    weighted_counts = counts if identity else counts @ weights
    agreeing = (counts * (weighted_counts - 1)).sum(axis=1)
    shares: FloatArray = np.divide(agreeing, size * (size - 1), out=np.zeros_like(size), where=size >= 2)
    return shares


def obstacle(basis: Basis) -> str | None:
    """Return why no chance-corrected coefficient exists for these ratings, or None."""
    if basis.n_pairable == 0:
        return NOT_ENOUGH_RATINGS
    return ONE_VALUE if basis.q < 2 else None


def undefined(basis: Basis, name: str, method: str, why: str, n: int | None = None, flag: str = "") -> Coefficient:
    ratings = basis.ratings
    items = basis.n if n is None else n
    flags = (flag,) if flag else ()
    return Coefficient(
        name, None, None, None, method, items, ratings.n_raters, ratings.n_ratings, undefined=why, flags=flags
    )


def corrected(
    basis: Basis, name: str, method: str, pe: float, excess: FloatArray | None = None, flags: tuple[str, ...] = ()
) -> Coefficient:
    """Return (pa - pe) / (1 - pe) with Gwet's linearised variance (Gwet 2008; 2014, eq. 5.8 ff.).

    ``excess`` (s,) is the linear term of pe for each pattern. Its weighted mean over items is 0. The variance is the
    sum of squared influences / (n (n - 1)) over all n items.
    """
    rest = 1 - pe
    value = (basis.pa - pe) / rest
    influence = basis.pairable * (basis.agreement - pe) * (basis.n / basis.n_pairable / rest) - value
    if excess is not None:
        influence = influence - excess * ((1 - value) / rest)
    return estimate(basis, name, method, value, influence, basis.pa, pe, flags)


def estimate(
    basis: Basis,
    name: str,
    method: str,
    value: float,
    influence: FloatArray,
    pa: float | None,
    pe: float | None,
    flags: tuple[str, ...] = (),
    *,
    n_used: int | None = None,
    n_ratings: int | None = None,
    least: float = -math.inf,
) -> Coefficient:
    """Return a coefficient from its value and the influence (s,) of each pattern.

    ``n_used`` items contribute to the variance. By default these are all n items. The degrees of freedom are those of
    all n items, as in R irrCAC. ``least`` is the lower limit of the value.
    """
    n, raters = (basis.n if n_used is None else n_used), basis.ratings.n_raters
    ratings = basis.ratings.n_ratings if n_ratings is None else n_ratings
    if n < 2:
        return Coefficient(name, value, None, None, method, n, raters, ratings, flags=(*flags, ONE_ITEM), pa=pa, pe=pe)
    se = math.sqrt(float((basis.times * influence) @ influence) / n / (n - 1))
    if se <= TINY:
        se = 0.0
    ci = t_interval(value, se, basis.n, basis.level, least)
    flags = flags + width_flags(se, basis.pa, alike=len(basis.times) == 1)
    return Coefficient(name, value, se, ci, method, n, raters, ratings, flags=flags, pa=pa, pe=pe)
