"""Compare two systems on their common units: difference of means, confidence interval, p of a paired test.

Means over different units would also reflect the units. Therefore only common units count: the difference of the means
is the mean of the differences by unit.

Units of one review are alike, so the interval of the difference is clustered (`measures.means`). The test swaps the two
systems' figures review by review, because all swaps are equally likely if the systems do not differ (Fisher 1935, *The
Design of Experiments*, section 21; for language processing: Dror et al. 2018, *The Hitchhiker's Guide to Testing
Statistical Significance in NLP*, ACL). For few reviews all swaps are enumerated. Otherwise a sample is drawn, and p is
(b + 1) / (m + 1) because the observed arrangement is one of them (Phipson & Smyth 2010, *Permutation P-values should
never be zero*, SAGMB 9:39). For several comparisons p is adjusted by Holm (1979, *A simple sequentially rejective
multiple test procedure*, Scand. J. Statist. 6:65-70).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from .agreement.ratings import FloatArray
from .clustered import METHOD as OF_MEANS
from .clustered import Bounds
from .means import FORMER_METHOD, FROM_0_TO_1, UNBOUNDED, Mean, clustered_mean
from .probe import OVERALL, Pair
from .signed_ranks import SignedRanks, signed_ranks

Unit = TypeVar("Unit", bound=Hashable)

#: All swaps (at most 2 ** 16) are enumerated up to this number of reviews in which the systems differ.
COUNTED = 16
DRAWN = 9_999
SEED = 20221207
#: With fewer differing reviews the two-sided p always exceeds .05: for 5 reviews it is at least 2 / 2 ** 5 = .0625.
FEWEST = 6
NONE_COMMON = "no unit that both have"
METHOD = (
    f"two-sided, swaps by review: all of them up to {COUNTED} reviews that differ, else {DRAWN} drawn (seed {SEED})"
)
#: Name of the method. Comparisons stored under another rule are recomputed.
RULE = f"{OF_MEANS}; p {METHOD}"
FORMER_RULE = f"{FORMER_METHOD}; p {METHOD}"
_BLOCK = 1 << 12
_NUMBERS = 1 << 20
"""Maximum number of signs that are held in memory as floats."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Difference between two systems on their common units.

    ``first`` and ``second`` are the means over the common units. ``difference`` is first minus second, with n, clusters
    and interval. ``p`` is None exactly when the difference is undefined. ``differing`` counts the clusters whose sums
    differ. ``least`` is the smallest p that this number of clusters can give. ``ranks`` is Wilcoxon's test, against
    written references only.
    """

    first: float | None
    second: float | None
    difference: Mean
    p: float | None
    differing: int
    least: float
    ranks: SignedRanks | None = None

    @property
    def can_be_small(self) -> bool:
        """Whether p can be below .05."""
        return self.differing >= FEWEST

    def turned(self) -> Comparison:
        """Return the comparison of second minus first."""
        mean = self.difference
        ci = (0.0 - mean.ci[1], 0.0 - mean.ci[0]) if mean.ci else None
        value = None if mean.value is None else 0.0 - mean.value
        difference, ranks = replace(mean, value=value, ci=ci), self.ranks and self.ranks.turned()
        return replace(self, first=self.second, second=self.first, difference=difference, ranks=ranks)

    def as_json(self) -> dict[str, object]:
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference.as_json(),
            "p": self.p,
            "differing": self.differing,
            "least": self.least,
            **({"ranks": self.ranks.as_json()} if self.ranks else {}),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Comparison:
        """Restore a comparison from `as_json`. Some databases return whole floats as integers."""
        first, second, p = (None if stored[k] is None else float(stored[k]) for k in ("first", "second", "p"))
        difference, least = Mean.from_json(stored["difference"]), float(stored["least"])
        ranks = SignedRanks.from_json(stored["ranks"]) if stored.get("ranks") else None
        return cls(first, second, difference, p, stored["differing"], least, ranks)


def compared(
    first: Mapping[Unit, float],
    second: Mapping[Unit, float],
    clusters: Mapping[Unit, Hashable],
    bounds: Bounds = UNBOUNDED,
) -> Comparison:
    """Compare two systems on the units that both have.

    ``first`` and ``second`` hold figures by unit, ``clusters`` the review of each unit, ``bounds`` the range of the
    figure. The result does not depend on the order of the units or the names of the clusters, to the last bit.
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
        math.fsum(first[unit] for unit in common) / n,
        math.fsum(second[unit] for unit in common) / n,
        clustered_mean(differences, places, bounds=(bounds[0] - bounds[1], bounds[1] - bounds[0])),
        p,
        differing,
        least,
    )


def sign_flip_p(totals: Sequence[float]) -> tuple[float, int, float]:
    """Return the two-sided p, the number of nonzero sums, and the smallest possible p of sums of clusters (k,).

    Under the null hypothesis the sign of each sum is random. Sums of 0 do not affect p.
    """
    return sign_flips_p([totals])[0]


