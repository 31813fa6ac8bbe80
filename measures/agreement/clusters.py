"""Intervals of coefficients over clusters (reviews), and benchmark levels of coefficients.

Propositions of a review share its texts and difficulty, so they are not independent. Intervals follow the rule of
`measures.clustered`, which computes a coefficient again without each review. The rule needs figures with two bounds,
so a coefficient is rescaled to a share: 0 is its value if nobody agreed, and 1 is full agreement. Kappa and alpha
depend on the rarer values, so for them 0 is the value if nobody agreed on any of these. With two values in the scale,
this share is the specific agreement of the rarer one. Kappa and alpha have no interval if the rarer values are too
rare.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import special  # type: ignore[import-untyped]

from .. import former
from ..clustered import ALIKE, LEAST, TOO_FEW, degrees_of_freedom, estimate, jackknife_se, share_interval, t_quantile
from .alpha import Metric
from .basis import TINY, Basis, Coefficient, OverReviews
from .bootstrap import BootstrapInterval, draw_counts, kappas, percentile_interval, sums_of
from .ratings import FloatArray, Ratings, RatingsError

#: Method names of the former rule's intervals (`measures.former`).
FORMER_METHOD = "jackknife over reviews, t interval of log(1 - value) with Satterthwaite's degrees of freedom"
FORMER_SHARE_METHOD = "jackknife over reviews, Korn and Graubard's interval of a share"
#: Coefficients whose chance agreement does not make them depend on the rarer values.
ROBUST = frozenset({"percent_agreement", "ac1", "ac2", "brennan_prediger"})
PERFECT = "perfect agreement: no interval over reviews"
UNDEFINED = "undefined without one of the reviews: no interval"


@dataclass(frozen=True)
class Clusters:
    """``of_item`` (n,) is the number of each item's cluster, from 0 to ``count`` - 1."""

    ratings: Ratings
    of_item: npt.NDArray[np.intp]
    count: int

    @classmethod
    def of(cls, ratings: Ratings, cluster_of: Mapping[Any, Hashable]) -> Clusters:
        """Return the clusters of the ratings' items. Raise `RatingsError` if an item has none."""
        numbers: dict[Hashable, int] = {}
        try:
            cluster_numbers = [numbers.setdefault(cluster_of[item], len(numbers)) for item in ratings.items]
        except KeyError as error:
            raise RatingsError(f"no cluster is known of the item {error.args[0]!r}") from None
        return cls(ratings, np.array(cluster_numbers, dtype=np.intp), len(numbers))

    def again(self, ratings: Ratings) -> Clusters:
        """Return the same clusters for a different coding of the same items."""
        return Clusters(ratings, self.of_item, self.count)

    @classmethod
    def of_items(cls, ratings: Ratings) -> Clusters:
        """Return one cluster per item, for ratings whose reviews are unknown."""
        return cls(ratings, np.arange(len(ratings.items), dtype=np.intp), len(ratings.items))

    @property
    def several(self) -> bool:
        """Whether a cluster has several items. Otherwise items and clusters are the same."""
        return self.count < len(self.of_item)

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Cluster and pattern of each item, sorted by both, so that sums do not depend on the order of items."""
        pattern = self.ratings.table.pattern_of_item
        order = np.lexsort((pattern, self.of_item))
        return self.of_item[order], pattern[order]

    def sums(self, features: FloatArray) -> FloatArray:
        """Return the sums (clusters, f) of the ``features`` (s, f) of the items' patterns."""
        cluster, pattern = self._sorted
        columns = [np.bincount(cluster, weights=column[pattern], minlength=self.count) for column in features.T]
        return np.column_stack(columns)

    @cached_property
    def sizes(self) -> FloatArray:
        """Number of items of each cluster, (clusters,)."""
        return np.bincount(self.of_item, minlength=self.count).astype(np.float64)

    @cached_property
    def df(self) -> float:
        """Degrees of freedom of the jackknife variance. It is 1 for fewer than two clusters."""
        return degrees_of_freedom(self.sizes, alike=former.is_on()) if self.count > 1 else 1.0


