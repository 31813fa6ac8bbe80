"""Current effects of reviews and their studies: what people decided, else what the current reading says."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from django.db.models import Case, F, Q, TextField, Value, When
from django.db.models.functions import Substr

from ..kinds.effect.current import decided_effects
from ..models import NOT_REPORTED, Effect, EffectPair, Inclusion, ReadingTask, Role
from ..readings.current import Owner, current_readings


class CurrentEffect(NamedTuple):
    """The direction of an effect, and the sentence that shows it."""

    direction: str
    evidence: str


class PairEffects(NamedTuple):
    """The effects of one pair: that of the review, if it states one, and those of studies in the review's order."""

    of_review: CurrentEffect | None
    of_studies: tuple[tuple[Inclusion, CurrentEffect], ...]


def current_effects(pairs: Collection[EffectPair]) -> dict[int, PairEffects]:
    """Return the current effects of pairs, by primary key. Needs a fixed number of queries.

    Texts that do not report the effect are left out. Included studies come before general references, which MS^2's
    program for tables (``tabular_summarizer_input_prep``) also reads.
    """
    reviews = {pair.review_id: pair.review for pair in pairs}
    inclusions: dict[int, list[Inclusion]] = {pk: [] for pk in reviews}
    rows = Inclusion.objects.filter(review__in=reviews).select_related("study").order_by("review_id", "position")
    for inclusion in rows:
        inclusions[inclusion.review_id].append(inclusion)
    effects: dict[tuple[int, int | None], CurrentEffect] = _read(pairs)
    for (pair, study), decided in decided_effects(list(reviews.values())).items():
        stated = effects.pop((pair, study), None)
        if decided.direction != NOT_REPORTED:
            evidence = decided.sentence or (stated.evidence if stated else "")
            effects[pair, study] = CurrentEffect(decided.direction, evidence)
    return {
        pair.pk: PairEffects(
            effects.get((pair.pk, None)),
            tuple(
                (inclusion, effect)
                for inclusion in sorted(inclusions[pair.review_id], key=lambda one: one.role != Role.INCLUDED)
                if (effect := effects.get((pair.pk, inclusion.study_id)))
            ),
        )
        for pair in pairs
    }


def _read(pairs: Iterable[EffectPair]) -> dict[tuple[int, int | None], CurrentEffect]:
    """Return the effects in the current readings, by pair and study."""
    found: dict[tuple[int, int | None], CurrentEffect] = {}
    owners: tuple[tuple[Owner, str, str], ...] = (
        ("review", "", "reading__review__abstract"),
        ("inclusion", "reading__inclusion__study", "reading__inclusion__study__abstract"),
    )
    for owner, study, abstract in owners:
        sentence = Substr(abstract, F("start") + 1, F("end") - F("start"))
        rows = Effect.objects.filter(
            pair__in=[pair.pk for pair in pairs], reading__in=current_readings(ReadingTask.EFFECTS, owner)
        ).annotate(
            sentence=Case(
                When(~Q(evidence=""), then="evidence"),
                When(start__isnull=False, then=sentence),
                default=Value(""),
                output_field=TextField(),
            )
        )
        columns = ("pair", "direction", "sentence", *([study] if study else []))
        for pair, direction, text, *of in rows.order_by("reading", "position").values_list(*columns):
            found[pair, of[0] if of else None] = CurrentEffect(direction, text)
    return found
