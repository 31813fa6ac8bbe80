"""Wilcoxon's signed-rank test of the differences of two systems on the same units, computed by scipy.

Source: F. Wilcoxon, Individual Comparisons by Ranking Methods (Biometrics Bulletin 1945). Pairs without a difference
are left out, as by Wilcoxon. Unlike the test of `measures.comparison`, it counts every unit as independent, also
several passages of one question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

#: Exact distribution up to this number of differences without ties, as in scipy; otherwise the normal approximation.
MOST_EXACT = 50
SIDEDNESS = "two-sided"
METHOD = (
    f"Wilcoxon signed-rank test, {SIDEDNESS}, pairs without a difference left out, exact up to {MOST_EXACT} pairs "
    "without ties, else normal approximation without continuity correction"
)
NO_DIFFERENCE = "no pair differs"
#: Decimals of differences. Further ones are rounding errors, which would break ties.
DECIMALS = 12


@dataclass(frozen=True, slots=True)
class SignedRanks:
    """The test of ``n`` pairs, of which ``zeros`` do not differ.

    ``positive`` and ``negative`` are the sums of the ranks of positive and negative differences. ``p`` is None exactly
    when ``undefined`` gives the reason.
    """

    n: int
    zeros: int
    positive: float
    negative: float
    p: float | None
    exact: bool
    undefined: str = ""

    def turned(self) -> "SignedRanks":
        """Return the test of the opposite differences."""
        return replace(self, positive=self.negative, negative=self.positive)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SignedRanks":
        """Restore a test from `as_json`. Some databases return whole floats as integers."""
        numbers = {name: float(stored[name]) for name in ("positive", "negative")}
        p = stored["p"]
        return cls(**{**stored, **numbers, "p": None if p is None else float(p)})


def signed_ranks(differences: Sequence[float]) -> SignedRanks:
    """Return the test of differences (n,), one per unit."""
    from scipy import stats  # type: ignore[import-untyped] # slow import, needed only in workers

    rounded = [round(difference, DECIMALS) for difference in differences]
    nonzero = [difference for difference in rounded if difference]
    zeros = len(rounded) - len(nonzero)
    if not nonzero:
        return SignedRanks(len(rounded), zeros, 0.0, 0.0, None, False, NO_DIFFERENCE)
    sizes = [abs(difference) for difference in nonzero]
    exact = len(nonzero) <= MOST_EXACT and len(set(sizes)) == len(sizes)
    ranks = stats.rankdata(sizes)
    positive = float(sum(rank for rank, difference in zip(ranks, nonzero, strict=True) if difference > 0))
    test = stats.wilcoxon(nonzero, alternative=SIDEDNESS, method="exact" if exact else "asymptotic")
    return SignedRanks(len(rounded), zeros, positive, float(ranks.sum()) - positive, float(test.pvalue), exact)