def over_reviews(
    basis: Basis, coefficients: Mapping[str, Coefficient], clusters: Clusters, metric: Metric = "nominal"
) -> dict[str, OverReviews]:
    """Return the interval over clusters of each defined coefficient of ``coefficients``, or why there is none."""
    names = [name for name, coefficient in coefficients.items() if coefficient.value is not None]
    if clusters.count < LEAST and former.is_on():
        return {name: OverReviews(None, None, TOO_FEW) for name in names}
    if not names:
        return {}
    sums = sums_of(basis, names, basis.counts, metric)
    within = clusters.sums(sums.features)
    without = sums.values(within.sum(axis=0) - within)
    if not former.is_on():
        totals = clusters.sums(basis.counts).sum(axis=0)
        main = int(totals.argmax())
        rare = _rare(clusters.sums((basis.counts[:, [main]] < basis.size[:, None]).astype(np.float64))[:, 0])
        sizes, df = clusters.sizes, clusters.df
        return {name: _over(coefficients[name], without[name], totals, rare, sizes, df, basis.level) for name in names}
    pairable = clusters.sums(basis.pairable[:, None])
    return {
        name: (
            _share(coefficients[name], without[name], basis.n_pairable, int(np.count_nonzero(pairable)), basis.level)
            if name == "percent_agreement"
            else _on_log_scale(coefficients[name].value, without[name], clusters.df, basis.level)
        )
        for name in names
    }


def cohen_over_reviews(
    kappa: Coefficient, first: int, second: int, weights: FloatArray, clusters: Clusters, level: float
) -> OverReviews | None:
    """Return the interval of Cohen's kappa of two raters, over the clusters with an item that both rated.

    Return None if kappa is undefined.
    """
    if kappa.value is None:
        return None
    a, b = (clusters.ratings.codes[rater].astype(np.int64) for rater in (first, second))
    both, q = (a >= 0) & (b >= 0), clusters.ratings.q
    cells = np.bincount((clusters.of_item * q * q + a * q + b)[both], minlength=clusters.count * q * q)
    tables = cells.reshape(clusters.count, q * q).astype(np.float64)
    tables = tables[tables.sum(axis=1) > 0]
    return over_tables(kappa, tables, weights, level)


def over_tables(kappa: Coefficient, tables: FloatArray, weights: FloatArray, level: float = 0.95) -> OverReviews:
    """Return the interval of Cohen's kappa of the sum of ``tables`` (g, q * q). There is one table per cluster."""
    g, q, sizes = len(tables), len(weights), tables.sum(axis=1)
    if g < LEAST and former.is_on():
        return OverReviews(None, None, TOO_FEW)
    without = kappas(tables.sum(axis=0) - tables, np.arange(q * q), weights)
    df = degrees_of_freedom(sizes, alike=former.is_on()) if g > 1 else 1.0
    if former.is_on():
        return _on_log_scale(kappa.value, without, df, level)
    by_cell = tables.reshape(g, q, q)
    totals = by_cell.sum(axis=(0, 1)) + by_cell.sum(axis=(0, 2))
    main = int(totals.argmax())
    return _over(kappa, without, totals, _rare(sizes - by_cell[:, main, main]), sizes, df, level)


def _rare(items: FloatArray) -> tuple[int, int]:
    """Return the number of clusters and items with a rating other than the most frequent value.

    ``items`` is the number of such items in each cluster.
    """
    return int(np.count_nonzero(items > 1e-9)), int(items.sum() + 1e-9)


def _over(
    coefficient: Coefficient,
    without: FloatArray,
    totals: FloatArray,
    rare: tuple[int, int],
    sizes: FloatArray,
    df: float,
    level: float,
) -> OverReviews:
    """Return the interval of one coefficient.

    ``totals`` (q,) are the counts of each value. ``rare`` is the argument of `measures.clustered.estimate`.
    """
    value = coefficient.value
    assert value is not None
    robust = coefficient.name in ROBUST
    low = 0.0 if coefficient.pe is None else -coefficient.pe / (1 - coefficient.pe)
    if not robust:
        rarer = min(float(1 - totals.max() / totals.sum()), 0.5)
        low = min(max(low, -rarer / (1 - rarer)), value)
    interval = estimate(value, without, sizes, (low, 1.0), level=level, rare=None if robust else rare, df=df)
    return OverReviews(interval.se, interval.ci, interval.reason or None)


