"""M3's Table 1: retrieved and included reviews by topic."""

from django.db.models import Count, Exists, OuterRef, Q

from annotation.clusters.gold import current_screenings
from annotation.pubmed.records import RETRIEVED
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table

from ..models import RecordStatus, Review, Screened


class Topics(TableContext):
    """Retrieved reviews by topic. Everyone who may read the corpus may see them."""

    def rows(self) -> list[tuple[str, list[int]]]:
        """Return (topic, counts in the order of `COLUMNS`), sorted by topic; reviews without a topic come last."""
        decided = current_screenings().filter(unit=OuterRef("unit"))
        included, excluded = (
            Exists(decided.filter(screening=Screened.INCLUDE)),
            Exists(decided.exclude(screening=Screened.INCLUDE)),
        )
        topics = Review.objects.filter(RETRIEVED, project=self.project).order_by().values("topic")
        counted = topics.annotate(
            n=Count("pk"),
            included=Count("pk", filter=included),
            excluded=Count("pk", filter=excluded),
            bare=Count("pk", filter=Q(record=RecordStatus.NO_ABSTRACT)),
            gone=Count("pk", filter=Q(is_retracted=True)),
        )
        rows = [
            (
                row["topic"],
                [
                    row["n"],
                    row["included"],
                    row["excluded"],
                    row["n"] - row["included"] - row["excluded"],
                    row["bare"],
                    row["gone"],
                ],
            )
            for row in counted
        ]
        return sorted(rows, key=lambda row: (not row[0], row[0].casefold()))


COLUMNS = ("Retrieved", "Included", "Excluded", "Undecided", "Without abstract", "Retracted")


class TopicTable(ReportTable[Topics]):
    key = "m3-1"
    title = "Reviews by topic (M3, Table 1)"
    data = Topics

    def is_of(self, data: Topics) -> bool:
        return Review.objects.filter(RETRIEVED, project=data.project).exists()

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
            [_screening_note(sum(totals[:1]), undecided)],
        )


def _screening_note(retrieved: int, undecided: int) -> str:
    if undecided == retrieved:
        return "No review has been screened, so none is included or excluded."
    note = "Included and excluded follow the current decisions of screening rounds."
    return f"{note} {undecided} of {retrieved} are undecided." if undecided else note
