"""Current values of the sentences of reviews' abstracts, one line per sentence.

A second file has background and target of each review, derived from the classes as in MS^2.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from annotation.documents.queries import derived_texts, has_judged_sentences, judged_sentences
from annotation.models import Review
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
    return Review.objects.filter(has_judged_sentences(), project=project).order_by("pk")


def _batches(project: Project) -> Iterator[Sequence[Review]]:
    rows = _reviews(project).iterator(chunk_size=BATCH)
    while batch := list(islice(rows, BATCH)):
        yield batch


def _sentences(project: Project) -> Iterator[bytes]:
    for batch in _batches(project):
        sentences = judged_sentences([review.unit_id for review in batch])
        for review in batch:
            for one in sentences.get(review.unit_id, []):
                row = one.sentence
                yield _line(
                    {
                        "review": review.pmid,
                        "number": row.number,
                        "start": row.start,
                        "end": row.end,
                        "text": row.text,
                        "section": row.section,
                        "category": row.category,
                        "splitter": row.splitter,
                        "class": one.rhetorical_class,
                        "derived": one.derived,
                        "as_evidence": one.evidence,
                    }
                )


def _derived(project: Project) -> Iterator[bytes]:
    for batch in _batches(project):
        sentences = judged_sentences([review.unit_id for review in batch])
        for review in batch:
            if texts := derived_texts(sentences.get(review.unit_id, [])):
                yield _line({"review": review.pmid, "background": texts.background, "target": texts.target})


def _line(row: Json) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"
