"""Stored agreement of all writers of a project, imported ones included."""

from typing import Any

from measures.writers import agreement
from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.registry import FigureSet

from .written import newest

KEY = "writers"


class WriterFigures(FigureSet):
    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        texts = newest(project)
        return agreement(texts) if texts else None
