"""What the tables share: a row for every run and every kind of reference, and figures by their names."""

from collections.abc import Iterator, Sequence

from projects.tables import Cell, Column, PaperTable

from .. import metrics
from ..metrics.protocol import Figure
from .scored import RunAtHand, Scores

#: What every row begins with.
BEGINNING = (Column("System", False), Column("Level", False), Column("Against", False), Column("n"), Column("Reviews"))


class ScoresTable(PaperTable[Scores]):
    """A table of what metrics and the probe said."""

    data = Scores
    #: What it is made from.
    metrics: Sequence[str] = ()


def figure(metric: str, key: str) -> Figure:
    """A figure that a metric declares; KeyError where it does not."""
    return {figure.key: figure for figure in metrics.get(metric).figures}[key]


def rows_of(scores: Scores) -> Iterator[tuple[RunAtHand, str]]:
    return ((at, side) for at in scores.runs for side in at.sides())


def beginning(scores: Scores, at: RunAtHand, side: str, of: Sequence[tuple[str, str]]) -> tuple[list[Cell], int]:
    """System, level, what it is compared with, n and reviews; and n.

    These are those of the first of the figures (metric, key) that is there: a row in which there is one is not of none.
    """
    means = [scores.found(metric, at.run, key, side).mean for metric, key in of]
    mean = next((mean for mean in means if mean.n), means[0])
    return [Cell(at.name), Cell(at.level), Cell(side), Cell(mean.n), Cell(mean.clusters)], mean.n
