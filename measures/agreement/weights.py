"""The eight weightings of partial agreement (Gwet, Handbook of Inter-Rater Reliability, 4th ed., ch. 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from .ratings import RatingsError

FloatArray = npt.NDArray[np.float64]
WeightName = Literal["identity", "quadratic", "linear", "ordinal", "radical", "ratio", "circular", "bipolar"]
Weights = WeightName | FloatArray
WEIGHTINGS: tuple[WeightName, ...] = get_args(WeightName)


def weight_matrix(weights: Weights, numeric: Sequence[float]) -> FloatArray:
    """Return the q x q weights between the values of a scale, with 1 on the diagonal.

    ``numeric`` are the q numbers of the scale in declared order. *identity* and *ordinal* use only their order. A
    custom matrix must be square and symmetric, with values in 0..1 and 1 on the diagonal. Raise `RatingsError`
    otherwise.
    """
    q = len(numeric)
    if not isinstance(weights, str):
        return check_weights(weights, q)
    if weights not in WEIGHTINGS:
        raise RatingsError(f"unknown weights {weights!r}: choose one of {', '.join(WEIGHTINGS)}")
    if weights == "identity" or q == 1:
        return np.eye(q)
    x = np.asarray(numeric, dtype=np.float64)
    gap = np.abs(x[:, None] - x[None, :])
    total = x[:, None] + x[None, :]
    low, high = float(x.min()), float(x.max())
    spread = high - low
    if weights == "linear":
        return 1 - gap / spread
    if weights == "quadratic":
        return 1 - (gap / spread) ** 2
    if weights == "radical":
        return 1 - np.sqrt(gap / spread)
    if weights == "ordinal":
        steps = np.abs(np.subtract.outer(np.arange(q), np.arange(q)))
        return _scaled(steps * (steps + 1) / 2)
    if weights == "ratio":
        if low < 0:
            raise RatingsError("ratio weights need a scale without negative numbers")
        return 1 - _quotient(gap, total) ** 2 / ((high - low) / (high + low)) ** 2
    if weights == "circular":
        return _scaled(np.sin(np.pi * gap / (spread + 1)) ** 2)
    return _scaled(_quotient(gap**2, (total - 2 * low) * (2 * high - total)))


def check_weights(weights: FloatArray, q: int) -> FloatArray:
    """Return a custom weight matrix as floats. Raise `RatingsError` if it is invalid."""
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.shape != (q, q):
        raise RatingsError(f"weights must be a square matrix of {q} x {q}, not of {' x '.join(map(str, matrix.shape))}")
    if not np.isfinite(matrix).all() or matrix.min() < 0 or matrix.max() > 1:
        raise RatingsError("weights must be finite and lie between 0 and 1")
    if not np.allclose(matrix, matrix.T, atol=1e-12):
        raise RatingsError("weights must be symmetric")
    if not np.allclose(np.diag(matrix), 1, atol=1e-12):
        raise RatingsError("weights must be 1 on the diagonal: a rating agrees with itself")
    return matrix


def is_identity(matrix: FloatArray) -> bool:
    return bool(np.array_equal(matrix, np.eye(len(matrix))))


def _scaled(distance: FloatArray) -> FloatArray:
    scaled: FloatArray = 1 - distance / distance.max()
    return scaled


def _quotient(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return a / b, with 0 / 0 = 0: the distance between a value and itself is 0, also for the value 0."""
    quotient: FloatArray = np.divide(a, b, out=np.zeros_like(a), where=b != 0)
    return quotient
