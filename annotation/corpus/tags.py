"""Abstracts of studies with the tags of their current spans, as MS^2's models read them."""

from collections.abc import Mapping

from measures.pio import retag

from ..formats.ms2.published import with_decided
from ..models import ReadingTask, Study
from ..readings.current import current_readings
from .decided import current_spans


def tagged_abstracts(studies: Mapping[tuple[int, int], Study]) -> dict[tuple[int, int], str]:
    """Return the tagged abstracts of studies by (review, study), without those that have no tags.

    Needs a fixed number of queries. Two reviews may have different tags of one study.
    """
    ids = {study for _, study in studies}
    of_studies = current_readings(ReadingTask.PIO, "study").filter(study__in=ids)
    tags = dict(of_studies.values_list("study", "values__tags"))
    of_inclusions = current_readings(ReadingTask.PIO, "inclusion").filter(
        inclusion__review__in={review for review, _ in studies}, inclusion__study__in=ids
    )
    columns = ("inclusion__review", "inclusion__study", "values__tags")
    own = {(review, study): found for review, study, found in of_inclusions.values_list(*columns)}
    decided = current_spans([], sorted(ids))
    tagged = {}
    for (review, pk), study in studies.items():
        read = [(offset, characters) for offset, characters in own.get((review, pk), tags.get(pk, []))]
        if marks := with_decided(study.abstract, read, decided.get(("study", pk))):
            tagged[review, pk] = retag(study.abstract, marks)
    return tagged
