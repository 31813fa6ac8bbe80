"""Stored stages of the flow of a data set."""

from dataclasses import asdict
from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.queries import Stored
from projects.stored_figures.registry import FigureSet

from .queries import Counted, Stage, stages

KEY = "flow"


class FlowFigures(FigureSet):
    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting records and exclusions")
        return [asdict(stage) for stage in stages(project)]


def stages_of(stored: Stored) -> list[Stage]:
    """Return the stored stages; none if they are not computed yet."""
    return [
        Stage(**stage | {name: _counted(stage[name]) for name in ("parts", "aside")}) for stage in stored.figures or []
    ]


def _counted(pairs: list[list[Any]]) -> tuple[Counted, ...]:
    return tuple((words, n) for words, n in pairs)
