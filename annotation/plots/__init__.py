"""Pictures of the data set, drawn on the server as SVG."""

from collections.abc import Sequence

from projects.models import Project
from projects.plots.flow import Box, flow_chart
from projects.plots.svg import Look

from ..values.flow import Counted, stages

TITLE = "How the data set came to be"
NOTE = "What left a step stands beside it with the reasons. Steps that have not begun are left out."


def flow(project: Project, look: Look) -> str:
    """The flow figure of a data set (PRISMA)."""
    boxes = [
        Box(
            _counted(stage.words, stage.count), _lines(stage.parts),
            _counted(stage.aside_words, stage.count - stage.onward) if stage.aside else "", _lines(stage.aside),
        )
        for stage in stages(project)
    ]  # fmt: skip
    return flow_chart(f"{TITLE}: {project.name}", NOTE, boxes, look)


def _counted(words: str, count: int) -> str:
    return f"{words} (n = {count:,})"


def _lines(counted: Sequence[Counted]) -> list[str]:
    return [f"{words}: {n:,}" for words, n in counted]
