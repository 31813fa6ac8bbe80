"""Agreement by rater pair, by value and by item: Cohen's kappa, Bangdiwala's B, confusion, contested items."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

import numpy as np

from .basis import (
    NO_VARIATION,
    NOT_ENOUGH_RATINGS,
    ONE_ITEM,
    TINY,
    Basis,
    Coefficient,
    interval_words,
    prepare,
    t_interval,
    width_flags,
)
from .clusters import Clusters, cohen_over_reviews, over_reviews
from .coefficients import fleiss, gwet_ac
from .ratings import FloatArray, Label, Ratings
from .weights import Weights, is_identity, weight_matrix


@dataclass(frozen=True, slots=True)
class Pair:
    """Two raters. ``table`` (q, q) counts the items that both rated, with the first rater in rows."""

    raters: tuple[Hashable, Hashable]
    table: FloatArray
    kappa: Coefficient
    percent: float | None

    @property
    def n(self) -> int:
        return int(self.table.sum())


def joint_table(ratings: Ratings, first: int, second: int) -> FloatArray:
    """Return the (q, q) counts of items with row k by rater ``first`` and column l by rater ``second``."""
    patterns, times, q = ratings.table.patterns, ratings.table.multiplicity, ratings.q
    a, b = patterns[:, first].astype(np.int64), patterns[:, second].astype(np.int64)
    both = (a >= 0) & (b >= 0)
    table = np.bincount(a[both] * q + b[both], weights=times[both], minlength=q * q)
    return table.reshape(q, q).astype(np.float64)


def cohen_kappa(table: FloatArray, weights: FloatArray | None = None, level: float = 0.95) -> Coefficient:
    """Return Cohen's (weighted) kappa of a q x q table of counts.

    The SE is the asymptotic one of Fleiss, Cohen and Everitt (Psychological Bulletin 72, 1969), as printed by SAS and R
    irrCAC. Kappa is undefined without a common item, or if both raters use one and the same class only.
    """
    w = np.eye(len(table)) if weights is None else weights
    label = "Cohen kappa" if is_identity(w) else "weighted Cohen kappa"
    method = f"{label}; {interval_words('Fleiss-Cohen-Everitt SE')}"
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
    """Return Bangdiwala's B (1985) of two raters: squared agreements divided by the product of the margins."""
    method = f"Bangdiwala B; {interval_words('delta-method SE')}"
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
    name: str,
    method: str,
    value: float,
    cell: FloatArray,
    p: FloatArray,
    n: int,
    level: float,
    pa: float,
    pe: float | None,
) -> Coefficient:
    """Return a coefficient with SE = standard deviation of the cells' influence under the shares p, / sqrt(n)."""
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
    """Return all r (r - 1) / 2 pairs of raters, in the order of the raters."""
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
    """Rater x rater matrices: Cohen's kappa, percent agreement, and common items.

    Kappa and percent agreement are None if undefined, and on the diagonal.
    """

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
    """Return the symmetric matrices of the heat map. The diagonal of ``n`` counts the items each rater rated."""
    r = ratings.n_raters
    index_of = {rater: i for i, rater in enumerate(ratings.raters)}
    kappa: list[list[float | None]] = [[None] * r for _ in range(r)]
    percent: list[list[float | None]] = [[None] * r for _ in range(r)]
    n = [[0] * r for _ in range(r)]
    for g in range(r):
        n[g][g] = int(np.count_nonzero(ratings.codes[g] >= 0))
    for pair in pairs:
        g, h = index_of[pair.raters[0]], index_of[pair.raters[1]]
        kappa[g][h] = kappa[h][g] = pair.kappa.value
        percent[g][h] = percent[h][g] = pair.percent
        n[g][h] = n[h][g] = pair.n
    return PairMatrix(ratings.raters, tuple(map(tuple, kappa)), tuple(map(tuple, percent)), tuple(map(tuple, n)))


def pooled_confusion(pairs: tuple[Pair, ...], q: int) -> FloatArray:
    """Return the symmetric (q, q) counts of ordered pairs of ratings of one item. Each unordered pair counts twice."""
    total = np.zeros((q, q))
    for pair in pairs:
        total += pair.table + pair.table.T
    return total


NEVER_USED = "never used"


