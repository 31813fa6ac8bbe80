"""Table of sliders: raw means beside means of the raters' standard scores."""

from projects.reports.table import Cell, Column, Table

from .building import INTERVALS, LETTERS, ROUND, Json, RatedRound, Ratings, RatingsTable, ends, figure, reason


class StandardisedTable(RatingsTable):
    key = "standard-scores"
    title = "Sliders: means and standard scores"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["standardised"] for each in data.computed_rounds)

    def build(self, data: Ratings) -> Table:
        rounds = [each for each in data.computed_rounds if each.cited["standardised"]]
        directions = {made["better"] for each in rounds for made in each.cited["standardised"]}
        better = directions.pop() if len(directions) == 1 else ""
        return Table(
            self.key,
            self.title,
            (
                "Means of ratings on a slider, and of each rater's standard scores: the distance from the rater's own "
                "mean in standard deviations."
            ),
            [
                ROUND,
                Column("Criterion", False),
                Column("System", False),
                Column("Mean", better=better),
                Column("Mean standard score", better=better),
                Column("n"),
            ],
            [row for each in rounds for made in each.cited["standardised"] for row in self._rows(each, made)],
            [INTERVALS, LETTERS, *self._rater_notes(data, rounds), *data.notes(rounds)],
            data.missing(),
            alike=(0, 1),
        )

    def _rows(self, each: RatedRound, made: Json) -> list[list[Cell]]:
        [raw] = [one for one in each.cited["criteria"] if one["criterion"] == made["criterion"]]
        scores = {row["system"]: row for row in made["systems"]}
        no_score: Json = {"value": None, "undefined": "no rater has standard scores", "ci": None}
        rows = []
        for row in raw["systems"]:
            score = scores.get(row["system"], no_score)
            rows.append(
                [
                    Cell(each.name),
                    Cell(each.called(made["criterion"])),
                    Cell(row["system"]),
                    _mean(row, raw["letters"]),
                    _mean(score, made["letters"]),
                    Cell(row["n"]),
                ]
            )
        return rows

    def _rater_notes(self, data: Ratings, rounds: list[RatedRound]) -> list[str]:
        notes = []
        for each in rounds:
            for made in each.cited["standardised"]:
                if count := len(made["left_out"]):
                    names = f" ({', '.join(made['left_out'])})" if data.shows_raters else ""
                    notes.append(
                        f"{each.name}, {each.called(made['criterion'])}: {count} raters without variance have no "
                        f"standard scores{names}."
                    )
        return notes


def _mean(row: Json, letters: Json) -> Cell:
    return figure(
        row["value"],
        row["undefined"],
        ci=ends(row["ci"]),
        ci_reason=reason(row),
        letters=letters.get(row.get("system", ""), ""),
    )
