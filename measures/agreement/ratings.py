"""Ratings as integer codes on a declared scale."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.signedinteger[Any]]

_COUNTABLE = 1 << 20
"""Keys below this are counted directly: a count array of 8 MB uses the cache better than a sort."""
_SORTABLE = 1 << 62


@dataclass(frozen=True)
class PatternTable:
    """Distinct rater patterns.

    ``patterns`` (s, r) holds codes, with -1 for missing. ``multiplicity`` (s,) is the number of items with each
    pattern. ``q`` is the size of the scale.
    """

    patterns: IntArray
    multiplicity: FloatArray
    q: int
    codes: IntArray

    @cached_property
    def counts(self) -> FloatArray:
        """Number of raters of a pattern that chose each value, (s, q)."""
        return count_values(self.patterns, self.q)

    @cached_property
    def count_vectors(self) -> tuple[FloatArray, FloatArray]:
        """Distinct rows of ``counts`` with multiplicity, for coefficients that ignore the raters' identity."""
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
        """Index into ``patterns`` of each item, (n,)."""
        r, n = self.codes.shape
        base = self.q + 1
        if n == 0:
            return np.zeros(0, dtype=np.intp)
        if base**r < _SORTABLE:
            return np.searchsorted(_keys(self.patterns.T, base), _keys(self.codes, base))
        _, inverse = np.unique(self.codes.T, axis=0, return_inverse=True)
        return inverse.ravel()


def count_values(patterns: IntArray, q: int) -> FloatArray:
    """Return how often each row of ``patterns`` (s, r) contains each code, (s, q). -1 is not counted."""
    s, r = patterns.shape
    counts = np.zeros((s, q + 1))
    rows = np.arange(s)
    for g in range(r):
        counts[rows, patterns[:, g]] += 1  # -1 indexes the last column, which is dropped
    return counts[:, :q]


def distinct_patterns(codes: IntArray, q: int) -> PatternTable:
    """Return the distinct columns of rater-major ``codes`` (r, n), in ascending order of key, with multiplicity."""
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
    """Return one number per column of ``codes`` (r, n). Its digits are the codes + 1, first rater most significant."""
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


class RatingsError(ValueError):
    """The given ratings, scale or weights are invalid. The message lists the problems."""


class AgreementDataError(RatingsError):
    """The figures cannot come from one set of nominal ratings (unweighted Fleiss exceeds AC1)."""


Label = str | float

_LISTED = 10


