"""Reviews of MS^2 with current classes of sentences, in the published format: one review per line.

What models say of a review is released as imported, except where people have decided.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from annotation.documents.queries import judged_sentences
from annotation.formats.ms2.published import of_format, published
from annotation.models import Review
from projects.models import Project

from .notes import Notes

PATH = "ms2/reviews.jsonl"
#: Each review may have thousands of effects.
BATCH = 20


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if of_format(project).exists():
        yield PATH, _lines(project)


def current_classes(reviews: Sequence[Review]) -> dict[int, list[str]]:
    """Return the classes of the sentences of those reviews for which somebody has decided them, by unit."""
    judged = judged_sentences([review.unit_id for review in reviews])
    classes = {unit: [sentence.rhetorical_class for sentence in sentences] for unit, sentences in judged.items()}
    return {unit: names for unit, names in classes.items() if all(names)}


def _lines(project: Project) -> Iterator[bytes]:
    rows = of_format(project).iterator(chunk_size=BATCH)
    while reviews := list(islice(rows, BATCH)):
        for value in published(reviews, current_classes(reviews)):
            yield json.dumps(value).encode() + b"\n"
