"""Tags of studies as the models of MS^2 read them: those of the current reading, with the spans of people."""

from collections.abc import Collection, Mapping

from measures.pio import Tag, retag

from ..formats.ms2.published import with_decided
from ..models import ReadingTask, Study
from ..readings.current import current_readings
from .decided import current_spans

#: A review and a study that it lists (primary keys).
Listed = tuple[int, int]


def current_tags(listed: Collection[Listed]) -> dict[Listed, list[Tag]]:
    """Return the tags of the current reading of each study, without studies that have none. Two queries.

    Two reviews may have different tags of one study. A reading of the study itself holds in the others.
    """
    ids = {study for _, study in listed}
    of_studies = current_readings(ReadingTask.PIO, "study").filter(study__in=ids)
    tags = dict(of_studies.values_list("study", "values__tags"))
    of_inclusions = current_readings(ReadingTask.PIO, "inclusion").filter(
        inclusion__review__in={review for review, _ in listed}, inclusion__study__in=ids
    )
    columns = ("inclusion__review", "inclusion__study", "values__tags")
    own = {(review, study): found for review, study, found in of_inclusions.values_list(*columns)}
    found = {of: own.get(of, tags.get(of[1], [])) for of in listed}
    return {of: [(offset, characters) for offset, characters in each] for of, each in found.items() if each}


def tagged_abstracts(studies: Mapping[Listed, Study]) -> dict[Listed, str]:
    """Return the tagged abstracts of studies, without those that have no tags. Needs a fixed number of queries."""
    tags = current_tags(studies)
    decided = current_spans([], sorted({study for _, study in studies}))
    tagged = {}
    for of, study in studies.items():
        if marks := with_decided(study.abstract, tags.get(of, []), decided.get(("study", study.pk))):
            tagged[of] = retag(study.abstract, marks)
    return tagged