def bootstrap_over_reviews(
    basis: Basis, names: Sequence[str], clusters: Clusters, *, replicates: int, seed: int, metric: Metric = "nominal"
) -> dict[str, BootstrapInterval]:
    """Return percentile intervals from resampled clusters (Field and Welsh 2007, JRSS B 69).

    They are too narrow for few clusters. The same ratings, clusters, seed and NumPy version give the same intervals.
    The names of the clusters do not matter.
    """
    if replicates < 2:
        raise ValueError("a bootstrap needs at least two replicates")
    sums = sums_of(basis, names, basis.counts, metric)
    within = clusters.sums(sums.features)
    # Sort the rows, so that the draws do not depend on the names or the order of the clusters.
    within = within[np.lexsort(within.T)]
    draws = draw_counts(np.ones(clusters.count), replicates, np.random.default_rng(seed))
    values = sums.values(np.concatenate([counts_drawn @ within for counts_drawn in draws]))
    return {name: percentile_interval(values[name], basis.level) for name in names}


def _on_log_scale(value: float | None, without: FloatArray, df: float, level: float) -> OverReviews:
    if value is None or np.isnan(without).any():
        return OverReviews(None, None, UNDEFINED)
    se = jackknife_se(value, without)
    disagreement = 1 - value
    if disagreement <= TINY or se <= TINY:
        return OverReviews(None, None, PERFECT if disagreement <= TINY else ALIKE)
    # Limit the exponent, which is unbounded for few reviews. No coefficient is far below -1.
    factor = math.exp(min(t_quantile(level, df) * se / disagreement, 50))
    return OverReviews(se, (max(1 - disagreement * factor, min(-1.0, value)), 1 - disagreement / factor))


def _share(coefficient: Coefficient, without: FloatArray, n: int, clusters: int, level: float) -> OverReviews:
    if clusters < LEAST:
        return OverReviews(None, None, TOO_FEW)
    if coefficient.value is None or np.isnan(without).any():
        return OverReviews(None, None, UNDEFINED)
    se = jackknife_se(coefficient.value, without)
    return OverReviews(se, share_interval(min(max(coefficient.value, 0.0), 1.0), se, n, clusters, level))


BenchmarkScale = Literal["landis-koch", "fleiss", "altman"]
BENCHMARK_SCALES: tuple[BenchmarkScale, ...] = get_args(BenchmarkScale)

_LEVELS: dict[BenchmarkScale, tuple[tuple[float, str], ...]] = {
    "landis-koch": (
        (0.8, "almost perfect"),
        (0.6, "substantial"),
        (0.4, "moderate"),
        (0.2, "fair"),
        (0.0, "slight"),
        (-1.0, "poor"),
    ),
    "fleiss": ((0.75, "excellent"), (0.4, "intermediate to good"), (-1.0, "poor")),
    "altman": ((0.8, "very good"), (0.6, "good"), (0.4, "moderate"), (0.2, "fair"), (-1.0, "poor")),
}


@dataclass(frozen=True, slots=True)
class BenchmarkLevel:
    """A level from ``low`` to ``high``: its probability, and the probability of this or a better level."""

    label: str
    low: float
    high: float
    probability: float
    cumulative: float


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The levels of a coefficient. ``label`` is the cumulative label to show. ``point_label`` is the value's level."""

    scale: BenchmarkScale
    label: str
    point_label: str
    levels: tuple[BenchmarkLevel, ...]


def benchmark(value: float, se: float, scale: BenchmarkScale = "landis-koch", certainty: float = 0.95) -> Benchmark:
    """Return the levels of ``scale`` for a coefficient. If se is 0, the level of the value has probability 1."""
    if scale not in _LEVELS:
        raise RatingsError(f"unknown benchmark scale {scale!r}: choose one of {', '.join(BENCHMARK_SCALES)}")
    bounds = _LEVELS[scale]
    highs = (1.0, *(low for low, _ in bounds[:-1]))
    inside = _below(1.0, value, se) - _below(-1.0, value, se)
    levels: list[BenchmarkLevel] = []
    cumulative = 0.0
    for (low, label), high in zip(bounds, highs, strict=True):
        holds_point = low < value <= high or (value <= -1 and low == -1.0)
        mass = (_below(high, value, se) - _below(low, value, se)) / inside if se > 0 else float(holds_point)
        cumulative += mass
        levels.append(BenchmarkLevel(label, low, high, mass, min(cumulative, 1.0)))
    reached = next((lv.label for lv in levels if lv.cumulative > certainty), levels[-1].label)
    point = next((lv.label for lv in levels if value > lv.low), levels[-1].label)
    return Benchmark(scale, reached, point, tuple(levels))


def _below(x: float, value: float, se: float) -> float:
    return float(special.ndtr((x - value) / se)) if se > 0 else float(x >= value)
