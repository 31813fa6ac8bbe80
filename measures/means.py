"""Means of figures over clustered items, with confidence intervals by the rule of `measures.clustered`.

The module also collects means of metrics row by row (`ScoreMeans`).
"""

from __future__ import annotations

import math
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import former
from .clustered import (
    ALIKE,
    FEW,
    LEAST,
    METHOD,
    TOO_FEW,
    Bounds,
    FloatArray,
    Interval,
    degrees_of_freedom,
    estimate,
    jackknife_se,
    share_interval,
    t_quantile,
)

#: Names of the former rule's intervals (`measures.former`).
FORMER_METHOD = "jackknife over reviews, t interval with Satterthwaite's degrees of freedom"
FORMER_SHARE_METHOD = "Korn and Graubard's interval of a share over reviews"
FORMER_WILSON_METHOD = "Wilson's interval of a share on the effective number of items over reviews"
NO_ITEMS = "no item has this figure"

UNBOUNDED: Bounds = (-math.inf, math.inf)
FROM_0: Bounds = (0.0, math.inf)
FROM_0_TO_1: Bounds = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` items of ``clusters`` clusters.

    ``value`` is None exactly when ``undefined`` gives the reason. ``sd`` (n - 1 in the denominator) is None below two
    items. If there is a value, ``ci`` is None exactly when ``ci_reason`` gives the reason.
    """

    value: float | None
    n: int
    clusters: int
    sd: float | None = None
    ci: Interval | None = None
    undefined: str = ""
    ci_reason: str = ""

    @property
    def few(self) -> bool:
        """Whether the number of clusters is so small that it is shown with the interval."""
        return self.value is not None and self.clusters < FEW

    def as_json(self) -> dict[str, object]:
        return {
            "value": self.value,
            "n": self.n,
            "clusters": self.clusters,
            "sd": self.sd,
            "ci": list(self.ci) if self.ci else None,
            "undefined": self.undefined,
            "ci_reason": self.ci_reason,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Mean:
        """Restore a mean from `as_json`. Some databases return whole floats as integers."""
        value, sd, ci = (stored[name] for name in ("value", "sd", "ci"))
        return cls(
            None if value is None else float(value),
            stored["n"],
            stored["clusters"],
            None if sd is None else float(sd),
            (float(ci[0]), float(ci[1])) if ci else None,
            stored["undefined"],
            stored["ci_reason"],
        )


def clustered_mean(
    values: Sequence[float], clusters: Sequence[int], *, bounds: Bounds = UNBOUNDED, level: float = 0.95
) -> Mean:
    """Return the mean of ``values`` (n,), whose items belong to ``clusters`` (n,).

    ``bounds`` limits the mean and its interval. The result does not depend on the order of the items or the names of
    the clusters, to the last bit.
    """
    return clustered_means([values], clusters, bounds=[bounds], level=level)[0]


def clustered_means(
    figures: Sequence[Sequence[float]], clusters: Sequence[int], *, bounds: Sequence[Bounds] = (), level: float = 0.95
) -> list[Mean]:
    """Return `clustered_mean` of several figures (n,) of the same items. Shared computations are done once."""
    if any(len(values) != len(clusters) for values in figures):
        raise ValueError("every value needs its cluster")
    if len(clusters) == 0:
        return [Mean(None, 0, 0, undefined=NO_ITEMS) for _ in figures]
    place = _places(clusters)
    sizes = np.bincount(place).astype(np.float64)
    df = degrees_of_freedom(sizes, alike=former.is_on()) if len(sizes) >= LEAST else math.nan
    limits = bounds or [UNBOUNDED] * len(figures)
    return [_mean(values, place, sizes, df, limit, level) for values, limit in zip(figures, limits, strict=True)]


def clustered_share(
    hits: Sequence[float],
    clusters: Sequence[int],
    *,
    level: float = 0.95,
    ratings: int | None = None,
    former_interval: Callable[[float, float, int, int, float], Interval] = share_interval,
) -> Mean:
    """Return the share of ``hits`` (n,) among items of ``clusters`` (n,), with its interval.

    A hit is true or false, or the share of raters with a hit. ``ratings`` (number of ratings of all items) and
    ``former_interval`` (interval of a share) are used by the former rule only.
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
    fields = {"value": share, "n": n, "clusters": len(sizes), "sd": _sd(values, share)}
    within = np.bincount(place, weights=values)
    if not former.is_on():
        without = (count - within) / (n - sizes) if len(sizes) > 1 else np.full(1, np.nan)
        interval = estimate(share, without, sizes, FROM_0_TO_1, level=level)
        return Mean(**fields, ci=interval.ci, ci_reason=interval.reason)  # type: ignore[arg-type]
    if len(sizes) < LEAST:
        return Mean(**fields, ci_reason=TOO_FEW)  # type: ignore[arg-type]
    se = jackknife_se(share, (count - within) / (n - sizes))
    return Mean(**fields, ci=former_interval(share, se, max(n, ratings or 0), len(sizes), level))  # type: ignore[arg-type]


def _places(clusters: Sequence[int]) -> npt.NDArray[np.intp]:
    """Return the cluster number (n,) of each item, from 0."""
    return np.unique(np.asarray(clusters), return_inverse=True)[1].ravel()


def _mean(
    given: Sequence[float], place: npt.NDArray[np.intp], sizes: FloatArray, df: float, bounds: Bounds, level: float
) -> Mean:
    values = np.asarray(given, dtype=np.float64)
    n, g = len(values), len(sizes)
    mean = math.fsum(values) / n
    sd = _sd(values, mean)
    if g < LEAST and former.is_on():
        return Mean(mean, n, g, sd, ci_reason=TOO_FEW)
    totals = _totals(values, place)
    without = (math.fsum(totals) - totals) / (n - sizes) if g > 1 else np.full(1, np.nan)
    if not former.is_on():
        interval = estimate(mean, without, sizes, bounds, level=level, df=df, mean=True)
        return Mean(mean, n, g, sd, interval.ci, ci_reason=interval.reason)
    se = jackknife_se(mean, without)
    # Rounding can give a small standard error although all clusters have the same mean.
    if se <= 1e-12 * float(np.abs(values).max()):
        return Mean(mean, n, g, sd, ci_reason=ALIKE)
    half = t_quantile(level, df) * se
    return Mean(mean, n, g, sd, (max(mean - half, bounds[0]), min(mean + half, bounds[1])))


def _sd(values: FloatArray, mean: float) -> float | None:
    return math.sqrt(math.fsum((values - mean) ** 2) / (len(values) - 1)) if len(values) > 1 else None


def _totals(values: FloatArray, place: npt.NDArray[np.intp]) -> FloatArray:
    """Return the sum of each cluster, rounded so that adding the sums is exact.

    Otherwise the total would depend on the order of the rows. With 1,000 clusters about twelve digits remain.
    """
    order = np.lexsort((values, place))
    totals = np.bincount(place[order], weights=values[order])
    bits = math.frexp(float(np.abs(totals).max()) * len(totals))[1]
    unit = max(math.ldexp(1.0, bits - 52), sys.float_info.min)
    return np.asarray(np.round(totals / unit) * unit, dtype=np.float64)


#: Reference kinds of a summary. A score without a reference counts as compared with the summary's own target.
OWN, PROPOSITIONS = "own target", "propositions of its review"
#: Name of the method. Means stored under another rule are recomputed.
RULE, FORMER_RULE = METHOD, FORMER_METHOD


class ScoreMeans:
    """Collect scores row by row and return their means. Memory grows by about 20 bytes per number.

    ``bounds`` holds the range of the mean of each figure.
    """

    def __init__(self, bounds: Mapping[str, Bounds]) -> None:
        self._bounds = bounds
        self._columns: dict[tuple[str, str], _Column] = defaultdict(_Column)
        self._reviews: dict[Hashable, int] = {}
        self._summaries: set[Hashable] = set()

    def add(
        self,
        *,
        summary: Hashable,
        review: Hashable,
        side: str,
        values: Mapping[str, float | None],
        undefined: Mapping[str, str],
    ) -> None:
        """Add the scores of one summary by figure. A value of None has its reason in ``undefined``."""
        self._summaries.add(summary)
        place = self._reviews.setdefault(review, len(self._reviews))
        for figure, value in values.items():
            self._columns[figure, side].add(value, place, undefined.get(figure, ""))

    def as_json(self) -> dict[str, Any]:
        """Return the rule, the number of summaries, and all figures.

        Each figure has its mean or the reason why there is none, and the number of rows without a value by reason.
        """
        return {
            "rule": FORMER_RULE if former.is_on() else RULE,
            "summaries": len(self._summaries),
            "figures": [
                {
                    "figure": figure,
                    "side": side,
                    "mean": mean.as_json(),
                    "why": "; ".join(undefined) if mean.value is None else "",
                    "undefined": undefined,
                }
                for (figure, side), mean in self._means().items()
                for undefined in [dict(sorted(self._columns[figure, side].undefined.items()))]
            ],
        }

    def _means(self) -> Mapping[tuple[str, str], Mean]:
        """Return the means. Figures of the same items are computed together, because they share computations."""
        alike: dict[bytes, list[tuple[str, str]]] = defaultdict(list)
        for key, column in self._columns.items():
            alike[column.reviews.tobytes()].append(key)
        means: dict[tuple[str, str], Mean] = {}
        for keys in alike.values():
            reviews = self._columns[keys[0]].reviews
            values = [self._columns[key].values for key in keys]
            bounds = [self._bounds.get(figure, UNBOUNDED) for figure, _ in keys]
            means |= dict(zip(keys, clustered_means(values, reviews, bounds=bounds), strict=True))
        return means


class _Column:
    def __init__(self) -> None:
        self.values, self.reviews = array("d"), array("q")
        self.undefined: Counter[str] = Counter()

    def add(self, value: float | None, review: int, why: str) -> None:
        if value is None:
            self.undefined[why] += 1
        else:
            self.values.append(value)
            self.reviews.append(review)
