"""Stored figures of the corpus."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from . import statistics

SUMMARY, LEVELS = "corpus", "levels"


class SummaryFigures(FigureSet):
    key = SUMMARY
    rule = 4

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting reviews, texts and values")
        return statistics.summary(project)


class LevelFigures(FigureSet):
    key = LEVELS

    def compute(self, project: Project, progress: Progress) -> Any:
        return statistics.table(project, progress)
