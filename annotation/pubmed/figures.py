"""Stored numbers of retrieved reviews by topic."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from .records import by_topic

KEY = "topics"


class TopicFigures(FigureSet):
    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting reviews by topic")
        return by_topic(project)
