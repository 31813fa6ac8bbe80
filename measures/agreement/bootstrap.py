"""Coefficients as functions of sums over items, and the percentile bootstrap over items.

Every coefficient is a function of sums of features of items: for ratings that are drawn again, or of which some are
left out, the sums are one matrix product. Drawing n items with replacement is drawing how often each distinct item
comes. What ignores who said what needs the distinct *count vectors* (20 for 1,900 items of three ratings in four
classes); Conger and Cohen need the distinct rater patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from measures.agreement.alpha import Metric, distances, mid_ranks
from measures.agreement.basis import TINY, Basis, item_agreement
from measures.agreement.patterns import FloatArray
from measures.clustered import Interval

ANONYMOUS = ("percent_agreement", "ac1", "ac2", "fleiss", "brennan_prediger", "alpha", "alpha_weighted")
NAMED = ("conger",)

CELLS = 1 << 21
"""Cells of the matrix of drawn counts that are held at once (16 MB)."""


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """Percentiles of the replicates that are defined; None when fewer than half are."""

    ci: Interval | None
    replicates: int
    undefined_replicates: int


def bootstrap_intervals(
    basis: Basis,
    names: Sequence[str],
    *,
    replicates: int = 2000,
    seed: int = 0,
    metric: Metric = "nominal",
) -> dict[str, BootstrapInterval]:
    """Percentile intervals at the level of the basis for the coefficients named (see ANONYMOUS and NAMED).

    The same ratings, seed and NumPy give the same intervals, whatever the order of items and (but for Conger) raters.
    """
    if replicates < 2:
        raise ValueError("a bootstrap needs at least two replicates")
    if strange := set(names) - {*ANONYMOUS, *NAMED}:
        raise ValueError(f"no bootstrap for {', '.join(sorted(strange))}")
    values: dict[str, FloatArray] = {}
    # What ignores who said what has fewer distinct rows than there are patterns.
    for part, (counts, times) in (
        ([name for name in names if name in ANONYMOUS], basis.ratings.table.count_vectors),
        ([name for name in names if name in NAMED], (basis.counts, basis.times)),
    ):
        if part and basis.n:
            sums = sums_of(basis, part, counts, metric)
            blocks = [drawn @ sums.features for drawn in draw_counts(times, replicates, np.random.default_rng(seed))]
            values |= sums.values(np.concatenate(blocks))
    nothing = np.full(replicates, np.nan)
    return {name: percentile_interval(values.get(name, nothing), basis.level) for name in names}


def percentile_interval(values: FloatArray, level: float) -> BootstrapInterval:
    """The central ``level`` of the replicates; NaN stands for an undefined one."""
    defined = values[~np.isnan(values)]
    lost = len(values) - len(defined)
    if 2 * len(defined) < len(values):
        return BootstrapInterval(None, len(values), lost)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return BootstrapInterval((float(low), float(high)), len(values), lost)


def draw_counts(times: FloatArray, replicates: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    """Blocks (b, s): how often each of s distinct items comes when n = sum(times) are drawn with replacement."""
    s, n = len(times), int(times.sum())
    by_index = 2 * s > n  # nearly all items distinct: drawing n indices costs less than s binomials
    step = max(1, CELLS // (max(s, n) if by_index else s))
    owner = np.repeat(np.arange(s), times.astype(np.int64)) if by_index else np.zeros(0, dtype=np.int64)
    for start in range(0, replicates, step):
        b = min(step, replicates - start)
        if by_index:
            drawn = owner[rng.integers(n, size=(b, n))] + s * np.arange(b)[:, None]
            yield np.bincount(drawn.ravel(), minlength=b * s).reshape(b, s).astype(np.float64)
        else:
            yield rng.multinomial(n, times / n, size=b).astype(np.float64)


def cohen_bootstrap(
    table: FloatArray, weights: FloatArray, *, replicates: int = 2000, seed: int = 0, level: float = 0.95
) -> BootstrapInterval:
    """Percentile interval of Cohen's kappa of a q x q table: the items both raters rated are drawn again."""
    if table.sum() == 0:
        return BootstrapInterval(None, replicates, replicates)
    used = np.flatnonzero(table.ravel())
    draws = draw_counts(table.ravel()[used], replicates, np.random.default_rng(seed))
    return percentile_interval(np.concatenate([kappas(drawn, used, weights) for drawn in draws]), level)


