"""The background of reviews: an input of systems, and the source of the pairs of interventions and outcomes."""

from collections.abc import Iterable

from measures.abstracts import BACKGROUND, background_of, derived

from ..formats.columns.documents import FORMAT as COLUMNS
from ..formats.ms2.published import tagged_sentences
from ..formats.ms2.rows import FORMAT as MS2
from ..formats.mslr.published import background_of as mslr_background
from ..formats.mslr.rows import FORMAT as MSLR
from ..models import Review
from .decided import current_classes, current_spans


def backgrounds_of(reviews: Iterable[Review]) -> dict[int, str]:
    """Return the background of each review with its tags, by primary key. Runs a fixed number of queries.

    MS^2: the sentences with the current class BACKGROUND or GOAL. MSLR and own corpora: the background in their
    tables. Other reviews: the first sections of the abstract.
    """
    distinct = {review.pk: review for review in reviews}
    by_class = _of_classes([review for review in distinct.values() if MS2 in review.metadata])
    return {pk: by_class[pk] if pk in by_class else _stated(review) for pk, review in distinct.items()}


def _of_classes(reviews: list[Review]) -> dict[int, str]:
    if not reviews:
        return {}
    sentences = tagged_sentences(reviews, current_classes(reviews), current_spans(reviews))
    return {
        pk: " ".join(text for name, text in listed if derived(name) == BACKGROUND)
        for pk, listed in sentences.items()
        if listed
    }


def _stated(review: Review) -> str:
    if COLUMNS in review.metadata:
        return str(review.metadata[COLUMNS].get("background", ""))
    return mslr_background(review) if MSLR in review.metadata else background_of(review.abstract)
