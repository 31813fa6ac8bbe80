"""Percentile bootstrap over items, by multinomial counts on what is distinct.

Drawing n items with replacement is drawing how often each distinct item comes. What ignores who said what needs the
distinct *count vectors* (20 for 1,900 items of three ratings in four classes); Conger and Cohen need the distinct
rater patterns. Every coefficient is then a function of sums that are linear in these counts: one matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from measures.agreement.alpha import Metric, distances, mid_ranks
from measures.agreement.basis import TINY, Basis, item_agreement
from measures.agreement.patterns import FloatArray
from measures.agreement.results import Interval

ANONYMOUS = ("percent_agreement", "ac1", "ac2", "fleiss", "brennan_prediger", "alpha", "alpha_weighted")
NAMED = ("conger",)

_CELLS = 1 << 21
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
    if anonymous := [name for name in names if name in ANONYMOUS]:
        values |= _anonymous(basis, anonymous, replicates, seed, metric)
    if "conger" in names:
        values["conger"] = _conger(basis, replicates, seed)
    return {name: percentile_interval(values[name], basis.level) for name in names}


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
    step = max(1, _CELLS // (max(s, n) if by_index else s))
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
    q = len(table)
    used = np.flatnonzero(table.ravel())
    rows, columns = np.eye(q)[used // q], np.eye(q)[used % q]
    kappas = []
    for drawn in draw_counts(table.ravel()[used], replicates, np.random.default_rng(seed)):
        p = drawn / table.sum()
        pa = p @ weights.ravel()[used]
        pe = ((p @ rows @ weights) * (p @ columns)).sum(axis=1)
        kappas.append(_corrected(pa, pe))
    return percentile_interval(np.concatenate(kappas), level)


def _anonymous(basis: Basis, names: Sequence[str], replicates: int, seed: int, metric: Metric) -> dict[str, FloatArray]:
    counts, times = basis.ratings.table.count_vectors
    q, n = basis.q, basis.n
    if n == 0:
        return {name: np.full(replicates, np.nan) for name in names}
    size = counts.sum(axis=1)
    pairable = size >= 2
    agreement = item_agreement(counts, size, basis.weights, basis.identity)
    paired = counts * pairable[:, None]
    features = np.column_stack((pairable, agreement, agreement * size, counts / size[:, None], paired))
    alpha = _alpha_by_metric(basis, counts, size, pairable, metric) if "alpha" in names else None
    found: dict[str, list[FloatArray]] = {name: [] for name in names}
    for drawn in draw_counts(times, replicates, np.random.default_rng(seed)):
        sums = drawn @ features
        items = sums[:, 0]
        items = np.where(items > 0, items, np.nan)
        pa, pi, used = sums[:, 1] / items, sums[:, 3 : 3 + q] / n, sums[:, 3 + q :]
        for name in names:
            if name == "percent_agreement":
                found[name].append(pa)
            elif name in ("ac1", "ac2"):
                pe = float(basis.weights.sum()) / (q * (q - 1)) * (1 - (pi * pi).sum(axis=1)) if q > 1 else pa * 0 + 1
                found[name].append(_corrected(pa, pe))
            elif name == "fleiss":
                found[name].append(_corrected(pa, _mean_product(pi, basis.weights)))
            elif name == "brennan_prediger":
                found[name].append(_corrected(pa, np.full(len(pa), float(basis.weights.sum()) / q**2)))
            elif name == "alpha_weighted":
                found[name].append(_alpha(1 - sums[:, 2] / used.sum(axis=1), used, 1 - basis.weights))
            elif alpha is not None:
                found[name].append(alpha(drawn, used))
    return {name: np.concatenate(blocks) for name, blocks in found.items()}


def _alpha_by_metric(
    basis: Basis, counts: FloatArray, size: FloatArray, pairable: npt.NDArray[np.bool_], metric: Metric
) -> Callable[[FloatArray, FloatArray], FloatArray]:
    """A function of the drawn counts (b, s) and the pairable ratings of each value (b, q): alpha (b,)."""
    per_pair = np.where(pairable, 1 / np.maximum(size - 1, 1), 0.0)
    if metric != "ordinal":
        distance = distances(metric, basis.ratings.numeric, np.zeros(basis.q))
        apart = (counts * (counts @ distance)).sum(axis=1) * per_pair

        def fixed(drawn: FloatArray, used: FloatArray) -> FloatArray:
            return _alpha(_share(drawn @ apart, used.sum(axis=1)), used, distance)

        return fixed

    def by_rank(drawn: FloatArray, used: FloatArray) -> FloatArray:
        middle = mid_ranks(used)  # (b, q): other distances in every replicate
        total = used.sum(axis=1)
        scores = middle / np.maximum(total, 1)[:, None]
        # sum over pairs k, l of an item of (C_k - C_l)^2 = 2 (r sum r_k C_k^2 - (sum r_k C_k)^2)
        squares = scores**2 @ counts.T * size - (scores @ counts.T) ** 2
        observed = _share(2 * (drawn * squares * per_pair).sum(axis=1), total)
        mean = _share((used * scores).sum(axis=1), total)
        expected = 2 * (_share((used * scores**2).sum(axis=1), total) - mean**2)
        return _alpha_of(observed, expected, total)

    return by_rank


def _conger(basis: Basis, replicates: int, seed: int) -> FloatArray:
    patterns, r, q = basis.ratings.table.patterns, basis.ratings.n_raters, basis.q
    if r < 2 or basis.n == 0:
        return np.full(replicates, np.nan)
    said = (patterns[:, :, None] == np.arange(q)).reshape(len(patterns), r * q).astype(np.float64)
    features = np.column_stack((basis.pairable, basis.agreement, said))
    blocks = []
    for drawn in draw_counts(basis.times, replicates, np.random.default_rng(seed)):
        sums = drawn @ features
        counts = sums[:, 2:].reshape(-1, r, q)
        rated = counts.sum(axis=2)
        active = (rated > 0).sum(axis=1)  # a rater may fall out of a replicate
        shares = counts / np.maximum(rated, 1)[:, :, None]
        together = shares.sum(axis=1)
        own = ((shares @ basis.weights) * shares).sum(axis=(1, 2))
        pairs = np.where(active > 1, active * (active - 1), np.nan)
        pe = (((together @ basis.weights) * together).sum(axis=1) - own) / pairs
        blocks.append(_corrected(_share(sums[:, 1], sums[:, 0]), pe))
    return np.concatenate(blocks)


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
