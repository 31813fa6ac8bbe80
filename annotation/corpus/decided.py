"""What people have decided about the readings of MS^2's reviews: classes of sentences, and spans."""

from collections.abc import Mapping, Sequence

from measures.pio import PioKind

from ..documents.queries import judged_sentences
from ..formats.ms2.published import Spans
from ..kinds.entity.current import decided_spans
from ..kinds.entity.machine import ELEMENTS
from ..models import Element, Review

_KINDS: Mapping[Element, PioKind] = {element: kind for kind, element in ELEMENTS.items()}


def current_classes(reviews: Sequence[Review]) -> dict[int, list[str]]:
    """Return the decided classes of sentences by unit. Reviews without them are missing."""
    judged = judged_sentences([review.unit_id for review in reviews])
    classes = {unit: [sentence.rhetorical_class for sentence in sentences] for unit, sentences in judged.items()}
    return {unit: names for unit, names in classes.items() if all(names)}


def current_spans(reviews: Sequence[Review], studies: Sequence[int] = ()) -> Spans:
    """Return the decided spans of reviews and studies, by kind. Abstracts without them are missing."""
    decided = decided_spans(reviews, studies)
    return {owner: {_KINDS[element]: spans for element, spans in each.items()} for owner, each in decided.items()}
