"""Current effects of the pairs of reviews: what a model reads in a text, and what people have decided."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Q

from annotation.readings.statistics import WEAK

from ..kinds.effect.current import DecidedEffect, decided_effects
from ..models import JUDGED_DIRECTIONS, NOT_REPORTED, Effect, Inclusion, MachineReading, ReadingTask, Review
from ..readings.current import newest_last

DIRECTIONS = [value for value, _ in JUDGED_DIRECTIONS]
#: A pair, and the study that was asked about it. None: the abstract of the review.
Asked = tuple[int, int | None]


class Read(NamedTuple):
    """What a model reads in a text about one pair."""

    direction: str
    probabilities: Sequence[float]
    score: float
    start: int | None
    end: int | None
    evidence: str

    def sentence(self, text: str) -> str:
        return self.evidence or ("" if self.start is None else text[self.start : self.end])


class Effects:
    def __init__(self, read: Mapping[Asked, Read], decided: Mapping[Asked, DecidedEffect]) -> None:
        self.read, self.decided = read, decided

    def direction(self, pair: int, study: int | None) -> str | None:
        """Return the current direction: the decided one, or else the model's; None if there is neither."""
        asked = pair, study
        return (
            self.decided[asked].direction
            if asked in self.decided
            else self.read[asked].direction
            if asked in self.read
            else None
        )

    def agrees(self, pair: int, study: int) -> bool | None:
        """Return whether a study has the direction of its review. None if one of them reports none."""
        of_review, of_study = self.direction(pair, None), self.direction(pair, study)
        return None if {of_review, of_study} & {None, NOT_REPORTED} else of_review == of_study

    def evidence(self, studies: Iterable[int | None]) -> dict[str, int]:
        """Return the number of evidence scores of some texts, and how many of them are weak."""
        texts = set(studies)
        scores = [read.score for (_, study), read in self.read.items() if study in texts]
        return {"n": len(scores), "weak": sum(score < WEAK for score in scores)}


def effects_of(
    reviews: Sequence[Review], inclusions: Sequence[Inclusion], pairs: Collection[int] | None = None
) -> Effects:
    """Return the effects of the pairs of reviews in their own abstracts and in those of included studies.

    ``pairs``: only these. Needs a fixed number of queries.
    """
    studies = {inclusion.pk: inclusion.study_id for inclusion in inclusions}
    asked = Q(review__in=reviews) | Q(inclusion__in=list(studies))
    readings = newest_last(MachineReading.objects.filter(asked, task=ReadingTask.EFFECTS).defer("values"))
    texts = {
        one.pk: studies[one.inclusion_id] if one.inclusion_id else None
        for one in {(one.review_id, one.inclusion_id): one for one in readings}.values()
    }
    # The readings have arrived, and so have their effects.
    rows = Effect.with_arriving.filter(reading__in=list(texts)).order_by()
    if pairs is not None:
        rows = rows.filter(pair__in=pairs)
    columns = ("reading", "pair", "direction", "decreased", "no_difference", "increased", "score", "start", "end")
    read = {
        (pair, texts[reading]): Read(direction, probabilities, *rest)
        for reading, pair, direction, *probabilities, score, start, end, evidence in rows.values_list(
            *columns, "evidence"
        )
        for rest in [(score, start, end, evidence)]
    }
    decided = decided_effects(reviews)
    return Effects(read, decided if pairs is None else {of: one for of, one in decided.items() if of[0] in pairs})