def sign_flips_p(families: Sequence[Sequence[float] | FloatArray]) -> list[tuple[float, int, float]]:
    """Return `sign_flip_p` of several comparisons. Signs are drawn once for all comparisons, because drawing takes most
    of the time. Their number is that of the longest comparison.
    """
    sizes = [_sizes(totals) for totals in families]
    results: list[tuple[float, int, float]] = [(1.0, 0, 1.0)] * len(sizes)
    many = [i for i, each in enumerate(sizes) if len(each) > COUNTED]
    for i, each in enumerate(sizes):
        if len(each) <= COUNTED:
            # The other half has all signs flipped and the same absolute sums.
            half = 1 << max(len(each) - 1, 0)
            blocks = (np.arange(at, min(at + _BLOCK, half)) for at in range(0, half, _BLOCK))
            hits = sum(_hits(_signs_of(numbers, len(each)), each, _reached(families[i], each)) for numbers in blocks)
            results[i] = hits / half, len(each), 1 / half
    if many:
        least = 1 / (DRAWN + 1)
        for i, hits in zip(many, _drawn_hits([(families[i], sizes[i]) for i in many]), strict=True):
            results[i] = (hits + 1) / (DRAWN + 1), len(sizes[i]), least
    return results


def _sizes(totals: Sequence[float] | FloatArray) -> FloatArray:
    # Sort by size and drop the signs, so that neither names nor order of the clusters affects the draws.
    sizes: FloatArray = np.sort(np.abs(np.asarray(totals, dtype=np.float64)))[::-1]
    # Rounding can make a sum of differences differ slightly from 0.
    return np.asarray(sizes[sizes > 1e-12 * sizes.sum()], dtype=np.float64)


def _reached(totals: Sequence[float] | FloatArray, sizes: FloatArray) -> float:
    # The tolerance is larger than rounding errors from a different order and smaller than differences of figures.
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
    """Return the p values (m,) of one family adjusted by Holm, in their order.

    The i-th smallest p is multiplied by m - i + 1, is at least the adjusted value of the previous one, and at most 1.
    None (not comparable) stays None and is not counted in m.
    """
    defined = sorted((p, i) for i, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    least = 0.0
    for rank, (p, i) in enumerate(defined):
        adjusted[i] = least = max(least, min(1.0, p * (len(defined) - rank)))
    return adjusted


def _signs_of(numbers: Any, k: int) -> FloatArray:
    """Return the signs (n, k) encoded by the bits of each number; the last sign is constant."""
    signs: FloatArray = 1.0 - 2.0 * ((numbers[:, None] >> np.arange(k)) & 1)
    return signs


def _hits(signs: FloatArray, sizes: FloatArray, reached: float) -> int:
    return int((np.abs(signs @ sizes) >= reached).sum())


Json = dict[str, Any]
#: Figures by which probes are compared.
PROBED = ("delta", "accuracy")


@dataclass
class _Column:
    values: dict[Hashable, float] = field(default_factory=dict)
    reviews: dict[Hashable, Hashable] = field(default_factory=dict)


class ScoredUnits:
    """Scores of one system by a metric, for ``figures`` only, by figure and reference kind."""

    def __init__(self, figures: Sequence[str]) -> None:
        self.figures = figures
        self.columns: dict[tuple[str, str], _Column] = defaultdict(_Column)

    def add(self, unit: Hashable, review: Hashable, side: str, values: Mapping[str, float | None]) -> None:
        """Add a row. ``unit`` is the key by which two systems are paired; it includes the reference, if any."""
        for figure in self.figures:
            value = values.get(figure)
            if value is not None:
                column = self.columns[figure, side]
                column.values[unit], column.reviews[unit] = value, review


def scores_compared(
    first: ScoredUnits, second: ScoredUnits, bounds: Mapping[str, Bounds], *, ranks: bool = False
) -> list[Json]:
    """Return a comparison (first minus second) for each figure and reference kind that both have.

    ``bounds`` holds the range of each figure. ``ranks`` adds Wilcoxon's signed-rank test.
    """
    rows = []
    for figure, side in sorted(first.columns.keys() & second.columns.keys()):
        first_column, other = first.columns[figure, side], second.columns[figure, side]
        comparison = compared(first_column.values, other.values, first_column.reviews, bounds.get(figure, UNBOUNDED))
        if ranks:
            units = first_column.values.keys() & other.values.keys()
            tested = signed_ranks([first_column.values[unit] - other.values[unit] for unit in units])
            comparison = replace(comparison, ranks=tested)
        rows.append({"figure": figure, "side": side, **comparison.as_json()})
    return rows


#: (target, counterfactual) -> the pair of likelihoods.
Judged = Mapping[Any, Pair]


def probes_compared(first: Judged, second: Judged, kinds: Sequence[str]) -> list[Json]:
    """Return comparisons (first minus second) over all tokens, by kind and over all kinds, for each of `PROBED`."""
    rows = []
    for kind in (*kinds, OVERALL):
        first_values, other = (
            {key: pair.delta("all") for key, pair in judged.items() if kind in (pair.kind, OVERALL)}
            for judged in (first, second)
        )
        reviews = {key: first[key].review for key in first_values}
        right, other_right = ({key: float(delta > 0) for key, delta in each.items()} for each in (first_values, other))
        comparisons = {
            "delta": compared(first_values, other, reviews),
            "accuracy": compared(right, other_right, reviews, FROM_0_TO_1),
        }
        rows += [{"kind": kind, "figure": figure, **comparisons[figure].as_json()} for figure in PROBED]
    return rows
