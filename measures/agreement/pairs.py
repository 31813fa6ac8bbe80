"""Two raters at a time: Cohen's kappa, percent agreement, the matrix of all pairs, confusion, Bangdiwala's B."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from measures.agreement.basis import TINY
from measures.agreement.clusters import Clusters, cohen_over_reviews
from measures.agreement.patterns import FloatArray
from measures.agreement.ratings import Ratings
from measures.agreement.results import (
    NO_VARIATION,
    NOT_ENOUGH_RATINGS,
    ONE_ITEM,
    Coefficient,
    t_interval,
    width_flags,
)
from measures.agreement.weights import Weights, is_identity, weight_matrix


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters: ``table`` (q, q) counts items both rated, rows the first rater, columns the second."""

    raters: tuple[Hashable, Hashable]
    table: FloatArray
    kappa: Coefficient
    percent: float | None

    @property
    def n(self) -> int:
        return int(self.table.sum())


def joint_table(ratings: Ratings, first: int, second: int) -> FloatArray:
    """(q, q): how many items rater ``first`` put in row k and rater ``second`` in column l."""
    patterns, times, q = ratings.table.patterns, ratings.table.multiplicity, ratings.q
    a, b = patterns[:, first].astype(np.int64), patterns[:, second].astype(np.int64)
    both = (a >= 0) & (b >= 0)
    table = np.bincount(a[both] * q + b[both], weights=times[both], minlength=q * q)
    return table.reshape(q, q).astype(np.float64)


def cohen_kappa(table: FloatArray, weights: FloatArray | None = None, level: float = 0.95) -> Coefficient:
    """Cohen's (weighted) kappa of a q x q table of counts.

    SE: the asymptotic one of Fleiss, Cohen and Everitt (Psychological Bulletin 72, 1969), as SAS and R irrCAC's
    tables print it. Undefined without variation (both raters in one and the same class) and without a common item.
    """
    w = np.eye(len(table)) if weights is None else weights
    label = "Cohen kappa" if is_identity(w) else "weighted Cohen kappa"
    method = f"{label}; Fleiss-Cohen-Everitt SE, t interval with n-1 df"
    n = int(table.sum())
    if n == 0:
        return Coefficient("cohen", None, None, None, method, 0, 2, 0, undefined=NOT_ENOUGH_RATINGS)
    p = table / n
    row, column = p.sum(axis=1), p.sum(axis=0)
    near_column, near_row = w @ column, row @ w
    pa, pe = float((w * p).sum()), float(row @ near_column)
    if 1 - pe <= TINY:
        return Coefficient("cohen", None, None, None, method, n, 2, 2 * n, undefined=NO_VARIATION)
    kappa = (pa - pe) / (1 - pe)
    cell = w - (near_column[:, None] + near_row[None, :]) * (1 - kappa)
    return _from_cells("cohen", method, kappa, cell / (1 - pe), p, n, level, pa, pe)


def bangdiwala_b(table: FloatArray, level: float = 0.95) -> Coefficient:
    """Bangdiwala's B (1985) of two raters: the squared agreements over the product of the margins."""
    method = "Bangdiwala B; delta-method SE, t interval with n-1 df"
    n = int(table.sum())
    if n == 0:
        return Coefficient("bangdiwala", None, None, None, method, 0, 2, 0, undefined=NOT_ENOUGH_RATINGS)
    p = table / n
    row, column, diagonal = p.sum(axis=1), p.sum(axis=0), np.diag(p)
    area = float(row @ column)
    if area <= TINY:
        return Coefficient("bangdiwala", None, None, None, method, n, 2, 2 * n, undefined=NO_VARIATION)
    value = float(diagonal @ diagonal) / area
    cell = (2 * np.diag(diagonal) - value * (column[:, None] + row[None, :])) / area
    return _from_cells("bangdiwala", method, value, cell, p, n, level, float(diagonal.sum()), None)


def _from_cells(
    name: str, method: str, value: float, cell: FloatArray, p: FloatArray, n: int, level: float, pa: float,
    pe: float | None,
) -> Coefficient:  # fmt: skip
    """SE = the standard deviation of each cell's influence over the shares p, divided by sqrt(n)."""
    if n < 2:
        return Coefficient(name, value, None, None, method, n, 2, 2 * n, flags=(ONE_ITEM,), pa=pa, pe=pe)
    mean = float((p * cell).sum())
    se = float(np.sqrt(max(float((p * (cell - mean) ** 2).sum()), 0.0) / n))
    se = se if se > TINY else 0.0
    ci = t_interval(value, se, n, level)
    return Coefficient(
        name, value, se, ci, method, n, 2, 2 * n, flags=width_flags(se, pa, alike=bool(p.max() == 1)), pa=pa, pe=pe
    )


def all_pairs(
    ratings: Ratings, weights: Weights = "identity", level: float = 0.95, clusters: Clusters | None = None
) -> tuple[Pair, ...]:
    """Every pair of raters, in their order: r (r - 1) / 2 of them."""
    matrix = weight_matrix(weights, ratings.numeric)
    return tuple(_pairs(ratings, matrix, level, clusters))


def _pairs(ratings: Ratings, matrix: FloatArray, level: float, clusters: Clusters | None) -> Iterator[Pair]:
    for g in range(ratings.n_raters):
        for h in range(g + 1, ratings.n_raters):
            table = joint_table(ratings, g, h)
            n = table.sum()
            percent = float(np.trace(table) / n) if n else None
            kappa = cohen_kappa(table, matrix, level)
            if clusters:
                kappa = kappa.with_reviews(cohen_over_reviews(kappa, g, h, matrix, clusters, level))
            yield Pair((ratings.raters[g], ratings.raters[h]), table, kappa, percent)


@dataclass(frozen=True, slots=True)
class PairMatrix:
    """Rater x rater: Cohen's kappa, percent agreement (None where undefined, and on the diagonal), common items."""

    raters: tuple[Hashable, ...]
    kappa: tuple[tuple[float | None, ...], ...]
    percent: tuple[tuple[float | None, ...], ...]
    n: tuple[tuple[int, ...], ...]

    def as_json(self) -> dict[str, object]:
        return {
            "raters": list(self.raters),
            "kappa": [list(row) for row in self.kappa],
            "percent": [list(row) for row in self.percent],
            "n": [list(row) for row in self.n],
        }


def pair_matrix(ratings: Ratings, pairs: tuple[Pair, ...]) -> PairMatrix:
    """The symmetric matrices of the heat map; the diagonal of ``n`` holds how many items each rater rated."""
    r = ratings.n_raters
    at = {rater: i for i, rater in enumerate(ratings.raters)}
    kappa: list[list[float | None]] = [[None] * r for _ in range(r)]
    percent: list[list[float | None]] = [[None] * r for _ in range(r)]
    n = [[0] * r for _ in range(r)]
    for g in range(r):
        n[g][g] = int(np.count_nonzero(ratings.codes[g] >= 0))
    for pair in pairs:
        g, h = at[pair.raters[0]], at[pair.raters[1]]
        kappa[g][h] = kappa[h][g] = pair.kappa.value
        percent[g][h] = percent[h][g] = pair.percent
        n[g][h] = n[h][g] = pair.n
    return PairMatrix(ratings.raters, tuple(map(tuple, kappa)), tuple(map(tuple, percent)), tuple(map(tuple, n)))


def pooled_confusion(pairs: tuple[Pair, ...], q: int) -> FloatArray:
    """(q, q), symmetric: ordered pairs of ratings of one item by two raters; each unordered pair enters twice."""
    total = np.zeros((q, q))
    for pair in pairs:
        total += pair.table + pair.table.T
    return total
