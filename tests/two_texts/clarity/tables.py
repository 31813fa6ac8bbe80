"""The mean points of both texts, as a paper would print them."""

from django.db.models import Avg, Count

from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table

from ..models import TextRating


class Ratings(TableContext):
    """The points of a project."""

    def means(self) -> dict[str, float | None]:
        found = TextRating.objects.filter(unit__project=self.project)
        return found.aggregate(n=Count("pk"), target=Avg("target"), input=Avg("input"))


class ClarityTable(ReportTable[Ratings]):
    key = "clarity"
    title = "How clear texts are"
    data = Ratings

    def build(self, data: Ratings) -> Table:
        means = data.means()
        rows = [
            [Cell(text), Cell(means["n"]), Cell(mean, 2, undefined="" if mean is not None else "nobody rated it")]
            for text in ("target", "input")
            for mean in [means[text]]
        ]
        columns = [Column("Text", False), Column("n"), Column("Points")]
        return Table(self.key, self.title, f"Mean points, {data.project.name}; n counts answers.", columns, rows)
