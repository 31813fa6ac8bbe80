"""Stored comparison of machine readings with what people decided."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from ..readings.statistics import has_readings
from .queries import scores

KEY = "reading_scores"


class ReadingScores(FigureSet):
    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        return scores(project, progress) if has_readings(project) else []
