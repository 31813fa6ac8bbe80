"""M3's Table 1: retrieved and included reviews by topic."""

from functools import cached_property

from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from ..models import RETRIEVED, Review
from .figures import KEY


class Topics(TableContext):
    """Retrieved reviews by topic. Everyone who may read the corpus may see them."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)

    def rows(self) -> list[tuple[str, list[int]]]:
        """Return (topic, counts in the order of `COLUMNS`), as stored."""
        return [(topic, counts) for topic, counts in self.stored.figures or []]


COLUMNS = ("Retrieved", "Included", "Excluded", "Undecided", "Without abstract", "Retracted")


class TopicTable(ReportTable[Topics]):
    key = "m3-1"
    title = "Reviews by topic (M3, Table 1)"
    data = Topics

    def is_of(self, data: Topics) -> bool:
        if data.stored.figures is None:
            return Review.objects.filter(RETRIEVED, project=data.project).exists()
        return bool(data.rows())

    def build(self, data: Topics) -> Table:
        topics = data.rows()
        rows = [[Cell(topic or "no topic"), *map(Cell, counts)] for topic, counts in topics]
        totals = [sum(column) for column in zip(*(counts for _, counts in topics), strict=True)]
        if topics:
            rows.append([Cell("All"), *map(Cell, totals)])
        undecided = totals[COLUMNS.index("Undecided")] if topics else 0
        return Table(
            self.key,
            self.title,
            f"Reviews of {data.project.name} that were retrieved from PubMed, and those included, by topic. A review "
            "found by several searches counts once, under the topic of the first search.",
            [Column("Topic", False), *map(Column, COLUMNS)],
            rows,
            [*([_screening_note(sum(totals[:1]), undecided)] if topics else []), *data.stored.notes()],
        )


def _screening_note(retrieved: int, undecided: int) -> str:
    if undecided == retrieved:
        return "No review has been screened, so none is included or excluded."
    note = "Included and excluded follow the current decisions of screening rounds."
    return f"{note} {undecided} of {retrieved} are undecided." if undecided else note
