"""What the scores of one metric come to: the mean of each figure against each kind of reference, as tables print it."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping
from typing import Any

from measures.means import METHOD, UNBOUNDED, Bounds, Mean, clustered_means

#: What a summary is compared with; what names no reference counts as its own.
OWN, PROPOSITIONS = "own target", "propositions of its review"
#: How means are taken. What was stored by another rule is reckoned anew.
RULE = METHOD


class ScoreMeans:
    """Takes rows one by one, in memory that grows by some 20 bytes a number; then gives the means.

    ``bounds``: by figure, what a mean of it cannot leave.
    """

    def __init__(self, bounds: Mapping[str, Bounds]) -> None:
        self._bounds = bounds
        self._columns: dict[tuple[str, str], _Column] = defaultdict(_Column)
        self._reviews: dict[Hashable, int] = {}
        self._summaries: set[Hashable] = set()

    def add(
        self,
        *,
        summary: Hashable,
        review: Hashable,
        side: str,
        values: Mapping[str, float | None],
        undefined: Mapping[str, str],
    ) -> None:
        """One row: what a metric says of a summary of a review, by figure; None with its reason in ``undefined``."""
        self._summaries.add(summary)
        place = self._reviews.setdefault(review, len(self._reviews))
        for figure, value in values.items():
            self._columns[figure, side].add(value, place, undefined.get(figure, ""))

    def as_json(self) -> dict[str, Any]:
        """The rule, how many summaries there were, and every figure: its mean, or why there is none, and for which
        reasons how many rows lack it."""
        return {
            "rule": RULE,
            "summaries": len(self._summaries),
            "figures": [
                {"figure": figure, "side": side, "mean": mean.as_json(),
                 "why": "; ".join(undefined) if mean.value is None else "", "undefined": undefined}
                for (figure, side), mean in self._means().items()
                for undefined in [dict(sorted(self._columns[figure, side].undefined.items()))]
            ],
        }  # fmt: skip

    def _means(self) -> Mapping[tuple[str, str], Mean]:
        """Figures of the same items go together: what is the same for all is computed once."""
        alike: dict[bytes, list[tuple[str, str]]] = defaultdict(list)
        for key, column in self._columns.items():
            alike[column.reviews.tobytes()].append(key)
        found: dict[tuple[str, str], Mean] = {}
        for keys in alike.values():
            reviews = self._columns[keys[0]].reviews
            values = [self._columns[key].values for key in keys]
            bounds = [self._bounds.get(figure, UNBOUNDED) for figure, _ in keys]
            found |= dict(zip(keys, clustered_means(values, reviews, bounds=bounds), strict=True))
        return found


class _Column:
    def __init__(self) -> None:
        self.values, self.reviews = array("d"), array("q")
        self.undefined: Counter[str] = Counter()

    def add(self, value: float | None, review: int, why: str) -> None:
        if value is None:
            self.undefined[why] += 1
        else:
            self.values.append(value)
            self.reviews.append(review)
