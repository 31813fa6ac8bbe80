"""Means of figures of many items, with an interval that knows that items of one cluster are alike.

The interval is a percentile bootstrap over clusters (Field & Welsh 2007, *Bootstrapping clustered data*, JRSS B 69):
whole clusters are drawn with replacement, and each replicate is the mean over all items that were drawn. Drawing items
one by one would take the summaries of one review for independent ones and make the interval too narrow.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

    def as_json(self) -> dict[str, object]:
        return {
            "value": self.value, "n": self.n, "clusters": self.clusters, "sd": self.sd,
            "ci": list(self.ci) if self.ci else None, "undefined": self.undefined,
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Mean:
        """What `as_json` gave. A data base may have made whole floats integers."""
        value, sd, ci = (stored[name] for name in ("value", "sd", "ci"))
        return cls(
            None if value is None else float(value), stored["n"], stored["clusters"],
            None if sd is None else float(sd), (float(ci[0]), float(ci[1])) if ci else None, stored["undefined"],
        )  # fmt: skip


def clustered_mean(
    values: Sequence[float],
    clusters: Sequence[int],
    *,
    replicates: int = REPLICATES,
    seed: int = SEED,
    level: float = 0.95,
) -> Mean:
    """The mean of ``values`` (n,), whose items belong to ``clusters`` (n,), ids in any order.

    The same values, clusters, seed and NumPy give the same figures to the last bit, whatever the order of the items and
    whatever the clusters are called.
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
    columns = [np.asarray(values, dtype=np.float64) for values in figures]
    intervals = _intervals(columns, place, replicates, seed, level)
    return [
        Mean(mean, n, len(names), _sd(column, mean), ci)
        for column, ci in zip(columns, intervals, strict=True)
        for mean in [math.fsum(column) / n]
    ]


def _sd(values: FloatArray, mean: float) -> float | None:
    return math.sqrt(math.fsum((values - mean) ** 2) / (len(values) - 1)) if len(values) > 1 else None


def _intervals(
    columns: Sequence[FloatArray], place: npt.NDArray[np.intp], replicates: int, seed: int, level: float
) -> list[Interval | None]:
    """Of the means of each column (n,), when whole clusters are drawn; ``place`` (n,): each item's cluster, from 0."""
    sizes = np.bincount(place)
    if len(sizes) < 2:
        return [None] * len(columns)
    totals = [_totals(values, place) for values in columns]
    # Clusters by size, then by sum: what they are called, and which came first, must not change what is drawn.
    ordered = np.column_stack((np.sort(sizes), *(total[np.lexsort((total, sizes))] for total in totals)))
    blocks = []
    for times in draw_counts(np.ones(len(sizes)), replicates, np.random.default_rng(seed)):
        drawn = times @ ordered
        blocks.append(drawn[:, 1:] / drawn[:, :1])
    return [percentile_interval(replicated, level).ci for replicated in np.concatenate(blocks).T]


def _totals(values: FloatArray, place: npt.NDArray[np.intp]) -> FloatArray:
    """The sum of each cluster, to so few bits that the sum of as many of them as there are is exact.

    Floats that are rounded on the way come to another sum in another order: of rows, and of a matrix product, which
    each machine takes in its own. With 1,000 clusters some twelve digits are left.
    """
    order = np.lexsort((values, place))
    totals = np.bincount(place[order], weights=values[order])
    bits = math.frexp(float(np.abs(totals).max()) * len(totals))[1]
    unit = max(math.ldexp(1.0, bits - 52), sys.float_info.min)
    return np.asarray(np.round(totals / unit) * unit, dtype=np.float64)
