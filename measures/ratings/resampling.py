"""Rounds drawn anew from their sources, with replacement: the bootstrap that stands beside intervals.

Whole sources are drawn (Steen and Markert 2021, *How to evaluate a summarizer*, EACL): what was said of the texts of
one source is alike. Percentiles of the means (Efron and Tibshirani 1993, *An introduction to the bootstrap*, ch. 13).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from measures.clustered import FloatArray, Interval

REPLICATES = 2_000
SEED = 20221207
_NUMBERS = 1 << 21
"""Numbers of draws in memory at a time."""


def drawn(n: int, replicates: int, seed: int = SEED) -> Iterator[FloatArray]:
    """Blocks of (some, n): how often each of n was drawn; ``replicates`` rows in all."""
    rng = np.random.default_rng(seed)
    some = max(1, _NUMBERS // max(n, 1))
    for at in range(0, replicates, some):
        rows = min(some, replicates - at)
        picked = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(picked.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def resampled_means(sums: FloatArray, counts: FloatArray, replicates: int = REPLICATES) -> FloatArray:
    """(replicates, columns): means of columns of sources, from their ``sums`` and ``counts`` (sources, columns); nan
    where none of the drawn sources has the column."""
    parts = []
    for weights in drawn(len(sums), replicates):
        n = weights @ counts
        parts.append(np.divide(weights @ sums, n, out=np.full(n.shape, np.nan), where=n > 0))
    return np.concatenate(parts) if parts else np.zeros((0, sums.shape[1]))


def percentiles(values: FloatArray, level: float = 0.95) -> Interval | None:
    """The middle ``level`` of values (replicates,) that exist; None where more than a twentieth does not."""
    there = values[~np.isnan(values)]
    if len(there) < 0.95 * len(values) or not len(there):
        return None
    low, high = np.quantile(there, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
