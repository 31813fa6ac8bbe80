"""Intervals of coefficients over clusters: a review's propositions share its texts and its difficulty.

The standard error is that of the jackknife that leaves out one review at a time, every coefficient being computed anew
without it; the quantile is t's with Satterthwaite's degrees of freedom (`measures.clustered`). The interval of a
coefficient is taken on the scale of log(1 - coefficient), disagreement over what chance would give, and taken back: it
ends below 1, and is longer towards 0, as the sampling distribution of a high coefficient is. Percent agreement is a
share and has the interval of one. Both were chosen by their simulated coverage (`python -m benchmarks coverage`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from measures.agreement.alpha import Metric
from measures.agreement.basis import TINY, Basis
from measures.agreement.bootstrap import (
    BootstrapInterval,
    draw_counts,
    kappas,
    percentile_interval,
    sums_of,
)
from measures.agreement.errors import RatingsError
from measures.agreement.patterns import FloatArray
from measures.agreement.ratings import Ratings
from measures.agreement.results import Coefficient, OverReviews
from measures.clustered import (
    ALIKE,
    LEAST,
    TOO_FEW,
    degrees_of_freedom,
    jackknife_se,
    share_interval,
    t_quantile,
)

METHOD = "jackknife over reviews, t interval of log(1 - value) with Satterthwaite's degrees of freedom"
SHARE_METHOD = "jackknife over reviews, Korn and Graubard's interval of a share"
PERFECT = "perfect agreement: no interval over reviews"
UNDEFINED = "undefined without one of the reviews: no interval"


@dataclass(frozen=True)
class Clusters:
    """``of_item`` (n,): which of ``count`` clusters, from 0, each item of ``ratings`` belongs to."""

    ratings: Ratings
    of_item: npt.NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, ratings: Ratings, cluster_of: Mapping[Any, Hashable]) -> Clusters:
        """By the cluster of each item. RatingsError where an item has none."""
        numbers: dict[Hashable, int] = {}
        try:
            places = [numbers.setdefault(cluster_of[item], len(numbers)) for item in ratings.items]
        except KeyError as error:
            raise RatingsError(f"no cluster is known of the item {error.args[0]!r}") from None
        return cls(ratings, np.array(places, dtype=np.intp), len(numbers))

    def again(self, ratings: Ratings) -> Clusters:
        """The same items coded otherwise."""
        return Clusters(ratings, self.of_item, self.count)

    @property
    def several(self) -> bool:
        """Whether some cluster has several items: else items and clusters are the same."""
        return self.count < len(self.of_item)

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Cluster and pattern of each item, in the order of both: no sum may depend on the order of items."""
        pattern = self.ratings.table.pattern_of_item
        order = np.lexsort((pattern, self.of_item))
        return self.of_item[order], pattern[order]

    def sums(self, features: FloatArray) -> FloatArray:
        """(clusters, f): the sums over each cluster's items of the ``features`` (s, f) of their patterns."""
        cluster, pattern = self._sorted
        columns = [np.bincount(cluster, weights=column[pattern], minlength=self.count) for column in features.T]
        return np.column_stack(columns)

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the jackknife's variance."""
        return degrees_of_freedom(np.bincount(self.of_item, minlength=self.count).astype(np.float64))


def over_reviews(
    basis: Basis, found: Mapping[str, Coefficient], clusters: Clusters, metric: Metric = "nominal"
) -> dict[str, OverReviews]:
    """The interval over clusters of each coefficient of ``found`` that has a value, or why there is none."""
    names = [name for name, each in found.items() if each.value is not None]
    if clusters.count < LEAST:
        return {name: OverReviews(None, None, TOO_FEW) for name in names}
    sums = sums_of(basis, names, basis.counts, metric)
    within = clusters.sums(sums.features)
    without = sums.values(within.sum(axis=0) - within)
    pairable = clusters.sums(basis.pairable[:, None])
    return {
        name: (
            _share(found[name], without[name], basis.n_pairable, int(np.count_nonzero(pairable)), basis.level)
            if name == "percent_agreement"
            else _on_log_scale(found[name].value, without[name], clusters.df, basis.level)
        )
        for name in names
    }


def cohen_over_reviews(
    kappa: Coefficient, first: int, second: int, weights: FloatArray, clusters: Clusters, level: float
) -> OverReviews | None:
    """Of Cohen's kappa of two raters, by the clusters that have an item of both; None where it is undefined."""
    if kappa.value is None:
        return None
    a, b = (clusters.ratings.codes[rater].astype(np.int64) for rater in (first, second))
    both, q = (a >= 0) & (b >= 0), clusters.ratings.q
    cells = np.bincount((clusters.of_item * q * q + a * q + b)[both], minlength=clusters.count * q * q)
    tables = cells.reshape(clusters.count, q * q).astype(np.float64)
    tables = tables[tables.sum(axis=1) > 0]
    if len(tables) < LEAST:
        return OverReviews(None, None, TOO_FEW)
    without = kappas(tables.sum(axis=0) - tables, np.arange(q * q), weights)
    return _on_log_scale(kappa.value, without, degrees_of_freedom(tables.sum(axis=1)), level)


def bootstrap_over_reviews(
    basis: Basis, names: Sequence[str], clusters: Clusters, *, replicates: int, seed: int, metric: Metric = "nominal"
) -> dict[str, BootstrapInterval]:
    """Percentile intervals that draw whole clusters (Field and Welsh 2007, JRSS B 69). Too narrow where these are few.

    The same ratings, clusters, seed and NumPy give the same intervals, whatever the clusters are called.
    """
    if replicates < 2:
        raise ValueError("a bootstrap needs at least two replicates")
    sums = sums_of(basis, names, basis.counts, metric)
    within = clusters.sums(sums.features)
    # In an order of their own: what clusters are called, and which came first, must not change what is drawn.
    within = within[np.lexsort(within.T)]
    draws = draw_counts(np.ones(clusters.count), replicates, np.random.default_rng(seed))
    values = sums.values(np.concatenate([drawn @ within for drawn in draws]))
    return {name: percentile_interval(values[name], basis.level) for name in names}


def _on_log_scale(value: float | None, without: FloatArray, df: float, level: float) -> OverReviews:
    if value is None or np.isnan(without).any():
        return OverReviews(None, None, UNDEFINED)
    se = jackknife_se(value, without)
    apart = 1 - value
    if apart <= TINY or se <= TINY:
        return OverReviews(None, None, PERFECT if apart <= TINY else ALIKE)
    # No coefficient goes far below -1; of few reviews the exponential would.
    factor = math.exp(min(t_quantile(level, df) * se / apart, 50))
    return OverReviews(se, (max(1 - apart * factor, min(-1.0, value)), 1 - apart / factor))


def _share(found: Coefficient, without: FloatArray, n: int, clusters: int, level: float) -> OverReviews:
    if clusters < LEAST:
        return OverReviews(None, None, TOO_FEW)
    if found.value is None or np.isnan(without).any():
        return OverReviews(None, None, UNDEFINED)
    se = jackknife_se(found.value, without)
    return OverReviews(se, share_interval(min(max(found.value, 0.0), 1.0), se, n, clusters, level))
