"""Current spans of abstracts, for release."""

from collections.abc import Collection, Mapping, Sequence

from annotation.models import AbstractUnit, Element, Review
from measures.spans import Range

from ..machine import people_values
from .values import FIELDS, KIND

#: The decided spans of an abstract by element. An undecided element is missing.
Decided = Mapping[Element, Collection[Range]]


def decided_spans(reviews: Sequence[Review], studies: Collection[int]) -> dict[tuple[str, int], Decided]:
    """Return the spans that people decided, by ("review" or "study", primary key). ``studies``: primary keys.

    Abstracts that no round has asked about are missing. Needs a fixed number of queries.
    """
    asked = [
        *AbstractUnit.objects.filter(review__in=reviews).select_related("unit"),
        *AbstractUnit.objects.filter(study__in=studies).select_related("unit"),
    ]
    values = people_values([row.unit for row in asked], KIND) if asked else {}
    found: dict[tuple[str, int], Decided] = {}
    for row in asked:
        value = values[row.unit_id]
        owner = ("review", row.review_id) if row.review_id else ("study", row.study_id or 0)
        decided = {
            element: {(span["start"], span["end"]) for span in value[field]}
            for element, field in FIELDS.items()
            if field in value
        }
        if decided:
            found[owner] = decided
    return found
