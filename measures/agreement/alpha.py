"""Krippendorff's alpha: by metric (nominal, ordinal, interval, ratio), and with irrCAC's weights.

Sources: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011). The weighted form and its linearised
standard error follow Gwet, Handbook (2014), ch. 2.4 and 5, as in R irrCAC. The *ordinal metric* uses distances between
mid-ranks of the given ratings. irrCAC's *ordinal weights* use ranks of the scale. The two give different values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from measures.agreement.basis import TINY, Basis, estimate, obstacle, undefined

from .basis import NO_VARIATION, Coefficient, interval_words
from .ratings import FloatArray, RatingsError

Metric = Literal["nominal", "ordinal", "interval", "ratio"]
METRICS: tuple[Metric, ...] = get_args(Metric)

_SE = "linearised SE"


def krippendorff_alpha(basis: Basis, metric: Metric = "nominal") -> Coefficient:
    """Return alpha with one of Krippendorff's metrics. The weights of the basis are ignored."""
    method = f"Krippendorff alpha, {metric} metric; {interval_words(_SE)}"
    if reason := obstacle(basis):
        return undefined(basis, "alpha", method, reason)
    counts = basis.counts
    totals = (basis.times * basis.pairable) @ counts
    return _alpha(basis, "alpha", method, distances(metric, basis.ratings.numeric, totals), metric == "ordinal")


def weighted_alpha(basis: Basis) -> Coefficient:
    """Return alpha with the weights of the basis, as irrCAC defines it. Identity weights give the nominal alpha."""
    method = f"Krippendorff alpha, irrCAC {basis.weights_name} weights; {interval_words(_SE)}"
    if reason := obstacle(basis):
        return undefined(basis, "alpha_weighted", method, reason)
    return _alpha(basis, "alpha_weighted", method, 1 - basis.weights, False)


def distances(metric: Metric, numeric: Sequence[float], totals: FloatArray) -> FloatArray:
    """Return the (q, q) squared differences between values. ``totals`` (q,) are the counts in pairable items."""
    q = len(numeric)
    if metric == "nominal":
        return 1 - np.eye(q)
    if metric == "ordinal":
        middle = mid_ranks(totals)
        return np.subtract.outer(middle, middle) ** 2
    x = np.asarray(numeric, dtype=np.float64)
    gap = np.subtract.outer(x, x)
    if metric == "interval":
        return gap**2
    if metric != "ratio":
        raise RatingsError(f"unknown metric {metric!r}: choose one of {', '.join(METRICS)}")
    total = np.add.outer(x, x)
    if x.min() < 0:
        raise RatingsError("the ratio metric needs a scale without negative numbers")
    return np.divide(gap, total, out=np.zeros_like(gap), where=total != 0) ** 2


def mid_ranks(counts: FloatArray) -> FloatArray:
    """Return the ratings below each value plus half of its own, along the last axis. Linear in the counts."""
    return np.cumsum(counts, axis=-1) - counts / 2


def _alpha(basis: Basis, name: str, method: str, distance: FloatArray, by_rank: bool) -> Coefficient:
    """Return 1 - (1 - 1/N) Do / De over the N pairable ratings, with the linearised SE.

    Do is the mean distance of pairs within items. An item weighs r_i / N, and a pair Krippendorff's 1 / (r_i - 1). De
    is the mean distance of all N^2 pairs. With ``by_rank``, the distances depend on the ratings, so the SE has a third
    term.
    """
    keep = basis.pairable > 0
    counts, times, size = basis.counts[keep], basis.times[keep], basis.size[keep]
    n, total = basis.n_pairable, float(times @ size)
    mean_size = total / n
    pi = times @ counts / total
    scale = float(distance.max())
    distance = distance / scale
    expected_distance = distance @ pi
    expected = float(pi @ expected_distance)
    if expected <= TINY:
        return undefined(basis, name, method, NO_VARIATION, n)
    item_distance = (counts * (counts @ distance)).sum(axis=1) / (size - 1)
    observed = float(times @ item_distance) / total
    shrink = 1 - 1 / total
    value = 1 - shrink * observed / expected
    relative = size / mean_size
    d_observed = item_distance / mean_size - observed * relative  # mean 0 over the pairable items
    d_expected = 2 * ((counts @ expected_distance) / mean_size - expected * relative)
    if by_rank:
        moved_observed, moved_expected = _rank_terms(counts, times, size, pi)
        d_observed = d_observed + moved_observed / scale
        d_expected = d_expected + moved_expected / scale
    influence = np.zeros(len(basis.times))
    influence[keep] = -(d_observed - d_expected * observed / expected) / expected
    return estimate(
        basis, name, method, value, influence, 1 - shrink * observed, 1 - expected, n_used=n, n_ratings=int(total)
    )


def _rank_terms(
    counts: FloatArray, times: FloatArray, size: FloatArray, pi: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return how each item changes Do and De through the mid-ranks it shifts, (s,) each.

    Let C be the mid-ranks and c_i those of item i alone. Then d (C_k - C_l)^2 = 2 (C_k - C_l)(c_ik - c_il). Its sum
    over the pairs of a symmetric matrix o is 4 c_i . (rowsum(o) C - o C), which needs no q x q work per item. A common
    scale of the distances does not change alpha, so the mean need not be subtracted.
    """
    n, total = float(times.sum()), float(times @ size)
    middle = mid_ranks(times @ counts)
    pair_weight = times / (size - 1)
    within = (counts * pair_weight[:, None]).T @ counts
    within[np.diag_indices_from(within)] -= pair_weight @ counts
    within /= total
    each = mid_ranks(counts) * n
    pull_observed = within.sum(axis=1) * middle - within @ middle
    pull_expected = pi * (middle - float(pi @ middle))
    return 4 * (each @ pull_observed), 4 * (each @ pull_expected)
