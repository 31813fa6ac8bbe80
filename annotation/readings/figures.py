"""Stored statistics of machine readings."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from . import statistics

KEY = "readings"


class ReadingFigures(FigureSet):
    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        return statistics.figures(project, progress)
