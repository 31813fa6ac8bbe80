"""The raters: how severe, how fast, and whether they say the same again. For those who may see who answered what."""

from collections.abc import Iterator

from projects.tables import Cell, Column, Table

from .building import ROUND, RatedRound, Ratings, RatingsTable, ends, figure, per_cent
from .criteria import asked

RATER = Column("Rater", False)


class _RatersTable(RatingsTable):
    def is_of(self, data: Ratings) -> bool:
        return data.shows_raters and bool(data.reckoned)


class PaceTable(_RatersTable):
    key = "raters"
    title = "Raters: pace and checks"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.reckoned for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key, self.title,
            "Seconds of active time a page, and texts made plainly bad that a rater did not find worse.",
            [ROUND, RATER, Column("Ratings"), Column("Pages"), Column("Median seconds a page"), Column("Fast pages"),
             Column("Checks missed"), Column("Checks")],
            rows,
            [each.cited["rule"].split("; ")[-1].capitalize() + "." for each in data.reckoned[:1]],
            data.missing(),
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        figures = each.figures or {}
        checks = {row["rater"]: row for row in figures["checks"]}
        for row in figures["all"]["raters"]:
            check = checks.get(row["rater"], {"failed": 0, "had": 0})
            seconds = None if row["median_ms"] is None else row["median_ms"] / 1000
            yield [
                Cell(each.name), Cell(row["rater"]), Cell(row["judgements"]), Cell(row["pages"]),
                figure(seconds, row["no_pace"], 1), Cell(row["fast"]), Cell(check["failed"]), Cell(check["had"]),
            ]  # fmt: skip


class SeverityTable(_RatersTable):
    key = "severity"
    title = "Raters: severity"
    beside = "raters"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.reckoned for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key, self.title,
            "What a rater said less what the others said of the same texts; n counts those texts.",
            [ROUND, RATER, Column("Criterion", False), Column("Difference"), Column("n")], rows,
            missing=data.missing(), beside=self.beside,
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for rater in (each.figures or {})["all"]["raters"]:
            for criterion, mean in rater["severity"].items():
                yield [
                    Cell(each.name), Cell(rater["rater"]), Cell(each.called(criterion)),
                    figure(mean["value"], mean["undefined"], ci=ends(mean["ci"])), Cell(mean["n"]),
                ]  # fmt: skip


class AgainTable(_RatersTable):
    key = "intra-rater"
    title = "Raters: the same again"
    beside = "raters"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.reckoned for row in self._rows(each)] if data.shows_raters else []
        return Table(
            self.key, self.title,
            "What raters said of pages that they were given again; n counts pairs of ratings.",
            [ROUND, Column("Criterion", False), Column("Same"), Column("Kappa"), Column("Difference"), Column("n")],
            rows,
            ["Same: in per cent, N/A counting as a value. Kappa of an ordered scale: quadratic weights. Difference: "
             "mean of absolute ones."],
            data.missing(), beside=self.beside,
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for criterion in asked((each.figures or {})["all"]):
            again = criterion["again"]
            yield [
                Cell(each.name), Cell(each.called(criterion["criterion"])),
                figure(per_cent(again["share"]), again["undefined"], 1),
                figure(again["kappa"], again["no_kappa"] or again["undefined"]),
                figure(again["difference"], again["undefined"] or "its values are no numbers"), Cell(again["n"]),
            ]  # fmt: skip