def kappas(counts: FloatArray, cells: npt.NDArray[np.intp], weights: FloatArray) -> FloatArray:
    """(b,): Cohen's kappa of tables (b, c) of which the ``cells`` (c,) of q x q, row by row, are given."""
    q = len(weights)
    rows, columns = np.eye(q)[cells // q], np.eye(q)[cells % q]
    p = _share(counts, counts.sum(axis=1, keepdims=True))
    pa = p @ weights.ravel()[cells]
    pe = ((p @ rows @ weights) * (p @ columns)).sum(axis=1)
    return _corrected(pa, pe)


@dataclass(frozen=True)
class Sums:
    """``features`` (s, f) of distinct items; ``values``: every coefficient (b,) as their sums (b, f) have it."""

    features: FloatArray
    values: Callable[[FloatArray], dict[str, FloatArray]]


def sums_of(basis: Basis, names: Sequence[str], counts: FloatArray, metric: Metric = "nominal") -> Sums:
    """Of the coefficients named, for items with the ``counts`` (s, q): for Conger the patterns of the basis."""
    parts = [_anonymous(basis, [name for name in names if name in ANONYMOUS], counts, metric)]
    if "conger" in names:
        parts.append(_conger(basis))
    ends = np.cumsum([part.features.shape[1] for part in parts])

    def values(sums: FloatArray) -> dict[str, FloatArray]:
        found: dict[str, FloatArray] = {}
        for part, end in zip(parts, ends, strict=True):
            found |= part.values(sums[:, end - part.features.shape[1] : end])
        return found

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
        found: dict[str, FloatArray] = {}
        for name in names:
            if name == "percent_agreement":
                found[name] = pa
            elif name in ("ac1", "ac2"):
                pe = total / (q * (q - 1)) * (1 - (pi * pi).sum(axis=1)) if q > 1 else pa * 0 + 1
                found[name] = _corrected(pa, pe)
            elif name == "fleiss":
                found[name] = _corrected(pa, _mean_product(pi, basis.weights))
            elif name == "brennan_prediger":
                found[name] = _corrected(pa, np.full(len(pa), total / q**2))
            elif name == "alpha_weighted":
                found[name] = _alpha(1 - _share(sums[:, 2], used.sum(axis=1)), used, 1 - basis.weights)
            elif alpha is not None:
                found[name] = alpha[1](sums[:, plain:], used)
        return found

    return Sums(np.hstack((features, alpha[0])) if alpha else features, values)


def _alpha_by_metric(
    basis: Basis, counts: FloatArray, size: FloatArray, pairable: npt.NDArray[np.bool_], metric: Metric
) -> tuple[FloatArray, Callable[[FloatArray, FloatArray], FloatArray]]:
    """Features (s, f); a function of their sums (b, f) and the pairable ratings of each value (b, q): alpha (b,)."""
    q, per_pair = basis.q, np.where(pairable, 1 / np.maximum(size - 1, 1), 0.0)[:, None]
    if metric != "ordinal":
        distance = distances(metric, basis.ratings.numeric, np.zeros(q))
        apart = (counts * (counts @ distance)).sum(axis=1)[:, None] * per_pair

        def fixed(sums: FloatArray, used: FloatArray) -> FloatArray:
            return _alpha(_share(sums[:, 0], used.sum(axis=1)), used, distance)

        return apart, fixed

    products = (counts[:, :, None] * counts[:, None, :]).reshape(len(counts), q * q)

    def by_rank(sums: FloatArray, used: FloatArray) -> FloatArray:
        middle = mid_ranks(used)  # (b, q): other distances in every replicate
        total = used.sum(axis=1)
        scores = middle / np.maximum(total, 1)[:, None]
        # sum over pairs k, l of an item of (C_k - C_l)^2 = 2 (r sum r_k C_k^2 - sum r_k r_l C_k C_l)
        within = (sums[:, q:].reshape(-1, q, q) * scores[:, :, None] * scores[:, None, :]).sum(axis=(1, 2))
        observed = _share(2 * ((sums[:, :q] * scores**2).sum(axis=1) - within), total)
        mean = _share((used * scores).sum(axis=1), total)
        expected = 2 * (_share((used * scores**2).sum(axis=1), total) - mean**2)
        return _alpha_of(observed, expected, total)

    return np.hstack((counts * size[:, None] * per_pair, products * per_pair)), by_rank


def _conger(basis: Basis) -> Sums:
    patterns, r, q = basis.ratings.table.patterns, basis.ratings.n_raters, basis.q
    said = (patterns[:, :, None] == np.arange(q)).reshape(len(patterns), r * q).astype(np.float64)

    def values(sums: FloatArray) -> dict[str, FloatArray]:
        counts = sums[:, 2:].reshape(-1, r, q)
        rated = counts.sum(axis=2)
        active = (rated > 0).sum(axis=1)  # a rater may fall out of a replicate
        shares = counts / np.maximum(rated, 1)[:, :, None]
        together = shares.sum(axis=1)
        own = ((shares @ basis.weights) * shares).sum(axis=(1, 2))
        pairs = np.where(active > 1, active * (active - 1), np.nan)
        pe = (((together @ basis.weights) * together).sum(axis=1) - own) / pairs
        return {"conger": _corrected(_share(sums[:, 1], sums[:, 0]), pe)}

    return Sums(np.column_stack((basis.pairable, basis.agreement, said)), values)


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
