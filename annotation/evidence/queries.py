"""Evaluation of rankers against the evidence that people assigned."""

from dataclasses import replace
from typing import Any

from measures.evidence import Pair, Report, report
from projects.jobs.queries import pending_job
from projects.models import Project

from ..models import Study
from ..rankers import every
from . import current
from .actions import KIND

Json = dict[str, Any]


def overview(project: Project, figures: Json) -> Json:
    """Return the whole page from the result of `evaluation`."""
    rankers = [{"key": ranker.key, "title": ranker.title, "takes": ranker.takes} for ranker in every()]
    return {**figures, "rankers": rankers, "job": pending_job(project, KIND)}


def evaluation(project: Project) -> Json:
    """Return what can be ranked, what each ranker has ranked, and its accuracy. A fixed number of queries."""
    people, ranked = current.mapped_pairs(project), current.count_ranked(project)
    by_ranker = current.ranked_by(project, people.pairs)
    studies, split = Study.objects.filter(project=project).count(), current.split_studies(project).count()
    return {
        "targets": current.targets(project).count(),
        "studies": studies,
        "studies_without_sentences": studies - split,
        "pairs": current.count_pairs(project),
        "mapped": len(people.pairs),
        "not_found": people.not_found,
        "no_abstract": people.no_abstract,
        "baseline": _json(report(map(_in_order, people.pairs.values()))),
        "rankings": [
            {"ranker": name, "ranked": n, "report": _json(report(by_ranker.get(name, [])))}
            for name, n in ranked.items()
        ],
    }


def _in_order(pair: Pair) -> Pair:
    """Return the pair ranked in the order of the abstract, for figures that do not depend on a ranking."""
    return replace(pair, order=tuple(range(pair.sentences)))


def _json(accuracy: Report) -> Json:
    shares = {name: getattr(accuracy, name).as_json() for name in ("top_1", "top_3", "position")}
    return {**shares, "chance_1": accuracy.chance_1, "chance_3": accuracy.chance_3, "sentences": accuracy.sentences}
