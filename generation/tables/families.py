"""Systems two by two, as tables print and releases hold them, by the families over which p is adjusted."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from measures.comparison import Comparison, holm

from ..scoring.comparing import are_alike
from .probed import Probed
from .scored import RunAtHand, Scores

At = TypeVar("At", RunAtHand, Probed)


@dataclass(frozen=True)
class Compared(Generic[At]):
    """Two systems by one figure; ``adjusted``: p over the family, None where nothing could be compared."""

    first: At
    second: At
    comparison: Comparison
    adjusted: float | None


@dataclass(frozen=True)
class Family(Generic[At]):
    """The pairs whose p is adjusted together: of one figure and level, and one kind of reference or counterfactual."""

    figure: str
    level: str
    against: str
    pairs: Sequence[Compared[At]]


def scored_families(scores: Scores, metric: str, figure: str) -> list[Family[RunAtHand]]:
    """Of the pairs that are compared by a figure."""
    return _families(
        figure,
        (
            (side, one, other, comparison)
            for one, other in scored_pairs(scores, metric)
            for side in one.sides()
            if (comparison := scores.comparison(metric, one.run, other.run, figure, side))
        ),
    )


def probed_families(scores: Scores, figure: str, kind: str) -> list[Family[Probed]]:
    """Of the probes that are compared by a figure on a kind of counterfactual, or on all."""
    return _families(
        figure,
        (
            (kind, one, other, comparison)
            for one, other in probed_pairs(scores)
            if (comparison := scores.probes_compared(one, other, figure, kind))
        ),
    )


def scored_pairs(scores: Scores, metric: str, *, alike: bool = True) -> Iterator[tuple[RunAtHand, RunAtHand]]:
    """The pairs of systems of a level that are both scored, in the same way or not."""
    for one, other in combinations(scores.runs, 2):
        first, second = scores.reckoned(metric, one.run), scores.reckoned(metric, other.run)
        if one.level == other.level and first and second and are_alike(first, second) == alike:
            yield one, other


def probed_pairs(scores: Scores) -> Iterator[tuple[Probed, Probed]]:
    """The pairs of probes of a level that are both reckoned."""
    for one, other in combinations(scores.probed, 2):
        if one.level == other.level and one.figures and other.figures:
            yield one, other


def _families(figure: str, found: Iterable[tuple[str, At, At, Comparison]]) -> list[Family[At]]:
    pairs: dict[tuple[str, str], list[tuple[At, At, Comparison]]] = defaultdict(list)
    for against, one, other, comparison in found:
        pairs[one.level, against].append((one, other, comparison))
    return [
        Family(
            figure, level, against,
            [Compared(*each, p) for each, p in zip(of, holm([comparison.p for _, _, comparison in of]), strict=True)],
        )
        for (level, against), of in pairs.items()
    ]  # fmt: skip
