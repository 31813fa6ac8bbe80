"""Stored numbers of target sentences that can be matched to their evidence."""

from collections import Counter
from typing import Any

from projects.jobs.batches import Progress
from projects.models import Project
from projects.stored_figures.queries import Stored, stored
from projects.stored_figures.registry import FigureSet

from ..kinds.match import matching

KEY = "matchable"


class MatchableFigures(FigureSet):
    """Numbers by the default ranker."""

    key = KEY

    def compute(self, project: Project, progress: Progress) -> Any:
        progress(0, None, "counting sentences that can be matched")
        return _count(project)


def matchable_now(project: Project) -> tuple[dict[str, Any], Stored | None]:
    """Return the numbers of targets, of those with four candidates, and of refused ones by reason.

    They are the stored numbers, which are returned as well, or counted now if those are not usable.
    """
    known = stored(project, KEY)
    if known.is_usable(lambda figures: figures["targets"]):
        return dict(known.figures), known
    return _count(project), None


def count_matchable(project: Project, ranker: str) -> dict[str, Any]:
    """Return the numbers for a ranker: the stored ones if they are current, else counted now. Actions use it."""
    if ranker == matching.rankers(project)[0]:
        known = stored(project, KEY)
        if known.figures is not None and known.job is None:
            return dict(known.figures)
    return _count(project, ranker)


def _count(project: Project, ranker: str = "") -> dict[str, Any]:
    matchable = matching.find_matchable(project, ranker or matching.rankers(project)[0])
    reasons = Counter(str(why) for why in matchable.refused.values())
    return {"targets": len(matchable.targets), "matchable": len(matchable.honest), "refused": reasons}
