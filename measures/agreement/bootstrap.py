"""Coefficients as functions of sums over items, and the percentile bootstrap over items.

Every coefficient is a function of sums of item features. For resampled or omitted items, the sums are one matrix
product. Drawing n items with replacement is equivalent to drawing how often each distinct item occurs. Coefficients
that ignore the raters' identity need only the distinct *count vectors* (20 for 1,900 items of three ratings in four
classes). Conger's and Cohen's kappas need the distinct rater patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from measures.agreement.alpha import Metric, distances, mid_ranks
from measures.agreement.basis import TINY, Basis, item_agreement
from measures.clustered import Interval

from .ratings import FloatArray

ANONYMOUS = ("percent_agreement", "ac1", "ac2", "fleiss", "brennan_prediger", "alpha", "alpha_weighted")
NAMED = ("conger",)

CELLS = 1 << 21
"""Limit on cells of the matrix of draw counts that are in memory at once (16 MB)."""


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """Percentiles of the defined replicates. ``ci`` is None if fewer than half are defined."""

    ci: Interval | None
    replicates: int
    undefined_replicates: int


def bootstrap_intervals(
    basis: Basis, names: Sequence[str], *, replicates: int = 2000, seed: int = 0, metric: Metric = "nominal"
) -> dict[str, BootstrapInterval]:
    """Return percentile intervals of the named coefficients (see `ANONYMOUS` and `NAMED`) at the level of the basis.

    The same ratings, seed and NumPy version give the same intervals. The order of items does not matter. The order of
    raters matters for Conger's kappa only.
    """
    if replicates < 2:
        raise ValueError("a bootstrap needs at least two replicates")
    if unsupported := set(names) - {*ANONYMOUS, *NAMED}:
        raise ValueError(f"no bootstrap for {', '.join(sorted(unsupported))}")
    values: dict[str, FloatArray] = {}
    # Coefficients that ignore the raters' identity use count vectors, which are fewer than the patterns.
    for part, (counts, times) in (
        ([name for name in names if name in ANONYMOUS], basis.ratings.table.count_vectors),
        ([name for name in names if name in NAMED], (basis.counts, basis.times)),
    ):
        if part and basis.n:
            sums = sums_of(basis, part, counts, metric)
            blocks = [
                counts_drawn @ sums.features
                for counts_drawn in draw_counts(times, replicates, np.random.default_rng(seed))
            ]
            values |= sums.values(np.concatenate(blocks))
    all_undefined = np.full(replicates, np.nan)
    return {name: percentile_interval(values.get(name, all_undefined), basis.level) for name in names}


def percentile_interval(values: FloatArray, level: float) -> BootstrapInterval:
    """Return the central ``level`` of the replicates. NaN is an undefined replicate."""
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if 2 * len(defined) < len(values):
        return BootstrapInterval(None, len(values), undefined)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapInterval((float(low), float(high)), len(values), undefined)


def draw_counts(times: FloatArray, replicates: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Yield blocks (b, s) of counts: how often each of s distinct items occurs among n = sum(times) draws."""
    s, n = len(times), int(times.sum())
    by_index = 2 * s > n  # if nearly all items are distinct, drawing n indices costs less than s binomials
    step = max(1, CELLS // (max(s, n) if by_index else s))
    owner = np.repeat(np.arange(s), times.astype(np.int64)) if by_index else np.zeros(0, dtype=np.int64)
    for start in range(0, replicates, step):
        b = min(step, replicates - start)
        if by_index:
            indices = owner[rng.integers(n, size=(b, n))] + s * np.arange(b)[:, None]
            yield np.bincount(indices.ravel(), minlength=b * s).reshape(b, s).astype(np.float64)
        else:
            yield rng.multinomial(n, times / n, size=b).astype(np.float64)


def cohen_bootstrap(
    table: FloatArray, weights: FloatArray, *, replicates: int = 2000, seed: int = 0, level: float = 0.95
) -> BootstrapInterval:
    """Return the percentile interval of Cohen's kappa of a q x q table. Items that both raters rated are resampled."""
    if table.sum() == 0:
        return BootstrapInterval(None, replicates, replicates)
    used = np.flatnonzero(table.ravel())
    draws = draw_counts(table.ravel()[used], replicates, np.random.default_rng(seed))
    return percentile_interval(np.concatenate([kappas(counts_drawn, used, weights) for counts_drawn in draws]), level)


def kappas(counts: FloatArray, cells: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """Return Cohen's kappa (b,) of tables (b, c). ``cells`` (c,) are the columns' indices in a flat q x q table."""
    q = len(weights)
    rows, columns = np.eye(q)[cells // q], np.eye(q)[cells % q]
    p = _share(counts, counts.sum(axis=1, keepdims=True))
    pa = p @ weights.ravel()[cells]
    pe = ((p @ rows @ weights) * (p @ columns)).sum(axis=1)
    return _corrected(pa, pe)


@dataclass(frozen=True)
class Sums:
    """``features`` (s, f) of distinct items. ``values`` computes the coefficients (b,) from their sums (b, f)."""

    features: FloatArray
    values: Callable[[FloatArray], dict[str, FloatArray]]


def sums_of(basis: Basis, names: Sequence[str], counts: FloatArray, metric: Metric = "nominal") -> Sums:
    """Return the `Sums` of the named coefficients for items with ``counts`` (s, q).

    Conger's kappa needs the patterns of the basis as items.
    """
    parts = [_anonymous(basis, [name for name in names if name in ANONYMOUS], counts, metric)]
    if "conger" in names:
        parts.append(_conger(basis))
    ends = np.cumsum([part.features.shape[1] for part in parts])

    def values(sums: FloatArray) -> dict[str, FloatArray]:
        results: dict[str, FloatArray] = {}
        for part, end in zip(parts, ends, strict=True):
            results |= part.values(sums[:, end - part.features.shape[1] : end])
        return results

    return Sums(np.hstack([part.features for part in parts]), values)


def _anonymous(basis: Basis, names: Sequence[str], counts: FloatArray, metric: Metric) -> Sums:
    q, total = basis.q, float(basis.weights.sum())
    size = counts.sum(axis=1)
    pairable = size >= 2
    agreement = item_agreement(counts, size, basis.weights, basis.identity)
    paired = counts * pairable[:, None]
    alpha = _alpha_by_metric(basis, counts, size, pairable, metric) if "alpha" in names else None
    features = np.column_stack(
        (pairable, agreement, agreement * size, np.ones(len(size)), counts / size[:, None], paired)
    )
    plain = features.shape[1]

    def values(sums: FloatArray) -> dict[str, FloatArray]:
        pa, pi = _share(sums[:, 1], sums[:, 0]), _share(sums[:, 4 : 4 + q], sums[:, 3:4])
        used = sums[:, 4 + q : plain]
        results: dict[str, FloatArray] = {}
        for name in names:
            if name == "percent_agreement":
                results[name] = pa
            elif name in ("ac1", "ac2"):
                pe = total / (q * (q - 1)) * (1 - (pi * pi).sum(axis=1)) if q > 1 else pa * 0 + 1
                results[name] = _corrected(pa, pe)
            elif name == "fleiss":
                results[name] = _corrected(pa, _mean_product(pi, basis.weights))
            elif name == "brennan_prediger":
                results[name] = _corrected(pa, np.full(len(pa), total / q**2))
            elif name == "alpha_weighted":
                results[name] = _alpha(1 - _share(sums[:, 2], used.sum(axis=1)), used, 1 - basis.weights)
            elif alpha is not None:
                results[name] = alpha[1](sums[:, plain:], used)
        return results

    return Sums(np.hstack((features, alpha[0])) if alpha else features, values)


def _alpha_by_metric(
    basis: Basis, counts: FloatArray, size: FloatArray, pairable: npt.NDArray[np.bool_], metric: Metric
) -> tuple[FloatArray, Callable[[FloatArray, FloatArray], FloatArray]]:
    """Return features (s, f) and a function to compute alpha (b,).

    The function takes the sums of the features (b, f) and the pairable ratings of each value (b, q).
    """
    q, per_pair = basis.q, np.where(pairable, 1 / np.maximum(size - 1, 1), 0.0)[:, None]
    if metric != "ordinal":
        distance = distances(metric, basis.ratings.numeric, np.zeros(q))
        distance_sums = (counts * (counts @ distance)).sum(axis=1)[:, None] * per_pair

        def fixed(sums: FloatArray, used: FloatArray) -> FloatArray:
            return _alpha(_share(sums[:, 0], used.sum(axis=1)), used, distance)

        return distance_sums, fixed

    products = (counts[:, :, None] * counts[:, None, :]).reshape(len(counts), q * q)

    def by_rank(sums: FloatArray, used: FloatArray) -> FloatArray:
        middle = mid_ranks(used)  # (b, q): distances differ between replicates
        total = used.sum(axis=1)
        scores = middle / np.maximum(total, 1)[:, None]
        # Sum over pairs k, l of an item: (C_k - C_l)^2 = 2 (r sum r_k C_k^2 - sum r_k r_l C_k C_l).
        within = (sums[:, q:].reshape(-1, q, q) * scores[:, :, None] * scores[:, None, :]).sum(axis=(1, 2))
        observed = _share(2 * ((sums[:, :q] * scores**2).sum(axis=1) - within), total)
        mean = _share((used * scores).sum(axis=1), total)
        expected = 2 * (_share((used * scores**2).sum(axis=1), total) - mean**2)
        return _alpha_of(observed, expected, total)

    return np.hstack((counts * size[:, None] * per_pair, products * per_pair)), by_rank


def _conger(basis: Basis) -> Sums:
    patterns, r, q = basis.ratings.table.patterns, basis.ratings.n_raters, basis.q
    indicators = (patterns[:, :, None] == np.arange(q)).reshape(len(patterns), r * q).astype(np.float64)

    def values(sums: FloatArray) -> dict[str, FloatArray]:
        counts = sums[:, 2:].reshape(-1, r, q)
        rated = counts.sum(axis=2)
        active = (rated > 0).sum(axis=1)  # a replicate may contain no rating of a rater
        shares = counts / np.maximum(rated, 1)[:, :, None]
        share_sums = shares.sum(axis=1)
        own_products = ((shares @ basis.weights) * shares).sum(axis=(1, 2))
        pairs = np.where(active > 1, active * (active - 1), np.nan)
        pe = (((share_sums @ basis.weights) * share_sums).sum(axis=1) - own_products) / pairs
        return {"conger": _corrected(_share(sums[:, 1], sums[:, 0]), pe)}

    return Sums(np.column_stack((basis.pairable, basis.agreement, indicators)), values)


def _corrected(pa: FloatArray, pe: FloatArray) -> FloatArray:
    rest = np.where(1 - pe > TINY, 1 - pe, np.nan)
    return (pa - pe) / rest


def _alpha(observed: FloatArray, used: FloatArray, distance: FloatArray) -> FloatArray:
    total = used.sum(axis=1)
    shares = used / np.where(total > 0, total, np.nan)[:, None]
    return _alpha_of(observed, _mean_product(shares, distance), total)


def _alpha_of(observed: FloatArray, expected: FloatArray, total: FloatArray) -> FloatArray:
    shrink = 1 - 1 / np.where(total > 0, total, np.nan)
    return 1 - shrink * observed / np.where(expected > TINY, expected, np.nan)


def _mean_product(shares: FloatArray, matrix: FloatArray) -> FloatArray:
    products: FloatArray = ((shares @ matrix) * shares).sum(axis=1)
    return products


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return part / np.where(whole > 0, whole, np.nan)
