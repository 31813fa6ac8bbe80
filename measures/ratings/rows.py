"""Judgements as columns of numbers (a few megabytes per 100,000), and the cells that figures are computed from."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from measures.clustered import FloatArray
from measures.ratings.judgements import DERIVED, Criterion, Judgement

Ints = npt.NDArray[np.intp]
N = TypeVar("N", bound=Hashable)


@dataclass(frozen=True)
class Rows:
    """All judgements of a round as columns (n,): codes into ``sources``, ``items``, ``systems`` and ``raters``.

    An item is a source, or one of its targets. ``source_of`` (items,) is the source of each item. Names are sorted, so
    that figures do not depend on the order of the judgements.
    """

    sources: tuple[Hashable, ...]
    items: tuple[tuple[Hashable, Hashable], ...]
    systems: tuple[str, ...]
    raters: tuple[str, ...]
    source_of: Ints
    item: Ints
    system: Ints
    rater: Ints
    criterion: tuple[str, ...]
    repeat: Ints
    ms: Ints
    value: tuple[float | str | None, ...]

    @classmethod
    def of(cls, judgements: Iterable[Judgement]) -> Rows:
        rows = list(judgements)
        sources, _ = _coded([each.source for each in rows], lambda name: (str(name), ""))
        items, item = _coded([(each.source, each.item) for each in rows], lambda name: (str(name[0]), str(name[1])))
        systems, system = _coded([each.system for each in rows], lambda name: (name, ""))
        raters, rater = _coded([each.rater for each in rows], lambda name: (name, ""))
        places = {source: i for i, source in enumerate(sources)}
        return cls(
            tuple(sources),
            tuple(items),
            tuple(systems),
            tuple(raters),
            np.array([places[source] for source, _ in items], dtype=np.intp),
            item,
            system,
            rater,
            tuple(each.criterion for each in rows),
            np.array([each.repeat for each in rows], dtype=np.intp),
            np.array([each.ms for each in rows], dtype=np.intp),
            tuple(each.value for each in rows),
        )

    @cached_property
    def asked_indices(self) -> Ints:
        """Indices of the asked judgements, or all indices if every judgement is derived."""
        indices = np.flatnonzero(np.fromiter((DERIVED not in each for each in self.criterion), dtype=np.bool_))
        return indices if len(indices) else np.arange(len(self.criterion))

    @cached_property
    def by_criterion(self) -> dict[str, Ints]:
        """Indices of the judgements of each criterion."""
        names, codes = np.unique(np.array(self.criterion, dtype=object).astype(str), return_inverse=True)
        order = np.argsort(codes, kind="stable")
        parts = np.split(order, np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]) if len(names) else []
        return {str(name): part for name, part in zip(names, parts, strict=True)}

    def of_criterion(self, criterion: Criterion) -> CriterionJudgements:
        """Return the judgements of one criterion."""
        at = self.by_criterion.get(criterion.key, np.zeros(0, dtype=np.intp))
        known: dict[float | str | None, float] = {}
        numbers = np.empty(len(at))
        for i, k in enumerate(at.tolist()):
            value = self.value[k]
            if value not in known:
                number = criterion.number(value)
                known[value] = np.nan if number is None else number
            numbers[i] = known[value]
        missing = np.fromiter((self.value[k] is None for k in at.tolist()), dtype=np.bool_, count=len(at))
        return CriterionJudgements(self, criterion, at, numbers, missing)


@dataclass(frozen=True)
class CriterionJudgements:
    """The judgements of one criterion.

    ``at`` (n,) are indices into the rows. ``number`` (n,) is NaN if a judgement does not count. ``missing`` (n,) marks
    N/A.
    """

    rows: Rows
    criterion: Criterion
    at: Ints
    number: FloatArray
    missing: npt.NDArray[np.bool_]

    @cached_property
    def first(self) -> npt.NDArray[np.bool_]:
        """Whether a judgement is a first one. Judgements of repeated pages are left out of all means."""
        return np.asarray(self.rows.repeat[self.at] == 0)

    @cached_property
    def cell(self) -> Ints:
        """Item x system as one number, (n,)."""
        return np.asarray(self.rows.item[self.at] * len(self.rows.systems) + self.rows.system[self.at])

    @cached_property
    def sums(self) -> tuple[FloatArray, FloatArray]:
        """The sum and the number of counted judgements of each text, (items, systems) each."""
        counted = self.first & ~np.isnan(self.number)
        shape = len(self.rows.items), len(self.rows.systems)
        at, size = self.cell[counted], shape[0] * shape[1]
        totals = np.bincount(at, weights=self.number[counted], minlength=size).astype(np.float64)
        return totals.reshape(shape), np.bincount(at, minlength=size).astype(np.float64).reshape(shape)

    @cached_property
    def cells(self) -> FloatArray:
        """The mean over the raters of each text, (items, systems). NaN without a counted judgement."""
        totals, counts = self.sums
        return np.asarray(np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0))

    def per_system(self, which: npt.NDArray[np.bool_]) -> list[int]:
        """Return the number of the selected judgements of each system."""
        counts = np.bincount(self.rows.system[self.at[which]], minlength=len(self.rows.systems))
        return [int(each) for each in counts]

    def values_of(self, system: int) -> dict[str, int]:
        """Return how often each value was given to a system in first judgements, without N/A."""
        counts: dict[str, int] = dict.fromkeys(self.criterion.values, 0)
        which = self.at[self.first & ~self.missing]
        for k in which[self.rows.system[which] == system].tolist():
            value = self.rows.value[k]
            name = value if isinstance(value, str) else f"{value:g}"
            counts[name] = counts.get(name, 0) + 1
        return counts


def _coded(names: Sequence[N], key: Callable[[N], tuple[str, str]]) -> tuple[list[N], Ints]:
    known = sorted(dict.fromkeys(names), key=key)
    places = {name: i for i, name in enumerate(known)}
    return known, np.array([places[name] for name in names], dtype=np.intp)
