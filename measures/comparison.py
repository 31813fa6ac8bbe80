"""Two systems on the units that both have: the difference of their means, its interval, and p of a paired test.

A mean of one system over its units and that of another over others differ by the units, too. So only common units
count, each with the difference of its two figures, and the difference of the means is the mean of these.

Units of one review are alike. The interval of the difference knows it (`measures.means`), and the test swaps the two
systems' figures review by review: if the systems were alike, every swap would be as likely (Fisher 1935, *The Design of
Experiments*, section 21; of tests in language processing: Dror et al. 2018, *The Hitchhiker's Guide to Testing
Statistical Significance in NLP*, ACL). All swaps are counted where they are few; else they are drawn, and as the
observed one is among them p is (b + 1) / (m + 1) (Phipson & Smyth 2010, *Permutation P-values should never be zero*,
SAGMB 9:39). Of several comparisons p is adjusted by Holm (1979, *A simple sequentially rejective multiple test
procedure*, Scand. J. Statist. 6:65-70).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from measures.agreement.patterns import FloatArray
from measures.means import METHOD as OF_MEANS
from measures.means import UNBOUNDED, Bounds, Mean, clustered_mean

Unit = TypeVar("Unit", bound=Hashable)

#: Swaps are counted, all of them, for so many reviews in which two systems differ; 2 ** 16 of them.
COUNTED = 16
DRAWN = 9_999
SEED = 20221207
#: Below so many reviews in which the two differ two-sided p is above .05 whatever the figures: 2 / 2 ** 5 = .0625.
FEWEST = 6
NONE_COMMON = "no unit that both have"
METHOD = (
    f"two-sided, swaps by review: all of them up to {COUNTED} reviews that differ, else {DRAWN} drawn (seed {SEED})"
)
#: How a comparison is taken. What was stored by another rule is reckoned anew.
RULE = f"{OF_MEANS}; p {METHOD}"
_BLOCK = 1 << 12
_NUMBERS = 1 << 20
"""Signs that are in memory at a time as floats."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """``first`` and ``second``: means over the common units; ``difference``: of first less second, with its n, clusters
    and interval. ``p`` is None exactly where the difference is undefined.

    ``differing``: clusters whose sums differ; ``least``: the smallest p that so many clusters can give.
    """

    first: float | None
    second: float | None
    difference: Mean
    p: float | None
    differing: int
    least: float

    @property
    def can_be_small(self) -> bool:
        """Whether p below .05 is possible at all."""
        return self.differing >= FEWEST

    def turned(self) -> Comparison:
        """The same, of second less first."""
        mean = self.difference
        ci = (0.0 - mean.ci[1], 0.0 - mean.ci[0]) if mean.ci else None
        value = None if mean.value is None else 0.0 - mean.value
        return replace(self, first=self.second, second=self.first, difference=replace(mean, value=value, ci=ci))

    def as_json(self) -> dict[str, object]:
        return {
            "first": self.first, "second": self.second, "difference": self.difference.as_json(), "p": self.p,
            "differing": self.differing, "least": self.least,
        }  # fmt: skip

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Comparison:
        """What `as_json` gave. A data base may have made whole floats integers."""
        first, second, p = (None if stored[k] is None else float(stored[k]) for k in ("first", "second", "p"))
        return cls(
            first, second, Mean.from_json(stored["difference"]), p, stored["differing"], float(stored["least"])
        )  # fmt: skip


def compared(
    first: Mapping[Unit, float], second: Mapping[Unit, float], clusters: Mapping[Unit, Hashable],
    bounds: Bounds = UNBOUNDED,
) -> Comparison:  # fmt: skip
    """Two systems' figures by unit, on the units that both have; ``clusters``: each unit's review, ``bounds``: what no
    figure can leave.

    The same figures give the same to the last bit, whatever the order of the units and the names of the clusters.
    """
    common = [unit for unit in first if unit in second]
    if not common:
        return Comparison(None, None, Mean(None, 0, 0, undefined=NONE_COMMON), None, 0, 1.0)
    numbers: dict[Hashable, int] = {}
    places = [numbers.setdefault(clusters[unit], len(numbers)) for unit in common]
    differences = [first[unit] - second[unit] for unit in common]
    parts: dict[int, list[float]] = defaultdict(list)
    for place, difference in zip(places, differences, strict=True):
        parts[place].append(difference)
    p, differing, least = sign_flip_p([math.fsum(part) for part in parts.values()])
    n = len(common)
    return Comparison(
        math.fsum(first[unit] for unit in common) / n, math.fsum(second[unit] for unit in common) / n,
        clustered_mean(differences, places, bounds=(bounds[0] - bounds[1], bounds[1] - bounds[0])), p, differing,
        least,
    )  # fmt: skip


def sign_flip_p(totals: Sequence[float]) -> tuple[float, int, float]:
    """Of the sums of clusters (k,): (two-sided p that their sum is as far from 0, how many are not 0, the least p).

    Under the null hypothesis each sum is as likely with the other sign. Sums of 0 tell nothing, and leave p as it is.
    """
    return sign_flips_p([totals])[0]


def sign_flips_p(families: Sequence[Sequence[float] | FloatArray]) -> list[tuple[float, int, float]]:
    """`sign_flip_p` of each of several comparisons. Signs are drawn once for all that need them, as many as the longest
    takes: of a family of pairs that is what takes the time."""
    sizes = [_sizes(totals) for totals in families]
    found: list[tuple[float, int, float]] = [(1.0, 0, 1.0)] * len(sizes)
    many = [i for i, each in enumerate(sizes) if len(each) > COUNTED]
    for i, each in enumerate(sizes):
        if len(each) <= COUNTED:
            # The other half are the same with all signs turned.
            half = 1 << max(len(each) - 1, 0)
            blocks = (np.arange(at, min(at + _BLOCK, half)) for at in range(0, half, _BLOCK))
            hits = sum(_hits(_signs_of(numbers, len(each)), each, _reached(families[i], each)) for numbers in blocks)
            found[i] = hits / half, len(each), 1 / half
    if many:
        least = 1 / (DRAWN + 1)
        for i, hits in zip(many, _drawn_hits([(families[i], sizes[i]) for i in many]), strict=True):
            found[i] = (hits + 1) / (DRAWN + 1), len(sizes[i]), least
    return found


def _sizes(totals: Sequence[float] | FloatArray) -> FloatArray:
    # The larger first, without signs: what clusters are called, and how they come, must not change what is drawn.
    sizes: FloatArray = np.sort(np.abs(np.asarray(totals, dtype=np.float64)))[::-1]
    # What is 0 but for the rounding of a sum of differences is 0.
    return np.asarray(sizes[sizes > 1e-12 * sizes.sum()], dtype=np.float64)


def _reached(totals: Sequence[float] | FloatArray, sizes: FloatArray) -> float:
    # So much more than rounding makes of one sum in two orders, so much less than figures differ by.
    return abs(math.fsum(totals)) - 1e-10 * float(sizes.sum())


def _drawn_hits(compared: Sequence[tuple[Sequence[float] | FloatArray, FloatArray]]) -> list[int]:
    longest = max(len(sizes) for _, sizes in compared)
    columns = np.zeros((longest, len(compared)))
    for column, (_, sizes) in enumerate(compared):
        columns[: len(sizes), column] = sizes
    reached = np.array([_reached(totals, sizes) for totals, sizes in compared])
    hits = np.zeros(len(compared), dtype=np.int64)
    rng = np.random.default_rng(SEED)
    rows = max(1, _NUMBERS // longest)
    for at in range(0, DRAWN, _BLOCK):
        drawn = rng.integers(2, size=(min(_BLOCK, DRAWN - at), longest), dtype=np.int8)
        for some in range(0, len(drawn), rows):
            signs = 1.0 - 2.0 * drawn[some : some + rows].astype(np.float64)
            hits += (np.abs(signs @ columns) >= reached).sum(axis=0)
    return [int(each) for each in hits]


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p of comparisons of one family (m,), in their order: the i-th smallest times m - i + 1, never
    below that of a smaller one, and at most 1. None, where nothing could be compared, stays None and does not count."""
    there = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    least = 0.0
    for rank, (p, i) in enumerate(there):
        adjusted[i] = least = max(least, min(1.0, p * (len(there) - rank)))
    return adjusted


def _signs_of(numbers: Any, k: int) -> FloatArray:
    """(n, k): the signs that the bits of a number stand for; the last is always the same."""
    signs: FloatArray = 1.0 - 2.0 * ((numbers[:, None] >> np.arange(k)) & 1)
    return signs


def _hits(signs: FloatArray, sizes: FloatArray, reached: float) -> int:
    return int((np.abs(signs @ sizes) >= reached).sum())
