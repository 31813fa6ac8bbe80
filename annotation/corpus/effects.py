"""Current effects of the pairs of reviews: what a model reads in a text, and what people have decided."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models import Q

from annotation.readings.statistics import WEAK

from ..kinds.effect.current import DecidedEffect, decided_effects
from ..models import (
    JUDGED_DIRECTIONS,
    NOT_REPORTED,
    Effect,
    EffectPair,
    Inclusion,
    MachineReading,
    ReadingTask,
    Review,
    Role,
)
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


class CurrentEffect(NamedTuple):
    """The direction of an effect, and the sentence that shows it."""

    direction: str
    evidence: str


class PairEffects(NamedTuple):
    """The effects of one pair: that of the review, if it states one, and those of studies in the review's order."""

    of_review: CurrentEffect | None
    of_studies: tuple[tuple[Inclusion, CurrentEffect], ...]


class Effects:
    """The effects that were read and those that were decided, by pair and text."""

    def __init__(self, read: Mapping[Asked, Read], decided: Mapping[Asked, DecidedEffect]) -> None:
        self.read, self.decided = read, decided

    def direction(self, pair: int, study: int | None) -> str | None:
        """Return the current direction: the decided one, or else the model's; None if there is neither."""
        effect = self.decided.get((pair, study)) or self.read.get((pair, study))
        return effect.direction if effect else None

    def stated(self, pair: int, study: int | None, text: str) -> CurrentEffect | None:
        """Return the current effect in a text. None if the text does not report it, or nobody has asked."""
        direction = self.direction(pair, study)
        if direction in (None, NOT_REPORTED):
            return None
        read, decided = self.read.get((pair, study)), self.decided.get((pair, study))
        sentence = (decided and decided.sentence) or (read.sentence(text) if read else "")
        return CurrentEffect(str(direction), sentence)

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


def current_effects(pairs: Collection[EffectPair]) -> dict[int, PairEffects]:
    """Return the current effects of pairs, by primary key. Needs a fixed number of queries.

    Texts that do not report the effect are left out. Included studies come before general references, which MS^2's
    program for tables (``tabular_summarizer_input_prep``) also reads.
    """
    reviews = {pair.review_id: pair.review for pair in pairs}
    rows = list(Inclusion.objects.filter(review__in=reviews).select_related("study").order_by("review_id", "position"))
    effects = effects_of(list(reviews.values()), rows, {pair.pk for pair in pairs})
    of_review: dict[int, list[Inclusion]] = {pk: [] for pk in reviews}
    for inclusion in sorted(rows, key=lambda one: one.role != Role.INCLUDED):
        of_review[inclusion.review_id].append(inclusion)
    return {
        pair.pk: PairEffects(
            effects.stated(pair.pk, None, pair.review.abstract),
            tuple(
                (inclusion, effect)
                for inclusion in of_review[pair.review_id]
                if (effect := effects.stated(pair.pk, inclusion.study_id, inclusion.study.abstract))
            ),
        )
        for pair in pairs
    }
