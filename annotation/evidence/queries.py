"""Evaluation of rankers against the evidence that people assigned."""

from dataclasses import replace
from typing import Any

from api.problems import Refused
from measures.evidence import Pair, Report, report
from measures.rankers import SideBySide, side_by_side
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


def evaluation(project: Project, against: str = "") -> Json:
    """Return what can be ranked, what each ranker has ranked, and how rankers compare. A fixed number of queries.

    ``against``: the ranker that the others are compared with; by default the most accurate one. Raise `Refused` if it
    is unknown.
    """
    people, ranked = current.mapped_pairs(project), current.count_ranked(project)
    if against and against not in ranked:
        raise Refused.field("against", f"Nothing is ranked by {against!r}. Rankers: {', '.join(ranked) or 'none'}.")
    by_ranker = current.ranked_by(project, people.pairs)
    beside = side_by_side({name: by_ranker.get(name, {}) for name in ranked}, against)
    studies, split = Study.objects.filter(project=project).count(), current.split_studies(project).count()
    return {
        "targets": current.targets(project).count(),
        "studies": studies,
        "studies_without_sentences": studies - split,
        "pairs": current.count_pairs(project),
        "mapped": len(people.pairs),
        "not_found": people.not_found,
        "no_abstract": people.no_abstract,
        "against": beside.against,
        "baseline": _json(report(_in_order(pair) for key, pair in people.pairs.items() if _counts(key, beside))),
        "rankings": [
            {
                "ranker": row.name,
                "ranked": ranked[row.name],
                "mapped": row.ranked,
                "report": _json(row.report),
                "differences": [difference.as_json() for difference in row.differences],
            }
            for row in beside.rows
        ],
    }


def _counts(key: current.PairKey, beside: SideBySide) -> bool:
    """Whether the baseline is computed on a pair: on those of the rankers, or on all if there is none."""
    return not beside.common or key in beside.common


def _in_order(pair: Pair) -> Pair:
    """Return the pair ranked in the order of the abstract, for figures that do not depend on a ranking."""
    return replace(pair, order=tuple(range(pair.sentences)))


def _json(accuracy: Report) -> Json:
    shares = {name: getattr(accuracy, name).as_json() for name in ("top_1", "top_3", "position")}
    return {**shares, "chance_1": accuracy.chance_1, "chance_3": accuracy.chance_3, "sentences": accuracy.sentences}
