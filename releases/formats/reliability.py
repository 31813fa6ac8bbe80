"""What people picked from in closed rounds, and reliability studies as their table prints them.

``agreement/candidates.csv``: the four sentences of each target, with the one that is its mapped evidence; an answer is
the number of one. ``agreement/studies.jsonl``: the figures of each closed round of a study, field by field, which
``python -m measures.again`` repeats from the answers, ``agreement/gold.csv`` and the candidates.
"""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from annotation.models import MatchCandidate
from annotation.values.reliability import fields, told
from projects import kinds
from projects.models import Project, Round

from .notes import Notes
from .rows import BATCH, flag, line

CANDIDATES, STUDIES = "agreement/candidates.csv", "agreement/studies.jsonl"
COLUMNS = (
    "round", "unit", "target", "review", "study", "number", "sentence", "text", "gold", "nearest_by", "rank",
)  # fmt: skip


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    candidates = _candidates(project)
    if candidates.exists():
        yield CANDIDATES, _rows(candidates)
    if next(told(project), None):
        yield STUDIES, _studies(project)


def _candidates(project: Project) -> QuerySet[MatchCandidate]:
    """Of closed rounds: while people answer nothing tells which is gold."""
    return MatchCandidate.objects.filter(
        item__round__project=project, item__round__status=Round.Status.CLOSED
    ).order_by("item__round", "item__number", "position")


def _rows(candidates: QuerySet[MatchCandidate]) -> Iterator[bytes]:
    yield line(COLUMNS)
    rows = candidates.values_list(
        "item__round__name", "item__unit__key", "item__target__key", "item__target__review__pmid", "item__study__pmid",
        "position", "sentence__number", "sentence__text", "is_gold", "item__nearest_by", "rank",
    )  # fmt: skip
    for *cells, gold, by, rank in rows.iterator(chunk_size=BATCH):
        yield line([*cells, flag(gold), by, rank])


def _studies(project: Project) -> Iterator[bytes]:
    for study, round in told(project):
        kind = kinds.get(round.kind)
        yield json.dumps(
            {
                "study": study.name, "round": round.name, "answers": f"answers/{kind.key}.csv",
                "scales": [scale.as_json() for scale in kind.scales_of(round) if scale.weights == "identity"],
                "fields": [field.as_json() for field in fields(round)],
            },
            ensure_ascii=False,
        ).encode() + b"\n"  # fmt: skip
