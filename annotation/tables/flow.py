"""The counts of the flow figure."""

from projects.tables import Cell, Column, PaperTable, Table, TableData

from ..models import Review
from ..values.flow import Stage, stages
from ..values.retrieved import RETRIEVED


class Flow(TableData):
    """The steps of the data set that have begun. Nothing of them is sealed from who may read the corpus."""

    def stages(self) -> list[Stage]:
        return stages(self.project)


class FlowTable(PaperTable[Flow]):
    key = "flow"
    title = "Flow of the data set (PRISMA)"
    data = Flow

    def is_of(self, data: Flow) -> bool:
        return Review.objects.filter(RETRIEVED, project=data.project).exists()

    def build(self, data: Flow) -> Table:
        rows = []
        for stage in data.stages():
            rows.append([Cell(stage.words), Cell(""), Cell(stage.count)])
            rows += [[Cell(""), Cell(f"of them {words}"), Cell(n)] for words, n in stage.parts]
            rows += [[Cell(""), Cell(f"{stage.aside_words}: {words}"), Cell(n)] for words, n in stage.aside]
        return Table(
            self.key,
            self.title,
            f"How the data set {data.project.name} came to be: what was found, what left at each step and why, and "
            "what came of the rest. Steps that have not begun are left out.",
            [Column("Step", False), Column("Which", False), Column("n")],
            rows,
        )
