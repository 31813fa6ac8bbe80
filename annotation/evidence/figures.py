"""Stored evaluation of rankers: it compares all texts of inputs with the sentences of the studies."""

from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.queries import stored
from projects.stored_figures.registry import FigureSet

from .queries import evaluation

KEY = "evidence"


class EvidenceFigures(FigureSet):
    key = KEY
    rule = 2

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "comparing rankings with mapped evidence")
        return evaluation(project)


def evaluation_now(project: Project, against: str = "") -> tuple[Any, Any]:
    """Return the evaluation, and its time if it is stored and a job renews it; else None.

    ``against``: see `evaluation`. The differences from another ranker than the most accurate one are not stored.
    """
    known = stored(project, KEY)
    if known.is_usable(lambda figures: figures["pairs"]) and against in ("", known.figures["against"]):
        return known.figures, known.as_of if known.job else None
    return evaluation(project, against), None
