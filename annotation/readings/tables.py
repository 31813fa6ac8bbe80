"""Tables of MS^2's data: reviews and studies, directions of effects, and years."""

from functools import cached_property
from typing import Any

from projects.reports.figures import Figure, YearPlot
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from ..models import Direction
from . import statistics
from .figures import KEY

NAMES = {
    "studies": "Included studies",
    "tokens": "Input tokens",
    "tokens of 25 studies": "Input tokens, first 25 studies",
    "pop": "Spans: population",
    "int": "Spans: intervention",
    "out": "Spans: outcome",
}


class ReadingData(TableContext):
    """Stored statistics of machine readings. Everyone who may read the corpus may see them."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)

    @property
    def figures(self) -> dict[str, Any]:
        return self.stored.figures or {}

    @cached_property
    def has_any(self) -> bool:
        return bool(self.figures) or (self.stored.figures is None and statistics.has_readings(self.project))


class _ReadingTable(ReportTable[ReadingData]):
    data = ReadingData

    def is_of(self, data: ReadingData) -> bool:
        return data.has_any


class SizeTable(_ReadingTable):
    key = "ms2-size"
    title = "Reviews and their studies (MS^2)"

    def build(self, data: ReadingData) -> Table:
        rows = [
            [Cell(NAMES[row["name"]]), Cell(row["n"]), Cell(row["mean"], sd=row["sd"])]
            + [Cell(row[name]) for name in ("median", "least", "most")]
            for row in data.figures.get("reviews", [])
        ]
        return Table(
            self.key,
            self.title,
            f"Quantities per review of {data.project.name}. n counts reviews.",
            [Column("Per review", False), *map(Column, ("n", "Mean ± SD", "Median", "Minimum", "Maximum"))],
            rows,
            [
                "Tokens are separated by blanks, and are those of the abstracts of included studies. Spans are those "
                "that the tags of a review's abstract mark. SD: of the population.",
                *data.stored.notes(),
            ],
        )


class DirectionTable(_ReadingTable):
    key = "ms2-directions"
    title = "Directions of effects by a model (MS^2)"

    def build(self, data: ReadingData) -> Table:
        rows = [
            [Cell(row["name"]), Cell(row["n"])]
            + [_share(count, row["n"]) for count in (*row["directions"], row["weak"])]
            for row in data.figures.get("directions", [])
        ]
        agreement = data.figures.get("agreement")
        notes = [
            "A model chose each direction; no person has. It has no class for studies that report nothing of the pair: "
            f"weak evidence has a score below {statistics.WEAK}."
        ]
        if agreement and agreement["n"]:
            share = 100 * agreement["count"] / agreement["n"]
            notes.append(
                f"{agreement['count']:,} of {agreement['n']:,} effects of included studies ({share:.1f}%) have the "
                "direction of their review (MS^2: 53.8%)."
            )
        titles = ("n", *(f"{label} (%)" for label in Direction.labels), "Weak evidence (%)")
        return Table(
            self.key,
            self.title,
            f"Most probable directions of the effects in {data.project.name}. n counts effects: one for each pair of "
            "an intervention and an outcome of a review, in the review and in each study.",
            [Column("Text", False), *map(Column, titles)],
            rows,
            [*notes, *data.stored.notes()],
        )


class YearTable(_ReadingTable):
    key = "ms2-years"
    title = "Years of reviews and studies (MS^2, Figure 2)"

    def build(self, data: ReadingData) -> Table:
        years = data.figures.get("years", {"reviews": [], "studies": []})
        counts = {name: dict(map(tuple, years[name])) for name in ("reviews", "studies")}
        listed = sorted({*counts["reviews"], *counts["studies"]}, key=lambda year: (year is None, year or 0))
        return Table(
            self.key,
            self.title,
            f"Reviews of {data.project.name} and their included studies by year of publication.",
            [Column("Year", False), Column("Reviews"), Column("Studies")],
            [
                [
                    Cell("year unknown" if year is None else str(year)),
                    Cell(counts["reviews"].get(year, 0)),
                    Cell(counts["studies"].get(year, 0)),
                ]
                for year in listed
            ],
            data.stored.notes(),
        )

    def figures(self, data: ReadingData) -> list[Figure]:
        years = data.figures.get("years")
        if not years:
            return []
        unknown = [f"{name} {statistics.unknown(rows):,}" for name, rows in years.items() if statistics.unknown(rows)]
        note = "Number by year of publication." + (f" Year unknown: {', '.join(unknown)}." if unknown else "")
        series = {
            name.capitalize(): [(year, n) for year, n in rows if year is not None] for name, rows in years.items()
        }
        return [YearPlot("years", "Years of reviews and studies", note, series)]


def _share(count: int, n: int) -> Cell:
    return Cell(100 * count / n, count=count, n=n)
