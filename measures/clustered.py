"""Confidence intervals of figures whose items are clustered: units of one review share texts and difficulty.

All figures use one rule (docs/decisions/0024-clustered-intervals.md):

* The standard error is the **jackknife that leaves out one review at a time** (Cameron and Miller 2015, *A
  practitioner's guide to cluster-robust inference*, Journal of Human Resources 50: CV3).
* A figure with two bounds has **Wilson's score interval** (1927) on the effective number of items. This is the number
  of independent items that would have the same standard error (Franco, Little, Louis and Slud 2019, *Comparative study
  of confidence intervals for proportions in complex sample surveys*, Journal of Survey Statistics and Methodology 7). A
  figure with only a lower bound has a t interval of its logarithm. Any other figure has a t interval.
* The quantile is Student's t with Satterthwaite's **degrees of freedom** (Bell and McCaffrey 2002, *Bias reduction in
  standard errors for linear regression with multi-stage samples*, Survey Methodology 28).
* An interval is **withheld** if few effective items are on the rarer side of a figure. A figure that is printed has
  more of these items than average. Therefore the limit on this side inverts the score test *conditional on the interval
  being printed* (Cohen and Sackrowitz 1989, *Two stage conditionally unbiased estimators*, Statistics and Probability
  Letters 8; Fithian, Sun and Taylor 2014, *Optimal inference after model selection*).
* An interval is also withheld if its simulated coverage is outside .93 to .975 (`python -m benchmarks coverage`).

`share_interval`, `wilson_over_clusters` and `alike=True` belong to the former rule (`measures.former`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special  # type: ignore[import-untyped]

FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]

FEW = 30
"""With fewer clusters than this, the number of clusters is shown next to the interval."""

LEAST = 3
"""Minimum number of clusters for an interval under the former rule."""

ENOUGH_REVIEWS, ENOUGH_ITEMS = 20, 40
"""Minimum numbers of reviews and of items for an interval."""

ENOUGH_OF_MEANS = 40
"""Minimum number of reviews for the mean of bounded values. It is higher than for shares, because means can be skewed.
"""

ENOUGH_OF_LENGTHS, ENOUGH_OF_SKEWED, LEAST_SKEWED = 100, 200, 1.5
"""Minimum numbers of reviews for the mean of values without an upper bound. The second number applies if the upper
quartile over reviews exceeds the median by more than the factor `LEAST_SKEWED`.
"""

ENOUGH_RARE, ENOUGH_RARE_ITEMS = 12, 20
"""Minimum numbers of reviews and items that have a rating other than the commonest value, for a kappa."""

ENOUGH_EFFECTIVE, ENOUGH_EFFECTIVE_OF_KAPPA = 6.0, 3.0
"""Minimum number of effective items on either side of a figure with two bounds; the second number is for kappas."""

ENOUGH_DIFFERING = 8.0
"""Minimum effective number of reviews that contribute to a difference."""

MOST_SKEWED = 3.5
"""Maximum ratio of the upper quartile to the median of the reviews' distances from the nearer bound. Quartiles are used
because they do not depend on the few extreme reviews that dominate a skewed mean.
"""

FAR = 3.0
"""Widening of the limit of a mean away from its nearer bound, divided by the effective items on the rarer side."""

JUMP = 0.75
"""Continuity correction of the conditional limit, in effective items."""

ALIKE_WITHIN = 0.05
"""Intraclass correlation assumed for the degrees of freedom. It has no effect if all reviews have the same size."""

TOO_FEW = "fewer than three reviews: no interval"
ALIKE = "all reviews alike: no interval"
METHOD = (
    "jackknife over reviews; Wilson's interval for figures with two bounds, near a bound given that it is printed;"
    " else t (Satterthwaite), of the logarithm where it has one"
)
NEAR_BOUND, SKEWED, FEW_DIFFER = "value close to its limit", "skewed values", "few reviews differ"
RARE, FEW_REVIEWS, FEW_UNITS = "rare category", "few reviews", "few units"

Bounds = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Estimate:
    """Standard error and confidence interval over reviews. ``ci`` is None exactly when ``reason`` is set."""

    se: float | None
    ci: Interval | None
    reason: str = ""


def withheld(reasons: Sequence[str], reviews: int) -> str:
    """Return the text that is printed instead of an interval."""
    return f"no reliable interval ({', '.join(reasons)}; n = {reviews} {'review' if reviews == 1 else 'reviews'})"


def estimate(
    value: float,
    without: FloatArray,
    sizes: FloatArray,
    bounds: Bounds,
    *,
    level: float = 0.95,
    rare: tuple[int, int] | None = None,
    df: float | None = None,
    mean: bool = False,
) -> Estimate:
    """Return the interval of ``value`` from its leave-one-out values.

    ``without`` (g,) holds the value without each of the g reviews, ``sizes`` (g,) their numbers of items. ``rare``
    holds the numbers of reviews and items with a value other than the commonest, for figures that depend on it. ``df``
    holds the degrees of freedom for ``sizes``, if the caller has computed them. ``mean`` is true for means of values
    other than hits; bounds on both sides of 0 make it a mean of differences.
    """
    g = len(sizes)
    bounded = mean and bounds[0] >= 0
    reasons = []
    if rare is not None and (rare[0] < ENOUGH_RARE or rare[1] < ENOUGH_RARE_ITEMS):
        reasons.append(RARE)
    if g < (ENOUGH_OF_MEANS if bounded else ENOUGH_REVIEWS):
        reasons.append(FEW_REVIEWS)
    elif sizes.sum() < ENOUGH_ITEMS:
        reasons.append(FEW_UNITS)
    if g < 2 or np.isnan(without).any():
        return Estimate(None, None, withheld(reasons or ["undefined without one of the reviews"], g))
    se = jackknife_se(value, without)
    if se <= 1e-12 * max(1.0, abs(value)):
        return Estimate(None, None, withheld([*reasons, "no variation between reviews"], g))
    if not reasons and (why := _unfit(value, se, without, sizes, bounds, rare is not None, mean)):
        reasons.append(why)
    if reasons:
        return Estimate(se, None, withheld(reasons, g))
    t = t_quantile(level, degrees_of_freedom(sizes) if df is None else df)
    least = ENOUGH_EFFECTIVE if rare is None else ENOUGH_EFFECTIVE_OF_KAPPA
    ci = _interval(value, se, t, bounds, least, FAR if bounded else 0.0)
    return Estimate(se, ci) if ci and ci[0] < ci[1] else Estimate(se, None, withheld([NEAR_BOUND], g))


def planned_interval(
    value: float,
    effective: float,
    n: float,
    reviews: float,
    bounds: Bounds,
    *,
    level: float = 0.95,
    kappa: bool = False,
) -> Interval | None:
    """Return the interval that a study of ``n`` items in ``reviews`` reviews of equal size would print.

    ``effective`` is the number of effective items. ``kappa`` is true for figures that depend on the rarer values; their
    counts are unknown before the study, so only the effective items on the rarer side are checked. Return None if the
    interval would be withheld.
    """
    low, high = bounds
    share = (value - low) / (high - low)
    least = ENOUGH_EFFECTIVE_OF_KAPPA if kappa else ENOUGH_EFFECTIVE
    if reviews < ENOUGH_REVIEWS or n < ENOUGH_ITEMS or not 0 < share < 1 or effective * min(share, 1 - share) < least:
        return None
    se = math.sqrt(share * (1 - share) / effective) * (high - low)
    ci = _interval(value, se, t_quantile(level, reviews - 1), bounds, least, 0.0)
    return ci if ci and ci[0] < ci[1] else None


def _unfit(
    value: float, se: float, without: FloatArray, sizes: FloatArray, bounds: Bounds, kappa: bool, mean: bool
) -> str:
    """Return the reason why the sample is insufficient for the tails of the figure, or ""."""
    low, high = bounds
    of_reviews = value + (sizes.sum() - sizes) / sizes * (value - without)
    if math.isinf(low) or (mean and low < 0):
        apart = np.abs(of_reviews - np.median(of_reviews))
        return FEW_DIFFER if math.fsum(apart) ** 2 < ENOUGH_DIFFERING * math.fsum(apart**2) else ""
    if math.isinf(high):
        if len(sizes) < ENOUGH_OF_LENGTHS:
            return FEW_REVIEWS
        return SKEWED if len(sizes) < ENOUGH_OF_SKEWED and _skew(of_reviews - low) > LEAST_SKEWED else ""
    share = (value - low) / (high - low)
    effective = share * (1 - share) / (se / (high - low)) ** 2
    if kappa and effective * share < ENOUGH_EFFECTIVE_OF_KAPPA:
        return RARE
    if effective * min(share, 1 - share) < (ENOUGH_EFFECTIVE_OF_KAPPA if kappa else ENOUGH_EFFECTIVE):
        return NEAR_BOUND
    if mean:
        apart = high - of_reviews if share > 0.5 else of_reviews - low
        return SKEWED if _skew(apart[apart > 1e-9 * (high - low)]) > MOST_SKEWED else ""
    return ""


def _skew(apart: FloatArray) -> float:
    """Return the ratio of the upper quartile to the median."""
    middle, upper = np.quantile(apart, (0.5, 0.75))
    return float(upper / middle) if middle > 0 else math.inf


def _interval(value: float, se: float, t: float, bounds: Bounds, least: float, far: float) -> Interval | None:
    """Return the interval. ``least`` is the minimum number of effective items on the rarer side for printing."""
    low, high = bounds
    if math.isinf(low):
        return value - t * se, value + t * se
    if math.isinf(high):
        factor = math.exp(min(t * se / (value - low), 50)) if value > low else math.inf
        return (low + (value - low) / factor, low + (value - low) * factor) if math.isfinite(factor) else None
    share, error = (value - low) / (high - low), se / (high - low)
    if not 1e-12 < share < 1 - 1e-12:
        return None
    turned = share > 0.5
    rarer = min(share, 1 - share)
    effective = rarer * (1 - rarer) / error**2
    near, away = _wilson(rarer, effective, t * t)
    if effective * rarer < least + _CLOSE:
        near = min(near, _given_printed(rarer, effective, least, t))
    away = rarer + (away - rarer) * (1 + far / (effective * rarer))
    start, end = (1 - away, 1 - near) if turned else (near, away)
    return max(low + (high - low) * start, low), min(low + (high - low) * end, high)


_CLOSE = 12.0
"""Beyond this many effective items above the printing threshold, the condition has no effect."""


def _given_printed(share: float, n: float, least: float, t: float) -> float:
    """Return the lower limit of ``share`` of ``n`` effective items, given that at least ``least`` of them are hits.

    Let X be the number of hits. The limit is the share m for which P(X >= n share | X >= least) equals the error that
    the upper limit leaves. The upper limit misses m with half the error, less the probability of not printing.
    """
    half = float(special.ndtr(-t))
    start, end = 1e-12, share
    for _ in range(50):
        m = (start + end) / 2
        error = math.sqrt(m * (1 - m) / n)
        unprinted = (least / n - m) / error
        printed = float(special.log_ndtr(-unprinted))
        above = max(0.0, half - float(special.ndtr(unprinted))) / math.exp(max(printed, -700.0))
        tail = float(special.log_ndtr(-(share - JUMP / n - m) / error)) - printed
        start, end = (m, end) if tail < math.log(2 * half - above) else (start, m)
    return start


def _wilson(share: float, n: float, z2: float) -> Interval:
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = math.sqrt(z2 * share * (1 - share) / n + (z2 / n) ** 2 / 4) / (1 + z2 / n)
    return middle - half, middle + half


def degrees_of_freedom(sizes: Sequence[float] | FloatArray, *, alike: bool = False) -> float:
    """Return the degrees of freedom of the jackknife variance of a mean, from 1 to g - 1.

    ``sizes`` (g,) holds the numbers of items of the clusters, g >= 2. The variance is a quadratic form in the clusters'
    totals, sum a_g u_g^2 with a = 1 / (1 - h)^2, u = e - h sum(e) and h the clusters' shares of the items. With
    Var(e_g) = w_g its expectation is tr M, half its variance tr M^2, and the degrees of freedom (tr M)^2 / tr M^2, M =
    sqrt(a_g a_k) Cov(u_g, u_k). The working variance w is that of items with the intraclass correlation `ALIKE_WITHIN`.
    If ``alike`` is true, all items of a cluster are identical and w is the square of the size.
    """
    m = np.sort(np.asarray(sizes, dtype=np.float64))  # sums of floats must not depend on the clusters' order
    h = m / m.sum()
    a, w = 1 / (1 - h) ** 2, h**2 if alike else h * (1 + (m - 1) * ALIKE_WITHIN)
    total = float(w.sum())
    variance = w - 2 * w * h + h**2 * total
    ww, wh, hh = (float((a * one * other).sum()) for one, other in ((w, w), (w, h), (h, h)))
    # Cov(u_g, u_k) = -(w_g h_k + h_g w_k - h_g h_k total) for g != k
    crossed = 2 * ww * hh + 2 * wh**2 + (hh * total) ** 2 - 4 * total * wh * hh
    own = float(((a * (2 * w * h - h**2 * total)) ** 2).sum())
    df = float((a * variance).sum()) ** 2 / (crossed - own + float(((a * variance) ** 2).sum()))
    return min(max(df, 1.0), len(m) - 1.0)


def jackknife_se(value: float, without: FloatArray) -> float:
    """Return the jackknife standard error from the values ``without`` each of the g clusters (g,)."""
    g = len(without)
    return math.sqrt((g - 1) / g * math.fsum((without - value) ** 2))


def t_quantile(level: float, df: float) -> float:
    """Return the two-sided t quantile, for example 2.2010 for level 0.95 and df 11. ``df`` need not be an integer."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.stdtrit(df, 0.5 + level / 2))


