"""Reviews of MS^2 with current classes of sentences, spans and effects, in the published format: one review per line.

What models say of a review is released as imported, except where people have decided.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from annotation.documents.queries import judged_sentences
from annotation.formats.ms2.published import Effects, Spans, of_format, published
from annotation.kinds.effect.current import decided_effects
from annotation.kinds.entity.current import decided_spans
from annotation.models import NOT_REPORTED, Element, Inclusion, Review
from measures.pio import PioKind
from projects.models import Project

from .notes import Notes

PATH = "ms2/reviews.jsonl"
_KINDS: Mapping[Element, PioKind] = {Element.P: "pop", Element.I: "int", Element.O: "out"}
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


def current_spans(reviews: Sequence[Review]) -> Spans:
    """Return the spans of those reviews and studies for which somebody has decided them, by kind."""
    studies = Inclusion.objects.filter(review__in=reviews).values_list("study", flat=True)
    decided = decided_spans(reviews, list(studies))
    return {owner: {_KINDS[element]: spans for element, spans in each.items()} for owner, each in decided.items()}


def current_effects(reviews: Sequence[Review]) -> Effects:
    """Return the effects that somebody has decided. MS^2 has no value for an effect that is not reported."""
    effects = decided_effects(reviews)
    return {
        of: ("" if effect.direction == NOT_REPORTED else effect.direction, effect.sentence)
        for of, effect in effects.items()
    }


def _lines(project: Project) -> Iterator[bytes]:
    rows = of_format(project).iterator(chunk_size=BATCH)
    while reviews := list(islice(rows, BATCH)):
        for value in published(reviews, current_classes(reviews), current_spans(reviews), current_effects(reviews)):
            yield json.dumps(value).encode() + b"\n"
