"""Table of systems with their ratings, and with metric scores of the same texts."""

from collections import defaultdict
from collections.abc import Iterator

from evaluation.results.tables.building import (
    INTERVALS,
    LETTERS,
    ROUND,
    Json,
    RatedRound,
    Ratings,
    RatingsTable,
    ends,
    figure,
    per_cent,
    reason,
)
from measures.ratings.judgements import DERIVED
from projects.reports.table import Cell, Column, Table

COEFFICIENTS = ("kendall", "spearman", "pearson")


class MetricsTable(RatingsTable):
    key = "rating-metrics"
    title = "Automatic metrics against ratings"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["correlations"] for each in data.computed_rounds)

    def build(self, data: Ratings) -> Table:
        return Table(
            self.key,
            self.title,
            (
                "Correlation between metric scores and human ratings: at system level (means, n systems) "
                "and at item level (within items, mean over n items)."
            ),
            [
                ROUND,
                Column("Criterion", False),
                Column("Metric", False),
                Column("Level", False),
                Column("Kendall's tau-b"),
                Column("Spearman's rho"),
                Column("Pearson's r"),
                Column("n"),
            ],
            [row for each in data.computed_rounds for row in self._rows(each)],
            ["Intervals: percentile bootstrap over sources and systems (Deutsch et al. 2021)."],
            data.missing(),
        )

    def _rows(self, each: RatedRound) -> Iterator[list[Cell]]:
        grouped: dict[tuple[str, str, str], dict[str, Json]] = defaultdict(dict)
        for row in each.cited["correlations"]:
            grouped[row["criterion"], row["metric"], row["level"]][row["coefficient"]] = row
        for (criterion, metric, level), found in grouped.items():
            yield [
                Cell(each.name),
                Cell(each.called(criterion)),
                Cell(metric),
                Cell(level),
                *(
                    figure(
                        found[name]["value"],
                        found[name]["undefined"],
                        ci=ends(found[name]["ci"]),
                        ci_reason=reason(found[name]),
                    )
                    for name in COEFFICIENTS
                ),
                Cell(found[COEFFICIENTS[0]]["n"]),
            ]


class PreferencesTable(RatingsTable):
    key = "preferences"
    title = "Preferences (Bradley-Terry)"

    def is_of(self, data: Ratings) -> bool:
        return any(each.cited["preferences"] for each in data.computed_rounds)

    def build(self, data: Ratings) -> Table:
        rounds = [each for each in data.computed_rounds if each.cited["preferences"]]
        return Table(
            self.key,
            self.title,
            (
                "Bradley-Terry log strengths with mean 0; win rate against the average system in "
                "percent. Ties and neither count as half a win for each."
            ),
            [
                ROUND,
                Column("Criterion", False),
                Column("System", False),
                Column("Strength", better="higher"),
                Column("Chosen"),
                Column("Wins"),
                Column("Choices"),
            ],
            [row for each in rounds for row in self._rows(each)],
            ["Intervals: percentile bootstrap over sources.", *self._choice_notes(rounds), *data.notes(rounds)],
            data.missing(),
            alike=(0, 1),
        )

    def _rows(self, each: RatedRound) -> list[list[Cell]]:
        return [
            [
                Cell(each.name),
                Cell(each.called(made["criterion"])),
                each.system_cell(row["system"]),
                figure(row["strength"], made["undefined"], ci=ends(row["ci"]), ci_reason=reason(row)),
                figure(per_cent(row["chosen"]), made["undefined"], 1),
                Cell(row["wins"], 1),
                Cell(round(row["choices"])),
            ]
            for made in each.cited["preferences"]
            for row in made["systems"]
        ]

    def _choice_notes(self, rounds: list[RatedRound]) -> list[str]:
        return [
            (
                f"{each.name}, {each.called(made['criterion'])}: {made['n']} choices for "
                f"{made['sources']} sources, {made['ties']} ties, {made['neither']} neither; the left "
                f"text won {made['left']['count']} of {made['left']['n']} times."
            )
            for each in rounds
            for made in each.cited["preferences"]
        ]


EMPTY = Cell("")


class RatedSystemsTable(RatingsTable):
    key = "rated-systems"
    title = "Systems: ratings and metrics"
    beside = "ratings"

    def build(self, data: Ratings) -> Table:
        criteria = {_column(each, one): None for each in data.computed_rounds for one in _criteria(each)}
        metrics = {name: how for each in data.computed_rounds for name, how in _headlines(each).items()}
        return Table(
            self.key,
            self.title,
            (
                "Human ratings of systems after the declared exclusions: means, and percentages of good "
                "ratings or, marked with an arrow, of texts with the fault. Metric scores are those of "
                "the rated texts."
            ),
            [
                ROUND,
                Column("System", False),
                Column("Texts"),
                *(Column(f"{name} (%)" if kind == "share" else name, better=better) for name, kind, better in criteria),
                *(Column(how["label"], better=how["better"]) for how in metrics.values()),
            ],
            [
                [
                    Cell(each.name),
                    each.system_cell(system),
                    Cell(_texts(each, system)),
                    *(_said(each, system, which) for which in criteria),
                    *(_given(each, system, metric, how) for metric, how in metrics.items()),
                ]
                for each in data.computed_rounds
                for system in each.cited["systems"]
            ],
            [INTERVALS, LETTERS, "Best in bold.", *data.notes()],
            data.missing(),
            beside=self.beside,
            alike=(0,),
        )


def _criteria(each: RatedRound) -> list[Json]:
    return [one for one in each.cited["criteria"] if DERIVED not in one["criterion"] and one["kind"] != "counts"]


def _headlines(each: RatedRound) -> dict[str, Json]:
    """Return the headline metrics of a round, with their print settings."""
    available = {one["metric"] for one in each.cited["metrics"]}
    return {name: how for name, how in (each.figures or {})["printed"].items() if how["headline"] and name in available}


def _texts(each: RatedRound, system: str) -> int:
    """Return the number of a system's texts with a counted rating."""
    return max((row["n"] for one in _criteria(each) for row in one["systems"] if row["system"] == system), default=0)


def _column(each: RatedRound, criterion: Json) -> tuple[str, str, str]:
    """Return the key of a column that several protocols can share: name, kind of figure and direction."""
    return each.called(criterion["criterion"]), criterion["kind"], criterion["better"]


def _said(each: RatedRound, system: str, column: tuple[str, str, str]) -> Cell:
    for one in _criteria(each):
        if _column(each, one) == column:
            row = next(row for row in one["systems"] if row["system"] == system)
            scale, decimals = (100, 1) if one["kind"] == "share" else (1, 2)
            return _cell(each, row, scale, decimals, one["letters"].get(system, ""))
    return EMPTY


def _given(each: RatedRound, system: str, metric: str, how: Json) -> Cell:
    for one in each.cited["metrics"]:
        if one["metric"] == metric:
            row = next(row for row in one["systems"] if row["system"] == system)
            return _cell(each, row, how["scale"], how["decimals"])
    return EMPTY


def _cell(each: RatedRound, row: Json, scale: float, decimals: int, letters: str = "") -> Cell:
    """Return a figure. Its n is shown only if it differs from the row's number of texts."""
    if row["value"] is None:
        return Cell(None, undefined=row["undefined"])
    n = None if row["n"] == _texts(each, row["system"]) else row["n"]
    return Cell(row["value"] * scale, decimals, ends(row["ci"], scale), n=n, letters=letters, ci_reason=reason(row))
