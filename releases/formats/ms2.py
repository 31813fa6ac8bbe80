"""Reviews of MS^2 with current classes of sentences, spans and effects, in the published format: one review per line.

What models say of a review is released as imported, except where people have decided.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from annotation.corpus.decided import current_classes, current_spans
from annotation.formats.ms2.published import Effects, Spans, of_format, published
from annotation.kinds.effect.current import decided_effects
from annotation.models import NOT_REPORTED, Inclusion, Review
from measures.spans import has_overlap
from projects.models import Project

from .notes import Notes

PATH = "ms2/reviews.jsonl"
#: Key of a list in the notes.
OVERLAPS = "texts_with_overlapping_spans_of_one_element"
#: Each review may have thousands of effects.
BATCH = 20


def files(project: Project, notes: Notes) -> Iterator[tuple[str, Iterable[bytes]]]:
    if of_format(project).exists():
        yield PATH, _lines(project, notes)


def current_effects(reviews: Sequence[Review]) -> Effects:
    """Return the decided effects. MS^2 has no value for an effect that is not reported."""
    effects = decided_effects(reviews)
    return {
        of: ("" if effect.direction == NOT_REPORTED else effect.direction, effect.sentence)
        for of, effect in effects.items()
    }


def _studies(reviews: Sequence[Review]) -> dict[int, str]:
    """Return the PMIDs of the studies of reviews by primary key."""
    return dict(Inclusion.objects.filter(review__in=reviews).values_list("study", "study__pmid"))


def _lines(project: Project, notes: Notes) -> Iterator[bytes]:
    rows = of_format(project).iterator(chunk_size=BATCH)
    while reviews := list(islice(rows, BATCH)):
        studies = _studies(reviews)
        spans = current_spans(reviews, list(studies))
        _note_overlaps(spans, {review.pk: review.pmid for review in reviews}, studies, notes)
        for value in published(reviews, current_classes(reviews), spans, current_effects(reviews)):
            yield json.dumps(value).encode() + b"\n"


def _note_overlaps(spans: Spans, reviews: Mapping[int, str], studies: Mapping[int, str], notes: Notes) -> None:
    """Note the texts in which people marked overlapping spans of one element. MS^2's tags cannot express these."""
    pmids = {"review": reviews, "study": studies}
    listed = notes.counts.setdefault(OVERLAPS, [])
    for (owner, pk), kinds in sorted(spans.items()):
        name = f"{owner} {pmids[owner][pk]}"
        if name not in listed and any(has_overlap(ranges) for ranges in kinds.values()):
            listed.append(name)
