"""How rankers find the evidence that people mapped to the targets."""

from dataclasses import replace
from typing import Any

from measures.evidence import Pair, Report, report
from projects.models import Project

from ..actions.ranking import KIND
from ..models import Study
from ..rankers import every
from ..values import evidence
from .asked import pending

Json = dict[str, Any]


def overview(project: Project) -> Json:
    """What there is to rank, what each ranker has ranked, and how well. A fixed number of queries."""
    people, ranked = evidence.mapped(project), evidence.count_ranked(project)
    by_ranker = evidence.ranked_by(project, people.pairs)
    studies, split = Study.objects.filter(project=project).count(), evidence.split_studies(project).count()
    return {
        "targets": evidence.targets(project).count(),
        "studies": studies,
        "studies_without_sentences": studies - split,
        "pairs": evidence.count_pairs(project),
        "mapped": len(people.pairs),
        "not_found": people.not_found,
        "no_abstract": people.no_abstract,
        "baseline": _json(report(map(_in_order, people.pairs.values()))),
        "rankings": [
            {"ranker": name, "ranked": n, "report": _json(report(by_ranker.get(name, [])))}
            for name, n in ranked.items()
        ],
        "rankers": [{"key": one.key, "title": one.title, "takes": one.takes} for one in every()],
        "job": pending(project, KIND),
    }


def _in_order(pair: Pair) -> Pair:
    """Ranked as the abstract has them: for what does not depend on a ranking."""
    return replace(pair, order=tuple(range(pair.sentences)))


def _json(found: Report) -> Json:
    shares = {name: getattr(found, name).as_json() for name in ("top_1", "top_3", "position")}
    return {**shares, "chance_1": found.chance_1, "chance_3": found.chance_3, "sentences": found.sentences}
