"""Scores of a summary that has several named references: one by one, or the maximum over the references."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

#: Choices of the setting ``references`` of a metric.
ONE_BY_ONE, MAXIMUM = "one by one", "maximum"
#: Name of the maximum in tables, in place of the name of a reference.
OF_MAXIMUM = "maximum over references"
#: Levels whose references are written summaries, by name.
WRITTEN_LEVELS = ("answer", "question")


@dataclass
class SummaryMaxima:
    """The largest value of each figure of one summary over its references, and the reasons of undefined figures."""

    summary: Hashable
    review: Hashable
    values: dict[str, float | None] = field(default_factory=dict)
    undefined: dict[str, str] = field(default_factory=dict)

    def add(self, values: Mapping[str, float | None], undefined: Mapping[str, str]) -> None:
        """Add the scores against one reference. A figure is undefined only if it is so for every reference."""
        for figure, value in values.items():
            known = self.values.get(figure)
            if value is not None:
                self.values[figure] = value if known is None else max(known, value)
                self.undefined.pop(figure, None)
            elif known is None:
                self.values[figure] = None
                self.undefined.setdefault(figure, undefined.get(figure, ""))


Row = tuple[Hashable, Hashable, Mapping[str, float | None], Mapping[str, str]]


def maxima(rows: Iterable[Row]) -> Iterator[SummaryMaxima]:
    """Return one row per summary, in order of the first row of each.

    A row has the summary, its review or question, the values and the reasons of undefined ones. Each figure has its own
    maximum, so precision and F1 may come from different references.
    """
    found: dict[Hashable, SummaryMaxima] = {}
    for summary, review, values, undefined in rows:
        found.setdefault(summary, SummaryMaxima(summary, review)).add(values, undefined)
    return iter(found.values())
