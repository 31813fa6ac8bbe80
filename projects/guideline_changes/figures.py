"""Stored figures of the versions that concern answers: computing them takes seconds in a large project."""

from typing import Any

from ..concerns.queries import GuidelineChange
from ..jobs.batches import Progress
from ..models import Project
from ..stored_figures.registry import FigureSet
from .queries import figures, open_work, stated_changes

KEY = "guideline_changes"


class ChangeFigures(FigureSet):
    """The figures of each version, by its id, and what is left to do."""

    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        found = {}
        for done, version in enumerate(stated_changes(project)):
            progress(done, None, f"guideline of {version.kind}, version {version.number}")
            change = GuidelineChange.of(version)
            found[str(version.pk)] = figures(change) | open_work(change)
        return found