@dataclass(frozen=True, slots=True)
class CategoryAgreement:
    """Agreement on one value of the scale.

    ``specific`` is the probability that a second rater gives the value, given that one did (Cicchetti and Feinstein
    1990; for several raters Fleiss 1981): sum r_k (r_k - 1) / sum r_k (r - 1). It is None if ``undefined`` gives the
    reason. ``n_ratings`` and ``n_items`` count the ratings with this value, and the items with such a rating. ``ac1``
    and ``fleiss`` compare the value with the rest.
    """

    label: Label
    n_ratings: int
    n_items: int
    specific: float | None
    undefined: str | None
    ac1: Coefficient
    fleiss: Coefficient

    def as_json(self) -> dict[str, object]:
        return {
            "label": self.label,
            "n": self.n_ratings,
            "units": self.n_items,
            "specific": self.specific,
            "undefined": self.undefined,
            "one_vs_rest": {"ac1": _short(self.ac1), "fleiss": _short(self.fleiss)},
        }


def category_agreement(
    ratings: Ratings, level: float = 0.95, clusters: Clusters | None = None
) -> tuple[CategoryAgreement, ...]:
    """Return the agreement on each value of the scale, in scale order."""
    table = ratings.table
    counts, times = table.counts, table.multiplicity
    size = counts.sum(axis=1)
    results = []
    for k, label in enumerate(ratings.scale):
        value_counts = counts[:, k]
        used = int(times @ value_counts)
        possible = float(times @ (value_counts * (size - 1)))
        same = float(times @ (value_counts * (value_counts - 1)))
        reason = None if possible else NOT_ENOUGH_RATINGS if used else NEVER_USED
        one_vs_rest = one_against_rest(ratings, k, level)
        coefficients = {"ac1": gwet_ac(one_vs_rest), "fleiss": fleiss(one_vs_rest)}
        over = over_reviews(one_vs_rest, coefficients, clusters.again(one_vs_rest.ratings)) if clusters else {}
        results.append(
            CategoryAgreement(
                label,
                used,
                int(times[value_counts > 0].sum()),
                same / possible if possible else None,
                reason,
                **{name: coefficient.with_reviews(over.get(name)) for name, coefficient in coefficients.items()},
            )
        )
    return tuple(results)


def one_against_rest(ratings: Ratings, k: int, level: float = 0.95) -> Basis:
    """Return the basis of the ratings recoded to value k and any other value."""
    codes = np.where(ratings.codes < 0, -1, (ratings.codes != k).astype(np.int8)).astype(np.int8)
    two = Ratings.from_codes(codes, ["this", "other"], raters=ratings.raters)
    return prepare(two, "identity", level)


def _short(result: Coefficient) -> dict[str, object]:
    if result.value is None:
        return {"value": None, "undefined": result.undefined}
    return {"value": result.value, **result.interval_json()}


@dataclass(frozen=True, slots=True)
class ContestedItem:
    """An item without full agreement.

    ``agreement`` is the (weighted) share of agreeing pairs. ``ratings`` are (rater, value) pairs.
    """

    item: Hashable
    agreement: float
    ratings: tuple[tuple[Hashable, Label], ...]

    def as_json(self) -> dict[str, object]:
        ratings = [{"rater": rater, "value": value} for rater, value in self.ratings]
        return {"item": self.item, "agreement": self.agreement, "ratings": ratings}


def most_contested(basis: Basis, limit: int = 20) -> tuple[ContestedItem, ...]:
    """Return at most ``limit`` items without full agreement, lowest agreement first. Ties keep the order of items."""
    ratings = basis.ratings
    doubtful = (basis.pairable > 0) & (basis.agreement < 1 - TINY)
    if limit < 1 or not doubtful.any():
        return ()
    pattern = ratings.table.pattern_of_item
    score = np.where(doubtful, basis.agreement, np.inf)[pattern]
    chosen = np.flatnonzero(np.isfinite(score))
    chosen = chosen[np.argsort(score[chosen], kind="stable")[:limit]]
    return tuple(
        ContestedItem(ratings.items[i], float(score[i]), _ratings_of_item(basis, int(i))) for i in chosen.tolist()
    )


def _ratings_of_item(basis: Basis, item: int) -> tuple[tuple[Hashable, Label], ...]:
    ratings = basis.ratings
    labels = ((rater, ratings.label_of(g, item)) for g, rater in enumerate(ratings.raters))
    return tuple((rater, label) for rater, label in labels if label is not None)