def share_interval(share: float, se: float, n: int, clusters: int, level: float = 0.95) -> Interval:
    """Return Korn and Graubard's interval, within 0..1, of a ``share`` of ``n`` items in at least two clusters."""
    effective, tail = effective_items(share, se, n, clusters, level), (1 - level) / 2
    hits = share * effective
    misses = effective - hits
    low = float(special.betaincinv(hits, misses + 1, tail)) if share > 1e-12 else 0.0
    high = float(special.betaincinv(hits + 1, misses, 1 - tail)) if share < 1 - 1e-12 else 1.0
    return low, high


def wilson_over_clusters(share: float, se: float, n: int, clusters: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval (1927) on the effective number of items. The arguments are those of `share_interval`."""
    effective, z2 = effective_items(share, se, n, clusters, level), float(special.ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * effective)) / (1 + z2 / effective)
    half = math.sqrt(z2 * share * (1 - share) / effective + (z2 / effective) ** 2 / 4) / (1 + z2 / effective)
    return (max(0.0, middle - half) if share > 1e-12 else 0.0), (min(1.0, middle + half) if share < 1 - 1e-12 else 1.0)


def effective_items(share: float, se: float, n: int, clusters: int, level: float) -> float:
    """Return the number of independent items that are as informative as ``n`` clustered items (Korn and Graubard).

    The number is p (1 - p) / se^2, at most n, times the square of t(n - 1) / t(clusters - 1). If the share is 0 or 1,
    the similarity within clusters cannot be estimated, and each cluster counts as one item.
    """
    if not 0 <= share <= 1 or n < clusters or clusters < 2:
        raise ValueError("a share from 0 to 1 of items of two clusters or more")
    spread = share * (1 - share)
    if spread < 1e-12:
        return float(clusters)
    worth = min(spread / se**2, n) if se > 0 else float(n)
    return float(worth * (t_quantile(level, n - 1) / t_quantile(level, clusters - 1)) ** 2)
