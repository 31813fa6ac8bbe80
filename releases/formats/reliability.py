"""Candidates of closed matching rounds, and the figures of reliability studies.

``agreement/candidates.csv`` has the four sentences of each target, including its mapped evidence; an answer is the
number of one of them. ``agreement/studies.jsonl`` has the figures of each closed round of a study by field. ``python -m
measures.recompute`` recomputes them from the answers, ``agreement/gold.csv`` and the candidates.
"""

import json
from collections.abc import Iterable, Iterator

from django.db.models import QuerySet

from annotation.models import MatchCandidate
from annotation.reliability.queries import fields, rounds_with_results
from projects import kinds
from projects.models import Project, Round
from releases.formats.rows import BATCH, csv_row, flag

from .notes import Notes

CANDIDATES, STUDIES = "agreement/candidates.csv", "agreement/studies.jsonl"
COLUMNS = ("round", "unit", "target", "review", "study", "number", "sentence", "text", "gold", "nearest_by", "rank")


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    candidates = _candidates(project)
    if candidates.exists():
        yield CANDIDATES, _rows(candidates)
    if next(rounds_with_results(project), None):
        yield STUDIES, _studies(project)


def _candidates(project: Project) -> QuerySet[MatchCandidate]:
    """Return the candidates of closed rounds. In open rounds the gold sentence stays secret."""
    return MatchCandidate.objects.filter(
        item__round__project=project, item__round__status=Round.Status.CLOSED
    ).order_by("item__round", "item__number", "position")


def _rows(candidates: QuerySet[MatchCandidate]) -> Iterator[bytes]:
    yield csv_row(COLUMNS)
    rows = candidates.values_list(
        "item__round__name",
        "item__unit__key",
        "item__target__key",
        "item__target__review__pmid",
        "item__study__pmid",
        "position",
        "sentence__number",
        "sentence__text",
        "is_gold",
        "item__nearest_by",
        "rank",
    )
    for *cells, gold, by, rank in rows.iterator(chunk_size=BATCH):
        yield csv_row([*cells, flag(gold), by, rank])


def _studies(project: Project) -> Iterator[bytes]:
    for study, round in rounds_with_results(project):
        kind = kinds.get(round.kind)
        yield (
            json.dumps(
                {
                    "study": study.name,
                    "round": round.name,
                    "answers": f"answers/{kind.key}.csv",
                    "scales": [scale.as_json() for scale in kind.scales_of(round) if scale.weights == "identity"],
                    "fields": [field.as_json() for field in fields(round)],
                },
                ensure_ascii=False,
            ).encode()
            + b"\n"
        )
