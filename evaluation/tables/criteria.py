"""Ratings by system and criterion, and every pair of systems."""

from collections.abc import Iterator

from measures.ratings.judgements import DERIVED
from projects.tables import Cell, Column, Table

from .building import INTERVALS, ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure, share

LETTERS = "Systems that share a letter were not shown to differ (swaps by review, Holm over a criterion's pairs, 5 %)."


def asked(figures: Json) -> Iterator[Json]:
    """The criteria that raters were asked, without what is derived."""
    return (each for each in figures["criteria"] if DERIVED not in each["criterion"])


class CriteriaTable(RatingsTable):
    key = "ratings"
    title = "Ratings by people, by system and criterion"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.reckoned for row in self._rows(each)]
        return Table(
            self.key, self.title,
            f"What raters said in unblinded rounds of {data.project.name}: means of numbers, shares of good answers in "
            "per cent with their counts. n counts texts that were rated.",
            [ROUND, Column("Ratings", False), Column("Criterion", False), Column("System", False), Column("Mean"),
             Column("Share"), Column("Letters", False), Column("n"), Column("Sources"), Column("N/A")],
            rows,
            [INTERVALS, LETTERS, "Shares: Wilson's intervals over reviews.", *data.notes()],
            data.missing(),
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for way, figures in each.ways():
            for criterion in asked(figures):
                for row in criterion["systems"]:
                    yield [
                        Cell(each.name), Cell(way), Cell(each.called(criterion["criterion"])), Cell(row["system"]),
                        *self._figure(criterion["kind"], row),
                        Cell(criterion["letters"].get(row["system"], "")), Cell(row["n"]), Cell(row["sources"]),
                        Cell(row["na"]),
                    ]  # fmt: skip

    def _figure(self, kind: str, row: Json) -> list[Cell]:
        """Mean and share, one of which is empty."""
        if row["value"] is None:
            none = Cell(None, undefined=row["undefined"])
            return [Cell(""), none] if kind == "share" else [none, Cell("")]
        if kind == "share":
            return [Cell(""), share(row)]
        return [Cell(row["value"], 2, ends(row["ci"])), Cell("")]


class DifferencesTable(RatingsTable):
    key = "rating-differences"
    title = "Differences between systems"
    beside = "ratings"

    def build(self, data: Ratings) -> Table:
        rows = [row for each in data.reckoned for row in self._rows(each)]
        return Table(
            self.key, self.title,
            "The first system less the second on the texts that both have, by the rules that each round declared; "
            "shares as parts of 1. n counts those texts.",
            [ROUND, Column("Criterion", False), Column("First", False), Column("Second", False), Column("Difference"),
             Column("p"), Column("p (Holm)"), Column("Beside", False), Column("p beside"), Column("n")],
            rows,
            [
                INTERVALS, "p: swaps by source, two-sided; Holm over the pairs of a criterion.",
                "Beside: Wilcoxon's signed ranks over reviews, pairs without a difference left out; McNemar's exact "
                "test of shares.",
            ],
            data.missing(), beside=self.beside,
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        for criterion in asked(each.cited):
            for pair in criterion["pairs"]:
                compared, name = pair["comparison"], "Wilcoxon" if "wilcoxon" in pair else "McNemar"
                difference, test = compared["difference"], pair[name.lower()]
                why = difference["undefined"]
                yield [
                    Cell(each.name), Cell(each.called(criterion["criterion"])), Cell(pair["first"]),
                    Cell(pair["second"]), figure(difference["value"], why, 3, ci=ends(difference["ci"])),
                    figure(compared["p"], why, 4, is_p=True), figure(pair["holm"], why, 4, is_p=True), Cell(name),
                    figure(test["p"], test["undefined"], 4, is_p=True), Cell(difference["n"]),
                ]  # fmt: skip
