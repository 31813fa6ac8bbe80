"""Two systems against one another, figure by figure: by the scores that a metric gave both, and by what a probe said of
both. The statistics are those of `measures.comparison`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from measures.comparison import compared
from measures.means import FROM_0_TO_1, UNBOUNDED, Bounds
from measures.probe import OVERALL, Pair

Json = dict[str, Any]
#: By what probes are compared.
PROBED = ("delta", "accuracy")


@dataclass
class _Column:
    values: dict[Hashable, float] = field(default_factory=dict)
    reviews: dict[Hashable, Hashable] = field(default_factory=dict)


class ScoredUnits:
    """What a metric says of one system's summaries, by unit and by what each is compared with: of ``figures`` only."""

    def __init__(self, figures: Sequence[str]) -> None:
        self.figures = figures
        self.columns: dict[tuple[str, str], _Column] = defaultdict(_Column)

    def add(self, unit: Hashable, review: Hashable, side: str, values: Mapping[str, float | None]) -> None:
        """A row: ``unit`` is what another system must have too, with the reference where there is one."""
        for figure in self.figures:
            value = values.get(figure)
            if value is not None:
                column = self.columns[figure, side]
                column.values[unit], column.reviews[unit] = value, review


def scores_compared(first: ScoredUnits, second: ScoredUnits, bounds: Mapping[str, Bounds]) -> list[Json]:
    """A row for every figure and kind of reference that both have, first less second. ``bounds``: by figure, what it
    cannot leave."""
    made = []
    for figure, side in sorted(first.columns.keys() & second.columns.keys()):
        mine, other = first.columns[figure, side], second.columns[figure, side]
        found = compared(mine.values, other.values, mine.reviews, bounds.get(figure, UNBOUNDED))
        made.append({"figure": figure, "side": side, **found.as_json()})
    return made


#: (target, counterfactual) -> what a probe said of the two.
Judged = Mapping[Any, Pair]


def probes_compared(first: Judged, second: Judged, kinds: Sequence[str]) -> list[Json]:
    """A row for every kind, and one over all, and each of `PROBED`, over all tokens, first less second."""
    made = []
    for kind in (*kinds, OVERALL):
        mine, other = (
            {key: pair.delta("all") for key, pair in judged.items() if kind in (pair.kind, OVERALL)}
            for judged in (first, second)
        )
        reviews = {key: first[key].review for key in mine}
        right, other_right = ({key: float(delta > 0) for key, delta in each.items()} for each in (mine, other))
        found = {
            "delta": compared(mine, other, reviews),
            "accuracy": compared(right, other_right, reviews, FROM_0_TO_1),
        }
        made += [{"kind": kind, "figure": figure, **found[figure].as_json()} for figure in PROBED]
    return made
