"""Reviews of MS^2 with current classes of sentences, spans and effects, in the published format: one review per line.

What models say of a review is released as imported, except where people have decided.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from annotation.corpus.decided import current_classes, current_spans
from annotation.formats.ms2.published import Effects, of_format, published
from annotation.kinds.effect.current import decided_effects
from annotation.models import NOT_REPORTED, Inclusion, Review
from projects.models import Project

from .notes import Notes

PATH = "ms2/reviews.jsonl"
#: Each review may have thousands of effects.
BATCH = 20


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if of_format(project).exists():
        yield PATH, _lines(project)


def current_effects(reviews: Sequence[Review]) -> Effects:
    """Return the decided effects. MS^2 has no value for an effect that is not reported."""
    effects = decided_effects(reviews)
    return {
        of: ("" if effect.direction == NOT_REPORTED else effect.direction, effect.sentence)
        for of, effect in effects.items()
    }


def _studies(reviews: Sequence[Review]) -> list[int]:
    return list(Inclusion.objects.filter(review__in=reviews).values_list("study", flat=True))


def _lines(project: Project) -> Iterator[bytes]:
    rows = of_format(project).iterator(chunk_size=BATCH)
    while reviews := list(islice(rows, BATCH)):
        for value in published(
            reviews, current_classes(reviews), current_spans(reviews, _studies(reviews)), current_effects(reviews)
        ):
            yield json.dumps(value).encode() + b"\n"
