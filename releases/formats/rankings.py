"""Rankers of evidence: the pairs that people mapped, the order of each ranker, and the figures that follow from them.

Sentences are numbered from 1, in the order of the abstract. Current target sentences and their current inputs count, as
on the page *Sentence ranking*.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version

from annotation.evidence.current import PairKey, mapped_pairs, ranked_by
from annotation.models import Ranking, Review, Study, Target
from measures.evidence import Pair
from measures.rankers import figures
from projects.models import Project

from .notes import Notes
from .rows import csv_row

MAPPED, RANKINGS, FIGURES = "rankings/mapped.csv", "rankings/rankings.csv", "rankings/figures.json"
MAPPED_COLUMNS = ("target", "study", "review", "sentences", "evidence", "position")
RANKING_COLUMNS = ("ranker", "target", "study", "order")
#: Target and study as a release names them.
Named = tuple[str, str]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if not Ranking.objects.filter(target__project=project).exists():
        return
    people = mapped_pairs(project).pairs
    by_ranker = ranked_by(project, people)
    if not by_ranker:
        return
    names = _names(people)
    yield MAPPED, _mapped(people, names)
    yield RANKINGS, _rankings(by_ranker, names)
    found = figures(people, by_ranker) | {"numpy": version("numpy")}
    yield FIGURES, [json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"]


def _names(people: Mapping[PairKey, Pair]) -> dict[PairKey, Named]:
    targets = dict(Target.objects.filter(pk__in={target for target, _ in people}).values_list("pk", "key"))
    studies = dict(Study.objects.filter(pk__in={study for _, study in people}).values_list("pk", "pmid"))
    return {
        key: (targets[key[0]], studies[key[1]]) for key in sorted(people, key=lambda key: (key[0], studies[key[1]]))
    }


def _mapped(people: Mapping[PairKey, Pair], names: Mapping[PairKey, Named]) -> Iterator[bytes]:
    reviews = dict(Review.objects.filter(pk__in={pair.review for pair in people.values()}).values_list("pk", "pmid"))
    yield csv_row(MAPPED_COLUMNS)
    for key, name in names.items():
        pair = people[key]
        cells = (_numbers(sorted(pair.gold)), _numbers(pair.position))
        yield csv_row([*name, reviews[pair.review], pair.sentences, *cells])


def _rankings(by_ranker: Mapping[str, Mapping[PairKey, Pair]], names: Mapping[PairKey, Named]) -> Iterator[bytes]:
    yield csv_row(RANKING_COLUMNS)
    for ranker, pairs in sorted(by_ranker.items()):
        for key, name in names.items():
            if key in pairs:
                yield csv_row([ranker, *name, _numbers(pairs[key].order)])


def _numbers(indices: Sequence[int]) -> str:
    return " ".join(str(index + 1) for index in indices)
