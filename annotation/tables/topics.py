"""M3's Table 1: the reviews of each topic that were retrieved, and those that were included."""

from django.db.models import Count, Exists, OuterRef, Q

from projects.tables import Cell, Column, PaperTable, Table, TableData

from ..models import RecordStatus, Review, Screened
from ..values.in_force import screenings_in_force
from ..values.retrieved import RETRIEVED


class Topics(TableData):
    """Reviews that were retrieved, by topic. Nothing of them is sealed from who may read the corpus."""

    def rows(self) -> list[tuple[str, list[int]]]:
        """(topic, counts in the order of `COLUMNS`), in the order of the topics."""
        decided = screenings_in_force().filter(unit=OuterRef("unit"))
        included, excluded = (
            Exists(decided.filter(screening=Screened.INCLUDE)), Exists(decided.exclude(screening=Screened.INCLUDE)),
        )  # fmt: skip
        found = Review.objects.filter(RETRIEVED, project=self.project).order_by().values("topic")
        counted = found.annotate(
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
                    row["n"], row["included"], row["excluded"], row["n"] - row["included"] - row["excluded"],
                    row["bare"], row["gone"],
                ],
            )
            for row in counted
        ]  # fmt: skip
        return sorted(rows, key=lambda row: (not row[0], row[0].casefold()))


COLUMNS = ("Retrieved", "Included", "Excluded", "Undecided", "Without abstract", "Retracted")


class TopicTable(PaperTable[Topics]):
    key = "m3-1"
    title = "Reviews by topic (M3, Table 1)"
    data = Topics

    def is_of(self, data: Topics) -> bool:
        return Review.objects.filter(RETRIEVED, project=data.project).exists()

    def build(self, data: Topics) -> Table:
        found = data.rows()
        rows = [[Cell(topic or "no topic"), *map(Cell, counts)] for topic, counts in found]
        totals = [sum(column) for column in zip(*(counts for _, counts in found), strict=True)]
        if found:
            rows.append([Cell("All"), *map(Cell, totals)])
        undecided = totals[COLUMNS.index("Undecided")] if found else 0
        return Table(
            self.key,
            self.title,
            f"Reviews of {data.project.name} that were retrieved from PubMed, and those included, by topic. A review "
            "that several searches found counts once, by the topic that it was first found for.",
            [Column("Topic", False), *map(Column, COLUMNS)],
            rows,
            [_of_screening(sum(totals[:1]), undecided)],
        )


def _of_screening(retrieved: int, undecided: int) -> str:
    if undecided == retrieved:
        return "Nothing has been screened yet, so none is included or excluded."
    said = "Included and excluded are the decisions in force of rounds of screening."
    return f"{said} {undecided} of {retrieved} are undecided." if undecided else said
