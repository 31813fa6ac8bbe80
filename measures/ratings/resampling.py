"""Bootstrap of rounds by resampling whole sources with replacement.

Whole sources are resampled, because ratings of the texts of one source are correlated (Steen and Markert 2021, *How to
evaluate a summarizer*, EACL). Intervals are percentiles of the means (Efron and Tibshirani 1993, *An introduction to
the bootstrap*, ch. 13).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from measures.clustered import FloatArray, Interval

REPLICATES = 2_000
SEED = 20221207
_NUMBERS = 1 << 21
"""Limit on draw counts in memory at once."""


def drawn(n: int, replicates: int, seed: int = SEED) -> Iterator[FloatArray]:
    """Yield blocks (some, n) of draw counts, with ``replicates`` rows in total."""
    rng = np.random.default_rng(seed)
    some = max(1, _NUMBERS // max(n, 1))
    for at in range(0, replicates, some):
        rows = min(some, replicates - at)
        picked = rng.integers(n, size=(rows, n)) + n * np.arange(rows)[:, None]
        yield np.bincount(picked.ravel(), minlength=rows * n).reshape(rows, n).astype(np.float64)


def resampled_means(sums: FloatArray, counts: FloatArray, replicates: int = REPLICATES) -> FloatArray:
    """Return the means (replicates, columns) from ``sums`` and ``counts`` (sources, columns).

    The mean is NaN if none of the drawn sources has the column.
    """
    parts = []
    for weights in drawn(len(sums), replicates):
        n = weights @ counts
        parts.append(np.divide(weights @ sums, n, out=np.full(n.shape, np.nan), where=n > 0))
    return np.concatenate(parts) if parts else np.zeros((0, sums.shape[1]))


def percentiles(values: FloatArray, level: float = 0.95) -> Interval | None:
    """Return the central ``level`` of the defined values (replicates,). Return None if more than 5 % are undefined."""
    defined = values[~np.isnan(values)]
    if len(defined) < 0.95 * len(values) or not len(defined):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
