"""Ratings as integer codes on a declared scale: who said what about which item."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from measures.agreement.errors import RatingsError
from measures.agreement.patterns import PatternTable, distinct_patterns

Label = str | float
IntArray = npt.NDArray[np.signedinteger[Any]]

_LISTED = 10


@dataclass(frozen=True)
class Ratings:
    """Ratings of ``n`` items by ``r`` raters on a declared scale of ``q`` values.

    ``codes`` is rater-major, shape (r, n): the index of the value in ``scale``, or -1 where the rating is missing.
    Every item and every rater kept here has at least one rating; what was left out is told in ``warnings``.
    ``numeric`` holds the q numbers that distances are taken on; without it the scale itself when it is numeric,
    else the ranks 1..q in the declared order.
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
        """Share of the item x rater cells without a rating; None when there is no cell."""
        cells = self.n_items * self.n_raters
        return 1 - self.n_ratings / cells if cells else None

    @cached_property
    def table(self) -> PatternTable:
        """The distinct rater patterns with their multiplicity: every statistic is computed on these."""
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
        """Ratings from (item, rater, value); a value of None or NaN is missing.

        ``raters`` and ``items`` fix the order, and name those who were expected, so that one without ratings is
        told. Raises RatingsError for a duplicate (item, rater), labels outside the scale (listed) and infinities.
        """
        labels, numbers = check_scale(scale, numeric)
        index = {label: code for code, label in enumerate(labels)}
        rows = {rater: i for i, rater in enumerate(raters)}
        columns = {item: i for i, item in enumerate(items)}
        at_row: list[int] = []
        at_column: list[int] = []
        values: list[int] = []
        strange: dict[str, None] = {}
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
                    strange[repr(value)] = None
            values.append(code)
        if infinite:
            raise RatingsError(f"{infinite} ratings are infinite")
        if strange:
            raise RatingsError(f"labels outside the scale: {_listing(list(strange))}")
        row, column = np.asarray(at_row, dtype=np.int64), np.asarray(at_column, dtype=np.int64)
        keys, first, times = np.unique(row * max(len(columns), 1) + column, return_index=True, return_counts=True)
        if len(keys) < len(row):
            names_r, names_i = list(rows), list(columns)
            double = [f"({names_i[column[i]]!r}, {names_r[row[i]]!r})" for i in first[times > 1].tolist()]
            raise RatingsError(f"more than one rating of the same (item, rater): {_listing(double)}")
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
        """Ratings from a matrix of items x raters; None and NaN are missing. Errors as in ``from_triples``."""
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
        """Ratings from integer codes, shape (raters, items): 0..q-1, or -1 where missing. The fast way in."""
        labels, numbers = check_scale(scale, numeric)
        given = np.asarray(codes)
        if given.ndim != 2 or given.dtype.kind not in "iu":
            raise RatingsError("codes must be a matrix of integers, raters x items")
        if given.size and (given.min() < -1 or given.max() >= len(labels)):
            raise RatingsError(f"codes must lie between -1 (missing) and {len(labels) - 1}")
        packed = np.ascontiguousarray(given, dtype=code_dtype(len(labels)))
        names_i: Sequence[Hashable] = range(given.shape[1]) if items is None else items
        names_r = tuple(range(given.shape[0])) if raters is None else tuple(raters)
        if len(names_i) != given.shape[1] or len(names_r) != given.shape[0]:
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
        """Leave out raters and items without any rating, and say so."""
        warnings: list[str] = []
        present = codes >= 0
        active = present.any(axis=1)
        if not active.all():
            idle = [str(raters[i]) for i in np.flatnonzero(~active)]
            warnings.append(f"raters without ratings are left out: {_listing(idle)}")
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
    """The declared labels and the numbers behind them; RatingsError when empty, repeated or not finite."""
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
    """The smallest integer that holds -1..q-1: memory traffic is what encoding costs."""
    return np.int8 if q <= 127 else np.int16 if q <= 32_767 else np.int32


def _listing(names: list[str]) -> str:
    more = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {more} more" if more > 0 else "")
