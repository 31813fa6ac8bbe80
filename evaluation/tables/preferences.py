"""Which systems are preferred."""

from projects.tables import Cell, Column, Table

from .building import ROUND, RatedRound, Ratings, RatingsTable, ends, figure, per_cent


class PreferencesTable(RatingsTable):
    key = "preferences"
    title = "Preferences (Bradley-Terry)"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["preferences"] for each in data.reckoned)

    def build(self, data: Ratings) -> Table:
        there = [each for each in data.reckoned if each.cited["preferences"]]
        return Table(
            self.key, self.title,
            "Strengths from choices between two texts, as logarithms with mean 0; chosen: the chance against an "
            "average system in per cent. A tie, and neither, is half a choice for each.",
            [ROUND, Column("Criterion", False), Column("System", False),
             Column("Strength", better="higher"), Column("Chosen"), Column("Wins"), Column("Choices")],
            [row for each in there for row in self._rows(each)],
            ["Intervals: percentiles of rounds of sources drawn anew.", *self._said(there), *data.notes(there)],
            data.missing(), alike=(0, 1),
        )  # fmt: skip

    def _rows(self, each: RatedRound) -> list[list[Cell]]:
        return [
            [
                Cell(each.name), Cell(each.called(made["criterion"])), Cell(row["system"]),
                figure(row["strength"], made["undefined"], ci=ends(row["ci"])),
                figure(per_cent(row["chosen"]), made["undefined"], 1), Cell(row["wins"], 1),
                Cell(round(row["choices"])),
            ]
            for made in each.cited["preferences"] for row in made["systems"]
        ]  # fmt: skip

    def _said(self, there: list[RatedRound]) -> list[str]:
        return [
            f"{each.name}, {each.called(made['criterion'])}: {made['n']} choices of {made['sources']} sources, "
            f"{made['ties']} ties, {made['neither']} neither; the left text was chosen {made['left']['count']} of "
            f"{made['left']['n']} times."
            for each in there for made in each.cited["preferences"]
        ]  # fmt: skip
