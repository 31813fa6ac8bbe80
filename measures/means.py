"""Means of figures of many items, with an interval that knows that items of one cluster are alike.

Taking the summaries of one review for independent ones would make the interval too narrow, and so does the percentile
bootstrap over reviews where these are few: both measured (`python -m benchmarks coverage`). The rules are those of
`measures.clustered`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from measures.clustered import (
    ALIKE,
    FEW,
    LEAST,
    TOO_FEW,
    FloatArray,
    Interval,
    degrees_of_freedom,
    jackknife_se,
    share_interval,
    t_quantile,
)

METHOD = "jackknife over reviews, t interval with Satterthwaite's degrees of freedom"
SHARE_METHOD = "Korn and Graubard's interval of a share over reviews"
WILSON_METHOD = "Wilson's interval of a share on the effective number of items over reviews"
NO_ITEMS = "no item has this figure"

Bounds = tuple[float, float]
UNBOUNDED: Bounds = (-math.inf, math.inf)
FROM_0: Bounds = (0.0, math.inf)
FROM_0_TO_1: Bounds = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` items of ``clusters`` clusters. ``value`` is None exactly where ``undefined`` says why.

    ``sd`` (n - 1 in the denominator) is None below two items; where there is a value, ``ci`` is None exactly where
    ``no_interval`` says why: below `LEAST` clusters, and where the means of all clusters are one and the same.
    """

    value: float | None
    n: int
    clusters: int
    sd: float | None = None
    ci: Interval | None = None
    undefined: str = ""
    no_interval: str = ""

    @property
    def few(self) -> bool:
        """So few clusters that whatever shows the interval has to say so."""
        return self.value is not None and self.clusters < FEW

    def as_json(self) -> dict[str, object]:
        return {
            "value": self.value, "n": self.n, "clusters": self.clusters, "sd": self.sd,
            "ci": list(self.ci) if self.ci else None, "undefined": self.undefined, "no_interval": self.no_interval,
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Mean:
        """What `as_json` gave. A data base may have made whole floats integers."""
        value, sd, ci = (stored[name] for name in ("value", "sd", "ci"))
        return cls(
            None if value is None else float(value), stored["n"], stored["clusters"],
            None if sd is None else float(sd), (float(ci[0]), float(ci[1])) if ci else None, stored["undefined"],
            stored["no_interval"],
        )  # fmt: skip


def clustered_mean(
    values: Sequence[float], clusters: Sequence[int], *, bounds: Bounds = UNBOUNDED, level: float = 0.95
) -> Mean:
    """The mean of ``values`` (n,), whose items belong to ``clusters`` (n,), ids in any order.

    ``bounds``: what such a mean cannot leave, nor its interval. The same values and clusters give the same figures to
    the last bit, whatever the order of the items and whatever the clusters are called.
    """
    return clustered_means([values], clusters, bounds=[bounds], level=level)[0]


def clustered_means(
    figures: Sequence[Sequence[float]],
    clusters: Sequence[int],
    *,
    bounds: Sequence[Bounds] = (),
    level: float = 0.95,
) -> list[Mean]:
    """As `clustered_mean`, of figures (each (n,)) of the same items: what is the same for all is computed once."""
    if any(len(values) != len(clusters) for values in figures):
        raise ValueError("every value needs its cluster")
    if len(clusters) == 0:
        return [Mean(None, 0, 0, undefined=NO_ITEMS) for _ in figures]
    place = _places(clusters)
    sizes = np.bincount(place).astype(np.float64)
    df = degrees_of_freedom(sizes) if len(sizes) >= LEAST else math.nan
    limits = bounds or [UNBOUNDED] * len(figures)
    return [_mean(values, place, sizes, df, limit, level) for values, limit in zip(figures, limits, strict=True)]


def clustered_share(
    hits: Sequence[float],
    clusters: Sequence[int],
    *,
    level: float = 0.95,
    ratings: int | None = None,
    interval: Callable[[float, float, int, int, float], Interval] = share_interval,
) -> Mean:
    """The share of ``hits`` (n,) among items of ``clusters`` (n,), with an interval that has a width at 0 and 1 too.

    A hit is true or false, or the share of several raters who said so: that of the items is then their mean, and
    ``ratings`` is how many the items have together, since an item can tell more than a single yes or no. ``interval``:
    of a share, its standard error, items, clusters and level, as those of `measures.clustered`.
    """
    if len(hits) != len(clusters):
        raise ValueError("every hit needs its cluster")
    n = len(hits)
    if n == 0:
        return Mean(None, 0, 0, undefined=NO_ITEMS)
    place = _places(clusters)
    values, sizes = np.asarray(hits, dtype=np.float64), np.bincount(place).astype(np.float64)
    count = math.fsum(values)
    share = count / n
    found = {"value": share, "n": n, "clusters": len(sizes), "sd": _sd(values, share)}
    if len(sizes) < LEAST:
        return Mean(**found, no_interval=TOO_FEW)  # type: ignore[arg-type]
    within = np.bincount(place, weights=values)
    se = jackknife_se(share, (count - within) / (n - sizes))
    return Mean(**found, ci=interval(share, se, max(n, ratings or 0), len(sizes), level))  # type: ignore[arg-type]


def _places(clusters: Sequence[int]) -> npt.NDArray[np.intp]:
    """(n,): each item's cluster, from 0."""
    return np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()


def _mean(
    given: Sequence[float], place: npt.NDArray[np.intp], sizes: FloatArray, df: float, bounds: Bounds, level: float
) -> Mean:
    values = np.asarray(given, dtype=np.float64)
    n, g = len(values), len(sizes)
    mean = math.fsum(values) / n
    sd = _sd(values, mean)
    if g < LEAST:
        return Mean(mean, n, g, sd, no_interval=TOO_FEW)
    totals = _totals(values, place)
    se = jackknife_se(mean, (math.fsum(totals) - totals) / (n - sizes))
    # What is left of rounding where all clusters have the same mean.
    if se <= 1e-12 * float(np.abs(values).max()):
        return Mean(mean, n, g, sd, no_interval=ALIKE)
    half = t_quantile(level, df) * se
    return Mean(mean, n, g, sd, (max(mean - half, bounds[0]), min(mean + half, bounds[1])))


def _sd(values: FloatArray, mean: float) -> float | None:
    return math.sqrt(math.fsum((values - mean) ** 2) / (len(values) - 1)) if len(values) > 1 else None


def _totals(values: FloatArray, place: npt.NDArray[np.intp]) -> FloatArray:
    """The sum of each cluster, to so few bits that the sum of as many of them as there are is exact.

    Floats that are rounded on the way come to another sum in another order of rows. With 1,000 clusters some twelve
    digits are left.
    """
    order = np.lexsort((values, place))
    totals = np.bincount(place[order], weights=values[order])
    bits = math.frexp(float(np.abs(totals).max()) * len(totals))[1]
    unit = max(math.ldexp(1.0, bits - 52), sys.float_info.min)
    return np.asarray(np.round(totals / unit) * unit, dtype=np.float64)
