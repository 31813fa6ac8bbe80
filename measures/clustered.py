"""Intervals of figures of items that come in clusters: a review's propositions share its texts and its difficulty.

Three rules, chosen by their simulated coverage (`python -m benchmarks coverage`, docs/measures.md):

* the variance is that of the **jackknife that leaves out one cluster at a time** (Cameron and Miller 2015, *A
  practitioner's guide to cluster-robust inference*, Journal of Human Resources 50: CV3);
* the **degrees of freedom** of its t quantile are Satterthwaite's (Bell and McCaffrey 2002, *Bias reduction in standard
  errors for linear regression with multi-stage samples*, Survey Methodology 28), as if the items of a cluster were
  wholly alike: clusters - 1 where all are of one size, fewer where a few clusters hold most of the items;
* a **share** has Clopper and Pearson's interval on the effective number of items (Korn and Graubard 1998, *Confidence
  intervals for proportions with small expected number of positive counts*, Survey Methodology 24), which has a width
  at 0 and at 1 too; or Wilson's on the same number (Franco, Little, Louis and Slud 2019, *Comparative study of
  confidence intervals for proportions in complex sample surveys*, Journal of Survey Statistics and Methodology 7),
  which holds no more than it says where items are few, and too little of rare events in clusters of uneven size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special  # type: ignore[import-untyped]

FloatArray = npt.NDArray[np.float64]
Interval = tuple[float, float]

FEW = 30
"""Below so many clusters whatever shows an interval says how many there are."""

LEAST = 3
"""Below so many clusters there is no interval: the t quantile of one degree of freedom is 12.7."""

TOO_FEW = "fewer than three reviews: no interval"
ALIKE = "all reviews alike: no interval"


def degrees_of_freedom(sizes: Sequence[float] | FloatArray) -> float:
    """Of the jackknife's variance of a mean over clusters of ``sizes`` (g,), g >= 2: from 1 to g - 1.

    The variance is a quadratic form in the clusters' totals, sum a_g u_g^2 with a = 1 / (1 - h)^2, u = e - h sum(e)
    and h the clusters' shares of the items. With Var(e_g) = w_g, the square of the size, its expectation is tr M, half
    its variance tr M^2, and the degrees of freedom (tr M)^2 / tr M^2, M = sqrt(a_g a_k) Cov(u_g, u_k).
    """
    m = np.sort(np.asarray(sizes, dtype=np.float64))  # sums of floats must not depend on the clusters' order
    h = m / m.sum()
    a, w = 1 / (1 - h) ** 2, h**2
    total = float(w.sum())
    variance = w - 2 * w * h + h**2 * total
    ww, wh, hh = (float((a * one * other).sum()) for one, other in ((w, w), (w, h), (h, h)))
    # Cov(u_g, u_k) = -(w_g h_k + h_g w_k - h_g h_k total) where g is not k
    crossed = 2 * ww * hh + 2 * wh**2 + (hh * total) ** 2 - 4 * total * wh * hh
    own = float(((a * (2 * w * h - h**2 * total)) ** 2).sum())
    found = float((a * variance).sum()) ** 2 / (crossed - own + float(((a * variance) ** 2).sum()))
    return min(max(found, 1.0), len(m) - 1.0)


def jackknife_se(value: float, without: FloatArray) -> float:
    """The standard error of ``value`` from what it comes to ``without`` each of g clusters (g,)."""
    g = len(without)
    return math.sqrt((g - 1) / g * math.fsum((without - value) ** 2))


def t_quantile(level: float, df: float) -> float:
    """The two-sided t quantile: 2.2010 for level 0.95 and 11 degrees of freedom, which need not be whole."""
    if not 0 < level < 1:
        raise ValueError("the confidence level must lie between 0 and 1")
    return float(special.stdtrit(df, 0.5 + level / 2))


def share_interval(share: float, se: float, n: int, clusters: int, level: float = 0.95) -> Interval:
    """Korn and Graubard's interval of a ``share`` of ``n`` items of so many clusters (two at least); inside 0..1."""
    effective, tail = effective_items(share, se, n, clusters, level), (1 - level) / 2
    hits = share * effective
    misses = effective - hits
    low = float(special.betaincinv(hits, misses + 1, tail)) if share > 1e-12 else 0.0
    high = float(special.betaincinv(hits + 1, misses, 1 - tail)) if share < 1 - 1e-12 else 1.0
    return low, high


def wilson_over_clusters(share: float, se: float, n: int, clusters: int, level: float = 0.95) -> Interval:
    """Wilson's interval (1927) on the effective number of items; what is given as of `share_interval`."""
    effective, z2 = effective_items(share, se, n, clusters, level), float(special.ndtri(0.5 + level / 2)) ** 2
    middle = (share + z2 / (2 * effective)) / (1 + z2 / effective)
    half = math.sqrt(z2 * share * (1 - share) / effective + (z2 / effective) ** 2 / 4) / (1 + z2 / effective)
    return (max(0.0, middle - half) if share > 1e-12 else 0.0), (min(1.0, middle + half) if share < 1 - 1e-12 else 1.0)


def effective_items(share: float, se: float, n: int, clusters: int, level: float) -> float:
    """How many independent items ``n`` of so many clusters tell as much as (Korn and Graubard).

    They count for p (1 - p) / se^2, never for more than n, times the square of t(n - 1) / t(clusters - 1). Where the
    share is 0 or 1 nothing tells how alike the items of a cluster are: each cluster then counts for one item.
    """
    if not 0 <= share <= 1 or n < clusters or clusters < 2:
        raise ValueError("a share from 0 to 1 of items of two clusters or more")
    spread = share * (1 - share)
    if spread < 1e-12:
        return float(clusters)
    worth = min(spread / se**2, n) if se > 0 else float(n)
    return float(worth * (t_quantile(level, n - 1) / t_quantile(level, clusters - 1)) ** 2)
