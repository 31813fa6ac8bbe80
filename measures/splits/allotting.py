"""Allot components to parts: greedily, the largest first, equal ones in the order of the seed."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from measures.sampling import order_key

from .units import Ints, Units

#: More parts do not fit into the bits of one number (`leaking`).
MOST_PARTS = 60


class SplitRefused(ValueError):
    """The units cannot be divided as asked. ``ways`` are ways out, as sentences."""

    def __init__(self, reason: str, ways: Sequence[str]) -> None:
        super().__init__(" ".join([reason, *ways]))
        self.reason, self.ways = reason, list(ways)


@dataclass(frozen=True)
class Part:
    """A part and its share of the units, between 0 and 1."""

    name: str
    share: float


def allot(
    sizes: Sequence[int],
    names: Sequence[str],
    parts: Sequence[Part],
    seed: int,
    strata: NDArray[np.float64] | None = None,
) -> list[int]:
    """Return the part of each component. ``names`` are unique; with the seed they order components of equal size.

    A component may go to a part with enough units left, if it is at most half as large as the part. The largest part
    has no such limit. Of these parts, the component goes to the one that brings the counts of units, and of each
    column of ``strata``, nearest to the shares (chi-square). ``strata`` has a row per component.

    Raise `SplitRefused` if there are fewer components than parts, or a component exceeds every part.
    """
    total, biggest = sum(sizes), max(parts, key=lambda part: part.share)
    if len(sizes) < len(parts):
        number = f"{len(sizes)} component{'s' * (len(sizes) != 1)}"
        raise SplitRefused(f"Only {number} for {len(parts)} parts.", ["Use fewer parts."])
    shares = np.array([part.share for part in parts])
    targets, limits = shares * total, np.ceil(shares * total)
    if max(sizes) > limits.max():
        raise SplitRefused(
            f"The largest component has {max(sizes):,} of {total:,} units ({max(sizes) / total:.0%}), more than "
            f"any part: the largest, {biggest.name}, gets {biggest.share:.0%}.",
            [f"Give a part a share of at least {ceil(100 * max(sizes) / total)}%."],
        )
    values = np.zeros((len(sizes), 0)) if strata is None else strata
    counts = np.hstack([np.array(sizes, float)[:, None], values])
    expected = counts.sum(0)[None, :] * shares[:, None]
    # The number of units weighs as much as all strata together.
    weights = np.ones(counts.shape[1])
    weights[0] = max(values.shape[1], 1)
    largest, now = int(shares.argmax()), np.zeros_like(expected)
    chosen = [0] * len(sizes)
    for component in sorted(range(len(sizes)), key=lambda n: (-sizes[n], order_key(seed, names[n]))):
        size = sizes[component]
        left = limits - now[:, 0]
        fits = (left >= size) & ((size <= targets / 2) | (np.arange(len(parts)) == largest))
        if not fits.any():
            fits = left >= size if (left >= size).any() else left == left.max()
        with np.errstate(divide="ignore", invalid="ignore"):
            cost = counts[component] * (2 * (now - expected) + counts[component]) / expected
        cost = np.nan_to_num(cost) @ weights
        part = int(np.where(fits, cost, np.inf).argmin())
        chosen[component] = part
        now[part] += counts[component]
    return _with_no_empty_part(chosen, sizes, len(parts))


def _with_no_empty_part(chosen: list[int], sizes: Sequence[int], parts: int) -> list[int]:
    """Give each empty part the smallest component of a part that has more than one."""
    for part in range(parts):
        if part not in chosen:
            movable = [n for n, other in enumerate(chosen) if chosen.count(other) > 1]
            chosen[min(movable, key=lambda n: sizes[n])] = part
    return chosen


def table_of(components: Ints, values: Sequence[str]) -> tuple[list[str], NDArray[np.float64]]:
    """Return the distinct values of a stratum, and their counts with a row per component. "" is no value."""
    names = sorted(set(values) - {""})
    columns = {name: n for n, name in enumerate(names)}
    table = np.zeros((int(components.max(initial=0)), len(names)))
    for component, value in zip(components, values, strict=True):
        if value and component:
            table[component - 1, columns[value]] += 1
    return names, table


def size_groups(sizes: Sequence[int]) -> list[str]:
    """Return the group of each size, such as "3-5". There are at most four groups, about equally large."""
    if not sizes:
        return []
    bounds = sorted({int(q) for q in np.quantile(np.array(sizes), (0.25, 0.5, 0.75), method="lower")} - {max(sizes)})
    ends = [*bounds, max(sizes)]
    starts = [min(sizes), *(bound + 1 for bound in bounds)]
    names = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return [names[n] for n in np.searchsorted(ends, sizes)]


def rare_values(components: Ints, values: Sequence[str], parts: int) -> list[str]:
    """Return the values that cannot be in every part, because they are in fewer components than there are parts."""
    names, table = table_of(components, values)
    return [name for name, column in zip(names, table.T, strict=True) if (column > 0).sum() < parts]


@dataclass(frozen=True)
class Stratum:
    """Counts of the units with one value, by part."""

    name: str
    value: str
    counts: tuple[int, ...]

    def deviations(self, shares: Sequence[float | None]) -> list[float | None]:
        """Return the share of each part minus the share that was asked for, in percent of the units of the stratum."""
        total = sum(self.counts)
        return [
            None if share is None or not total else round(100 * (count / total - share), 1)
            for count, share in zip(self.counts, shares, strict=True)
        ]


def count_strata(units: Units, part_of: Sequence[int], parts: int) -> list[Stratum]:
    """Return the counts of all units, then of each value of each stratum. Units in no part (-1) are left out."""
    part = np.array(part_of, np.int64)
    rows = [Stratum("", "", _counts(part, parts))]
    for name, values in units.strata.items():
        column = np.array(values)
        rows += [Stratum(name, value, _counts(part[column == value], parts)) for value in sorted(set(values) - {""})]
    return rows


def _counts(part: Ints, parts: int) -> tuple[int, ...]:
    return tuple(int(n) for n in np.bincount(part[part >= 0], minlength=parts))
