"""What all coefficients share: observed agreement per pattern and the shares of the values, computed once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from measures.agreement.patterns import FloatArray
from measures.agreement.ratings import Ratings
from measures.agreement.results import (
    NOT_ENOUGH_RATINGS,
    ONE_ITEM,
    ONE_VALUE,
    Coefficient,
    t_interval,
    width_flags,
)
from measures.agreement.weights import Weights, is_identity, weight_matrix

TINY = 1e-12
"""Below this, 1 - pe counts as zero: all ratings in one class."""


@dataclass(frozen=True, slots=True)
class Basis:
    """Per-pattern quantities of one set of ratings under one weighting.

    With s distinct patterns and q values: ``counts`` (s, q), ``times`` (s,) multiplicity, ``size`` (s,) ratings an
    item, ``pairable`` (s,) 1.0 where an item has two ratings or more, ``agreement`` (s,) the weighted share of
    agreeing pairs of an item (0 where not pairable), ``share`` (s, q) counts / size, ``pi`` (q,) its mean over all
    items: Gwet's form, in which items with one rating still count (Gwet 2014, ch. 2.4 and 5).
    """

    ratings: Ratings
    weights: FloatArray
    identity: bool
    weights_name: str
    level: float
    counts: FloatArray
    times: FloatArray
    size: FloatArray
    pairable: FloatArray
    agreement: FloatArray
    share: FloatArray
    pi: FloatArray
    n: int
    n_pairable: int
    pa: float

    @property
    def q(self) -> int:
        return len(self.weights)


def prepare(ratings: Ratings, weights: Weights = "identity", level: float = 0.95) -> Basis:
    """The shared quantities of ``ratings`` under ``weights`` (a name, or a q x q matrix)."""
    matrix = weight_matrix(weights, ratings.numeric)
    identity = weights == "identity" if isinstance(weights, str) else is_identity(matrix)
    table = ratings.table
    counts, times = table.counts, table.multiplicity
    size = counts.sum(axis=1)
    pairable = (size >= 2).astype(np.float64)
    agreement = item_agreement(counts, size, matrix, identity)
    share = counts / size[:, None]
    n = int(times.sum())
    n_pairable = int(times @ pairable)
    name = weights if isinstance(weights, str) else "custom"
    return Basis(
        ratings, matrix, identity, name, level, counts, times, size, pairable, agreement, share,
        times @ share / n if n else np.zeros(len(matrix)),
        n, n_pairable,
        float(times @ agreement / n_pairable) if n_pairable else 0.0,
    )  # fmt: skip


def item_agreement(counts: FloatArray, size: FloatArray, weights: FloatArray, identity: bool) -> FloatArray:
    """Shape (s,): the weighted share of agreeing pairs among an item's ratings; 0 where there is no pair."""
    near = counts if identity else counts @ weights
    agreeing = (counts * (near - 1)).sum(axis=1)
    shares: FloatArray = np.divide(agreeing, size * (size - 1), out=np.zeros_like(size), where=size >= 2)
    return shares


def obstacle(basis: Basis) -> str | None:
    """Why no chance-corrected coefficient exists at all on these ratings, or None."""
    if basis.n_pairable == 0:
        return NOT_ENOUGH_RATINGS
    return ONE_VALUE if basis.q < 2 else None


def undefined(basis: Basis, name: str, method: str, why: str, n: int | None = None, flag: str = "") -> Coefficient:
    ratings = basis.ratings
    items = basis.n if n is None else n
    flags = (flag,) if flag else ()
    return Coefficient(
        name, None, None, None, method, items, ratings.n_raters, ratings.n_ratings, undefined=why, flags=flags
    )


def corrected(
    basis: Basis, name: str, method: str, pe: float, excess: FloatArray | None = None, flags: tuple[str, ...] = ()
) -> Coefficient:
    """(pa - pe) / (1 - pe) with Gwet's linearised variance (Gwet 2008; 2014, eq. 5.8 ff.).

    ``excess`` (s,) is each pattern's share in the variation of pe: the linear term of pe, so that its weighted mean
    over items is 0. Variance = sum of squared influences / (n (n - 1)), on all n items.
    """
    rest = 1 - pe
    value = (basis.pa - pe) / rest
    influence = basis.pairable * (basis.agreement - pe) * (basis.n / basis.n_pairable / rest) - value
    if excess is not None:
        influence = influence - excess * ((1 - value) / rest)
    return estimate(basis, name, method, value, influence, basis.pa, pe, flags)


def estimate(
    basis: Basis,
    name: str,
    method: str,
    value: float,
    influence: FloatArray,
    pa: float | None,
    pe: float | None,
    flags: tuple[str, ...] = (),
    *,
    n_used: int | None = None,
    n_ratings: int | None = None,
    least: float = -math.inf,
) -> Coefficient:
    """A coefficient from its value and the influence (s,) of each pattern.

    ``n_used`` items carry the variance (all n, unless the coefficient leaves some out); the degrees of freedom are
    those of all n items, as in R irrCAC. ``least``: what the value cannot be below.
    """
    n, raters = (basis.n if n_used is None else n_used), basis.ratings.n_raters
    ratings = basis.ratings.n_ratings if n_ratings is None else n_ratings
    if n < 2:
        return Coefficient(name, value, None, None, method, n, raters, ratings, flags=(*flags, ONE_ITEM), pa=pa, pe=pe)
    se = math.sqrt(float((basis.times * influence) @ influence) / n / (n - 1))
    if se <= TINY:
        se = 0.0
    ci = t_interval(value, se, basis.n, basis.level, least)
    flags = flags + width_flags(se, basis.pa, alike=len(basis.times) == 1)
    return Coefficient(name, value, se, ci, method, n, raters, ratings, flags=flags, pa=pa, pe=pe)
