"""Tables of raters: pace, severity and consistency. Only for members who may see who answered what."""

from collections.abc import Iterator

from evaluation.results.tables.building import asked_criteria
from projects.reports.table import Cell, Column, Table

from .building import ROUND, RatedRound, Ratings, RatingsTable, ends, figure, per_cent, reason

RATER = Column("Rater", False)


class _RatersTable(RatingsTable):
    def is_of(self, data: Ratings) -> bool:
        return data.shows_raters and bool(data.computed_rounds)


class PaceTable(_RatersTable):
    key = "raters"
    title = "Raters: pace and checks"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.computed_rounds for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key,
            self.title,
            "Active seconds per page, and degraded texts that the rater did not rate lower.",
            [
                ROUND,
                RATER,
                Column("Ratings"),
                Column("Pages"),
                Column("Median seconds per page"),
                Column("Fast pages"),
                Column("Failed checks"),
                Column("Checks"),
            ],
            rows,
            [each.cited["rule"].split("; ")[-1].capitalize() + "." for each in data.computed_rounds[:1]],
            data.missing(),
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        figures = each.figures or {}
        checks = {row["rater"]: row for row in figures["checks"]}
        for row in figures["all"]["raters"]:
            check = checks.get(row["rater"], {"failed": 0, "had": 0})
            seconds = None if row["median_ms"] is None else row["median_ms"] / 1000
            yield [
                Cell(each.name),
                Cell(row["rater"]),
                Cell(row["judgements"]),
                Cell(row["pages"]),
                figure(seconds, row["no_pace"], 1),
                Cell(row["fast"]),
                Cell(check["failed"]),
                Cell(check["had"]),
            ]


class SeverityTable(_RatersTable):
    key = "severity"
    title = "Raters: severity"
    beside = "raters"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.computed_rounds for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key,
            self.title,
            "Rater minus the mean of the other raters on the same texts; n is the number of these texts.",
            [ROUND, RATER, Column("Criterion", False), Column("Difference"), Column("n")],
            rows,
            missing=data.missing(),
            beside=self.beside,
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for rater in (each.figures or {})["all"]["raters"]:
            for criterion, mean in rater["severity"].items():
                yield [
                    Cell(each.name),
                    Cell(rater["rater"]),
                    Cell(each.called(criterion)),
                    figure(mean["value"], mean["undefined"], ci=ends(mean["ci"]), ci_reason=reason(mean)),
                    Cell(mean["n"]),
                ]


class AgainTable(_RatersTable):
    key = "intra-rater"
    title = "Raters: test-retest agreement"
    beside = "raters"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.computed_rounds for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key,
            self.title,
            "Agreement between the first and the repeated rating of a page; n is the number of pairs of ratings.",
            [ROUND, Column("Criterion", False), Column("Same"), Column("Kappa"), Column("Difference"), Column("n")],
            rows,
            [
                (
                    "Same: percent agreement, with N/A as a value. Kappa: quadratic weights on ordered "
                    "scales. Difference: mean absolute difference."
                )
            ],
            data.missing(),
            beside=self.beside,
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for criterion in asked_criteria((each.figures or {})["all"]):
            again = criterion["again"]
            yield [
                Cell(each.name),
                Cell(each.called(criterion["criterion"])),
                figure(per_cent(again["share"]), again["undefined"], 1),
                figure(again["kappa"], again["no_kappa"] or again["undefined"]),
                figure(again["difference"], again["undefined"] or "the values are not numeric"),
                Cell(again["n"]),
            ]
