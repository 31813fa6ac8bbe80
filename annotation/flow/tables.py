"""The flow of records as a table and a figure."""

from collections.abc import Sequence
from functools import cached_property

from annotation.models import RETRIEVED, Review
from projects.models import Project
from projects.reports.figures import Box, Figure, FlowChart
from projects.reports.registry import ReportTable, TableContext
from projects.reports.table import Cell, Column, Table
from projects.stored_figures.queries import Stored, stored

from .figures import KEY, stages_of
from .queries import Counted, Stage


class Flow(TableContext):
    """The stored stages. None of them is hidden from users who can read the corpus."""

    @cached_property
    def stored(self) -> Stored:
        return stored(self.project, KEY)

    def stages(self) -> list[Stage]:
        return stages_of(self.stored)


class FlowTable(ReportTable[Flow]):
    key = "flow"
    title = "Flow of the data set (PRISMA)"
    data = Flow

    def is_of(self, data: Flow) -> bool:
        if data.stored.figures is None:
            return Review.objects.filter(RETRIEVED, project=data.project).exists()
        return any(stage.key == "retrieved" for stage in data.stages())

    def figures(self, data: Flow) -> list[Figure]:
        return [flow_chart(data.project, data.stages())]

    def build(self, data: Flow) -> Table:
        rows = []
        for stage in data.stages():
            rows.append([Cell(stage.words), Cell(""), Cell(stage.count)])
            rows += [[Cell(""), Cell(f"of these {words}"), Cell(n)] for words, n in stage.parts]
            rows += [[Cell(""), Cell(f"{stage.aside_words}: {words}"), Cell(n)] for words, n in stage.aside]
        return Table(
            self.key,
            self.title,
            f"Flow of the data set {data.project.name}: records found, exclusions at each step with reasons, and what "
            "was created from the rest. Steps that have not begun are omitted.",
            [Column("Step", False), Column("Part or exclusion", False), Column("n")],
            rows,
            data.stored.notes(),
        )


def flow_chart(project: Project, flow_stages: Sequence[Stage]) -> FlowChart:
    """Return the flow figure of a data set (Page et al. 2021, PRISMA 2020)."""
    boxes = [
        Box(
            _counted(stage.words, stage.count),
            _lines(stage.parts),
            _counted(stage.aside_words, stage.count - stage.onward) if stage.aside else "",
            _lines(stage.aside),
        )
        for stage in flow_stages
    ]
    note = "Exclusions are in the box beside each step, with reasons. Steps that have not begun are omitted."
    return FlowChart("flow", f"Flow of the data set: {project.name}", note, boxes)


def _counted(words: str, count: int) -> str:
    return f"{words} (n = {count:,})"


def _lines(counted: Sequence[Counted]) -> list[str]:
    return [f"{words}: {n:,}" for words, n in counted]