@dataclass(frozen=True)
class Ratings:
    """Ratings of ``n`` items by ``r`` raters on a declared scale of ``q`` values.

    ``codes`` is rater-major, shape (r, n). It holds the index of the value in ``scale``, or -1 for a missing rating.
    Items and raters without any rating are left out, which ``warnings`` states. ``numeric`` holds the q numbers that
    distances are computed from. The default is the scale itself if it is numeric, else the ranks 1..q in the declared
    order.
    """

    items: Sequence[Hashable]
    raters: tuple[Hashable, ...]
    scale: tuple[Label, ...]
    numeric: tuple[float, ...]
    codes: IntArray
    warnings: tuple[str, ...] = ()

    @property
    def n_items(self) -> int:
        return int(self.codes.shape[1])

    @property
    def n_raters(self) -> int:
        return int(self.codes.shape[0])

    @property
    def q(self) -> int:
        return len(self.scale)

    @cached_property
    def n_ratings(self) -> int:
        return int(np.count_nonzero(self.codes >= 0))

    @cached_property
    def missing_share(self) -> float | None:
        """Share of the item x rater cells without a rating. None if there is no cell."""
        cells = self.n_items * self.n_raters
        return 1 - self.n_ratings / cells if cells else None

    @cached_property
    def table(self) -> PatternTable:
        """The distinct rater patterns with multiplicity. Every statistic is computed from them."""
        return distinct_patterns(self.codes, self.q)

    def label_of(self, rater: int, item: int) -> Label | None:
        code = int(self.codes[rater, item])
        return self.scale[code] if code >= 0 else None

    @classmethod
    def from_triples(
        cls,
        triples: Iterable[tuple[Hashable, Hashable, Label | None]],
        scale: Sequence[Label],
        numeric: Sequence[float] | None = None,
        *,
        raters: Sequence[Hashable] = (),
        items: Sequence[Hashable] = (),
    ) -> Ratings:
        """Return ratings from (item, rater, value) triples. A value of None or NaN is missing.

        ``raters`` and ``items`` fix the order. Expected raters and items without ratings cause a warning. Raise
        `RatingsError` for a duplicate (item, rater), labels outside the scale (listed), and infinities.
        """
        labels, numbers = check_scale(scale, numeric)
        index = {label: code for code, label in enumerate(labels)}
        rows = {rater: i for i, rater in enumerate(raters)}
        columns = {item: i for i, item in enumerate(items)}
        at_row: list[int] = []
        at_column: list[int] = []
        values: list[int] = []
        unknown: dict[str, None] = {}
        infinite = 0
        for item, rater, value in triples:
            at_row.append(rows.setdefault(rater, len(rows)))
            at_column.append(columns.setdefault(item, len(columns)))
            code = index.get(value, -2) if value is not None else -1
            if code == -2:
                if isinstance(value, float) and math.isnan(value):
                    code = -1
                elif isinstance(value, float) and math.isinf(value):
                    infinite += 1
                else:
                    unknown[repr(value)] = None
            values.append(code)
        if infinite:
            raise RatingsError(f"{infinite} ratings are infinite")
        if unknown:
            raise RatingsError(f"labels outside the scale: {_list_names(list(unknown))}")
        row, column = np.asarray(at_row, dtype=np.int64), np.asarray(at_column, dtype=np.int64)
        keys, first, times = np.unique(row * max(len(columns), 1) + column, return_index=True, return_counts=True)
        if len(keys) < len(row):
            names_r, names_i = list(rows), list(columns)
            duplicates = [f"({names_i[column[i]]!r}, {names_r[row[i]]!r})" for i in first[times > 1].tolist()]
            raise RatingsError(f"more than one rating of the same (item, rater): {_list_names(duplicates)}")
        codes = np.full((len(rows), len(columns)), -1, dtype=code_dtype(len(labels)))
        codes[row, column] = np.asarray(values, dtype=codes.dtype)
        return cls._of(codes, tuple(columns), tuple(rows), labels, numbers)

    @classmethod
    def from_matrix(
        cls,
        matrix: Sequence[Sequence[Label | None]],
        scale: Sequence[Label],
        numeric: Sequence[float] | None = None,
        *,
        items: Sequence[Hashable] | None = None,
        raters: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Return ratings from a matrix of items x raters. None and NaN are missing. Raise as `from_triples`."""
        rows = list(matrix)
        width = len(rows[0]) if rows else len(raters or ())
        if any(len(row) != width for row in rows):
            raise RatingsError("the rows of the matrix differ in length")
        item_names = list(range(len(rows))) if items is None else list(items)
        rater_names = list(range(width)) if raters is None else list(raters)
        if len(set(item_names)) != len(rows) or len(set(rater_names)) != width:
            raise RatingsError("items and raters must be named once each, as many as the matrix has rows and columns")
        triples = (
            (item, rater, value)
            for item, row in zip(item_names, rows, strict=True)
            for rater, value in zip(rater_names, row, strict=True)
        )
        return cls.from_triples(triples, scale, numeric, raters=rater_names, items=item_names)

    @classmethod
    def from_codes(
        cls,
        codes: npt.ArrayLike,
        scale: Sequence[Label],
        numeric: Sequence[float] | None = None,
        *,
        items: Sequence[Hashable] | None = None,
        raters: Sequence[Hashable] | None = None,
    ) -> Ratings:
        """Return ratings from integer codes (raters, items): 0..q-1, or -1 if missing. The fastest constructor."""
        labels, numbers = check_scale(scale, numeric)
        matrix = np.asarray(codes)
        if matrix.ndim != 2 or matrix.dtype.kind not in "iu":
            raise RatingsError("codes must be a matrix of integers, raters x items")
        if matrix.size and (matrix.min() < -1 or matrix.max() >= len(labels)):
            raise RatingsError(f"codes must lie between -1 (missing) and {len(labels) - 1}")
        packed = np.ascontiguousarray(matrix, dtype=code_dtype(len(labels)))
        names_i: Sequence[Hashable] = range(matrix.shape[1]) if items is None else items
        names_r = tuple(range(matrix.shape[0])) if raters is None else tuple(raters)
        if len(names_i) != matrix.shape[1] or len(names_r) != matrix.shape[0]:
            raise RatingsError("as many items and raters must be named as the codes have columns and rows")
        return cls._of(packed, names_i, names_r, labels, numbers)

    @classmethod
    def _of(
        cls,
        codes: IntArray,
        items: Sequence[Hashable],
        raters: tuple[Hashable, ...],
        scale: tuple[Label, ...],
        numeric: tuple[float, ...],
    ) -> Ratings:
        """Leave out raters and items without any rating, and add a warning."""
        warnings: list[str] = []
        present = codes >= 0
        active = present.any(axis=1)
        if not active.all():
            idle = [str(raters[i]) for i in np.flatnonzero(~active)]
            warnings.append(f"raters without ratings are left out: {_list_names(idle)}")
            codes, present = codes[active], present[active]
            raters = tuple(raters[i] for i in np.flatnonzero(active))
        rated = present.any(axis=0)
        if not rated.all():
            empty = int(np.count_nonzero(~rated))
            warnings.append(f"items without ratings are left out: {empty}")
            codes = np.ascontiguousarray(codes[:, rated])
            items = tuple(items[i] for i in np.flatnonzero(rated).tolist())
        return cls(items, raters, scale, numeric, codes, tuple(warnings))


def check_scale(scale: Sequence[Label], numeric: Sequence[float] | None) -> tuple[tuple[Label, ...], tuple[float, ...]]:
    """Return the declared labels and their numbers. Raise `RatingsError` if they are empty, repeated or not finite."""
    labels = tuple(scale)
    if not labels:
        raise RatingsError("the scale is empty")
    if len(set(labels)) != len(labels):
        raise RatingsError("the scale names a value twice")
    numbers_only = all(isinstance(label, int | float) for label in labels)
    if any(isinstance(label, float) and not math.isfinite(label) for label in labels):
        raise RatingsError("the scale holds a value that is not finite")
    if numeric is None:
        return labels, tuple(float(v) if numbers_only else i + 1.0 for i, v in enumerate(labels))
    numbers = tuple(float(v) for v in numeric)
    if len(numbers) != len(labels) or not all(math.isfinite(v) for v in numbers) or len(set(numbers)) != len(numbers):
        raise RatingsError("the numbers of the scale must be finite, distinct, and one for each value")
    return labels, numbers


def code_dtype(q: int) -> type[np.signedinteger[Any]]:
    """Return the smallest integer type for -1..q-1. Memory traffic dominates the cost of encoding."""
    return np.int8 if q <= 127 else np.int16 if q <= 32_767 else np.int32


def _list_names(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
