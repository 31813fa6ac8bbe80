"""Table of strengths from choices of the best and the worst text of a tuple."""

from projects.reports.table import Cell, Column, Table

from .building import INTERVALS, LETTERS, ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure, reason


class BestWorstTable(RatingsTable):
    key = "best-worst"
    title = "Best and worst (Plackett-Luce)"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["best_worst"] for each in data.computed_rounds)

    def build(self, data: Ratings) -> Table:
        rounds = [each for each in data.computed_rounds if each.cited["best_worst"]]
        return Table(
            self.key,
            self.title,
            (
                "Share of texts chosen as the best less share chosen as the worst; Plackett-Luce log strengths with "
                "mean 0, of the sequential best-worst model."
            ),
            [
                ROUND,
                Column("Criterion", False),
                Column("System", False),
                Column("Best less worst", better="higher"),
                Column("Strength", better="higher"),
                Column("Best"),
                Column("Worst"),
                Column("Shown"),
            ],
            [row for each in rounds for made in each.cited["best_worst"] for row in self._rows(each, made)],
            [INTERVALS, LETTERS, *self._choice_notes(rounds), *data.notes(rounds)],
            data.missing(),
            alike=(0, 1),
        )

    def _rows(self, each: RatedRound, made: Json) -> list[list[Cell]]:
        [criterion] = [one for one in each.cited["criteria"] if one["criterion"] == made["criterion"]]
        counts = {row["system"]: row for row in criterion["systems"]}
        return [
            [
                Cell(each.name),
                Cell(each.called(made["criterion"])),
                Cell(row["system"]),
                figure(
                    counts[row["system"]]["value"],
                    counts[row["system"]]["undefined"],
                    ci=ends(counts[row["system"]]["ci"]),
                    ci_reason=reason(counts[row["system"]]),
                    letters=criterion["letters"].get(row["system"], ""),
                ),
                figure(row["strength"], made["undefined"], ci=ends(row["ci"]), ci_reason=reason(row)),
                Cell(row["best"]),
                Cell(row["worst"]),
                Cell(row["shown"]),
            ]
            for row in made["systems"]
        ]

    def _choice_notes(self, rounds: list[RatedRound]) -> list[str]:
        return [
            f"{each.name}, {each.called(made['criterion'])}: {made['n']} tuples for {made['sources']} sources."
            for each in rounds
            for made in each.cited["best_worst"]
        ]
