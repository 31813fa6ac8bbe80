"""Evaluation of rankers against the evidence that people assigned."""

from typing import Any

from api.problems import Refused
from measures.rankers import figures
from projects.jobs.queries import pending_job
from projects.models import Project

from ..models import Study
from ..rankers import every
from . import current
from .actions import KIND

Json = dict[str, Any]


def overview(project: Project, evaluated: Json) -> Json:
    """Return the whole page from the result of `evaluation`."""
    rankers = [{"key": ranker.key, "title": ranker.title, "takes": ranker.takes} for ranker in every()]
    return {**evaluated, "rankers": rankers, "job": pending_job(project, KIND)}


def evaluation(project: Project, against: str = "") -> Json:
    """Return what can be ranked, what each ranker has ranked, and how rankers compare. A fixed number of queries.

    ``against``: the ranker that the others are compared with; by default the most accurate one. Raise `Refused` if it
    is unknown.
    """
    people, ranked = current.mapped_pairs(project), current.count_ranked(project)
    if against and against not in ranked:
        raise Refused.field("against", f"Nothing is ranked by {against!r}. Rankers: {', '.join(ranked) or 'none'}.")
    by_ranker = current.ranked_by(project, people.pairs)
    compared = figures(people.pairs, {name: by_ranker.get(name, {}) for name in ranked}, against)
    studies, split = Study.objects.filter(project=project).count(), current.split_studies(project).count()
    return {
        "targets": current.targets(project).count(),
        "studies": studies,
        "studies_without_sentences": studies - split,
        "pairs": current.count_pairs(project),
        "mapped": len(people.pairs),
        "not_found": people.not_found,
        "no_abstract": people.no_abstract,
        **compared,
        "rankings": [row | {"ranked": ranked[row["ranker"]]} for row in compared["rankings"]],
    }
