"""Means of figures of many items, with an interval that knows that items of one cluster are alike.

The interval is a percentile bootstrap over clusters (Field & Welsh 2007, *Bootstrapping clustered data*, JRSS B 69):
whole clusters are drawn with replacement, and each replicate is the mean over all items that were drawn. Drawing items
one by one would take the summaries of one review for independent ones and make the interval too narrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from measures.agreement.bootstrap import draw_counts, percentile_interval
from measures.agreement.patterns import FloatArray
from measures.agreement.results import Interval

REPLICATES = 2000
SEED = 20221207
METHOD = "percentile bootstrap over clusters"
NO_ITEMS = "no item has this figure"


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over ``n`` items of ``clusters`` clusters. ``value`` is None exactly where ``undefined`` says why.

    ``sd`` (n - 1 in the denominator) is None below two items; ``ci`` is None below two clusters.
    """

    value: float | None
    n: int
    clusters: int
    sd: float | None = None
    ci: Interval | None = None
    undefined: str = ""


def clustered_mean(
    values: Sequence[float],
    clusters: Sequence[int],
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    level: float = 0.95,
) -> Mean:
    """The mean of ``values`` (n,), whose items belong to ``clusters`` (n,), ids in any order.

    The same values, clusters, seed and NumPy give the same interval, whatever the order of the items and whichever
    other figures are asked for with it.
    """
    return clustered_means([values], clusters, replicates=replicates, seed=seed, level=level)[0]


def clustered_means(
    figures: Sequence[Sequence[float]],
    clusters: Sequence[int],
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    level: float = 0.95,
) -> list[Mean]:
    """As `clustered_mean`, of figures (each (n,)) of the same items: clusters are drawn once for all."""
    if any(len(values) != len(clusters) for values in figures):
        raise ValueError("every value needs its cluster")
    n = len(clusters)
    if n == 0:
        return [Mean(None, 0, 0, undefined=NO_ITEMS) for _ in figures]
    names, place = np.unique(np.asarray(clusters), return_inverse=True)
    columns = np.asarray(figures, dtype=np.float64).T
    intervals = _intervals(columns, place, len(names), replicates, seed, level)
    spreads = columns.std(axis=0, ddof=1).tolist() if n > 1 else [None] * len(figures)
    means = columns.mean(axis=0).tolist()
    return [
        Mean(mean, n, len(names), sd, ci) for mean, sd, ci in zip(means, spreads, intervals, strict=True)
    ]  # fmt: skip


def _intervals(
    columns: FloatArray, place: npt.NDArray[np.intp], count: int, replicates: int, seed: int, level: float
) -> list[Interval | None]:
    """Of the means of each column (n, m), when ``count`` clusters are drawn; ``place`` (n,): each item's cluster."""
    if count < 2:
        return [None] * columns.shape[1]
    sizes = np.bincount(place, minlength=count)
    totals = np.column_stack([np.bincount(place, weights=column, minlength=count) for column in columns.T])
    drawn = [
        (times @ totals) / (times @ sizes)[:, None]
        for times in draw_counts(np.ones(count), replicates, np.random.default_rng(seed))
    ]
    return [percentile_interval(replicated, level).ci for replicated in np.concatenate(drawn).T]
