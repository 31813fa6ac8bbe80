"""Every automatic metric against every criterion."""

from collections import defaultdict
from collections.abc import Iterator

from projects.tables import Cell, Column, Table

from .building import ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure

COEFFICIENTS = ("kendall", "spearman", "pearson")


class MetricsTable(RatingsTable):
    key = "rating-metrics"
    title = "Automatic metrics against ratings"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["correlations"] for each in data.reckoned)

    def build(self, data: Ratings) -> Table:
        return Table(
            self.key, self.title,
            "Correlation of what a metric gave with what people said: of the systems' means (n systems), and of the "
            "systems' texts for one item, mean over items (n items).",
            [ROUND, Column("Criterion", False), Column("Metric", False), Column("Level", False),
             Column("Kendall's tau-b"), Column("Spearman's rho"), Column("Pearson's r"), Column("n")],
            [row for each in data.reckoned for row in self._rows(each)],
            ["Intervals: percentiles of rounds of which sources and systems were drawn anew (Deutsch et al. 2021)."],
            data.missing(),
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        grouped: dict[tuple[str, str, str], dict[str, Json]] = defaultdict(dict)
        for row in each.cited["correlations"]:
            grouped[row["criterion"], row["metric"], row["level"]][row["coefficient"]] = row
        for (criterion, metric, level), found in grouped.items():
            yield [
                Cell(each.name), Cell(each.called(criterion)), Cell(metric), Cell(level),
                *(figure(found[name]["value"], found[name]["undefined"], ci=ends(found[name]["ci"]))
                  for name in COEFFICIENTS),
                Cell(found[COEFFICIENTS[0]]["n"]),
            ]  # fmt: skip
