"""What is in force of the sentences of reviews' abstracts, a line a sentence, and what follows from the classes:
background and target as MS^2 derives them, a line a review."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from annotation.models import Review
from annotation.values.sentences import derived_texts, judged, reviews_with
from projects.models import Project

from .notes import Notes

SENTENCES, DERIVED = "abstracts/sentences.jsonl", "abstracts/derived.jsonl"
BATCH = 200
Json = dict[str, Any]


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if _reviews(project).exists():
        yield SENTENCES, _sentences(project)
    if next(_derived(project), None):
        yield DERIVED, _derived(project)


def _reviews(project: Project) -> Any:
    return Review.objects.filter(reviews_with(), project=project).order_by("pk")


def _batches(project: Project) -> Iterator[Sequence[Review]]:
    rows = _reviews(project).iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        yield batch


def _sentences(project: Project) -> Iterator[bytes]:
    for batch in _batches(project):
        found = judged([review.unit_id for review in batch])
        for review in batch:
            for one in found.get(review.unit_id, []):
                row = one.sentence
                yield _line({
                    "review": review.pmid, "number": row.number, "start": row.start, "end": row.end, "text": row.text,
                    "section": row.section, "category": row.category, "splitter": row.splitter,
                    "class": one.rhetorical_class, "derived": one.derived, "as_evidence": one.evidence,
                })  # fmt: skip


def _derived(project: Project) -> Iterator[bytes]:
    for batch in _batches(project):
        found = judged([review.unit_id for review in batch])
        for review in batch:
            if texts := derived_texts(found.get(review.unit_id, [])):
                yield _line({"review": review.pmid, "background": texts.background, "target": texts.target})


def _line(row: Json) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
