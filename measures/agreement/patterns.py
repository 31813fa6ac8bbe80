"""Distinct rater patterns and their multiplicity.

A thousand items rated by three people in four classes show at most 125 different patterns, and every coefficient
and standard error is a weighted sum over items: computed on distinct patterns it is exact and hundreds of times
cheaper. A pattern is found by its key in base q + 1 (digit 0 = missing).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.signedinteger[Any]]

_COUNTABLE = 1 << 20
"""Keys below this are counted directly; a count array of 8 MB still fits the cache better than a sort."""
_SORTABLE = 1 << 62


@dataclass(frozen=True)
class PatternTable:
    """``patterns`` (s, r): codes, -1 missing; ``multiplicity`` (s,): how many items show each; ``q``: scale size."""

    patterns: IntArray
    multiplicity: FloatArray
    q: int
    codes: IntArray

    @cached_property
    def counts(self) -> FloatArray:
        """Shape (s, q): how many raters of a pattern chose each value."""
        return count_values(self.patterns, self.q)

    @cached_property
    def count_vectors(self) -> tuple[FloatArray, FloatArray]:
        """Distinct rows of ``counts`` with multiplicity: enough for everything that ignores who said what."""
        s, q = self.counts.shape
        base = self.patterns.shape[1] + 1
        if s == 0:
            return self.counts, self.multiplicity
        if base**q < _SORTABLE:
            keys = self.counts.astype(np.int64) @ (base ** np.arange(q, dtype=np.int64))
            _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        else:
            _, first, inverse = np.unique(self.counts, axis=0, return_index=True, return_inverse=True)
        times = np.bincount(inverse.ravel(), weights=self.multiplicity, minlength=len(first))
        return self.counts[first], times.astype(np.float64)

    @cached_property
    def pattern_of_item(self) -> npt.NDArray[np.intp]:
        """Shape (n,): the row of ``patterns`` that each item shows."""
        r, n = self.codes.shape
        base = self.q + 1
        if n == 0:
            return np.zeros(0, dtype=np.intp)
        if base**r < _SORTABLE:
            return np.searchsorted(_keys(self.patterns.T, base), _keys(self.codes, base))
        _, inverse = np.unique(self.codes.T, axis=0, return_inverse=True)
        return inverse.ravel()


def count_values(patterns: IntArray, q: int) -> FloatArray:
    """Shape (s, q): how often each row of ``patterns`` (s, r) holds each code; -1 is not counted."""
    s, r = patterns.shape
    counts = np.zeros((s, q + 1))
    rows = np.arange(s)
    for g in range(r):
        counts[rows, patterns[:, g]] += 1  # -1 falls into the last column, which is cut off
    return counts[:, :q]


def distinct_patterns(codes: IntArray, q: int) -> PatternTable:
    """The distinct columns of rater-major ``codes`` (r, n), in ascending order of key, and how often each comes."""
    r, n = codes.shape
    base = q + 1
    if n == 0 or r == 0:
        return PatternTable(np.zeros((0, r), dtype=np.int64), np.zeros(0), q, codes)
    if base**r <= _COUNTABLE:
        times = np.bincount(_keys(codes, base), minlength=1)
        present = np.flatnonzero(times)
        return PatternTable(_digits(present, base, r), times[present].astype(np.float64), q, codes)
    if base**r < _SORTABLE:
        present, times = np.unique(_keys(codes, base), return_counts=True)
        return PatternTable(_digits(present, base, r), times.astype(np.float64), q, codes)
    rows, times = np.unique(codes.T, axis=0, return_counts=True)
    return PatternTable(rows, times.astype(np.float64), q, codes)


def _keys(codes: IntArray, base: int) -> IntArray:
    """One number a column of ``codes`` (r, n), its digits being the codes + 1 with the first rater most significant."""
    r = len(codes)
    dtype = np.int32 if base**r < 1 << 31 else np.int64
    keys: IntArray = codes[0].astype(dtype)
    keys += 1
    for g in range(1, r):
        keys *= base
        keys += codes[g]
        keys += 1
    return keys


def _digits(keys: IntArray, base: int, r: int) -> IntArray:
    digits = np.empty((len(keys), r), dtype=np.int64)
    rest: IntArray = keys.astype(np.int64)
    for g in range(r - 1, -1, -1):
        rest, digit = np.divmod(rest, base)
        digits[:, g] = digit - 1
    return digits
