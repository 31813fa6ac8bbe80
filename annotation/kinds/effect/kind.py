"""Task kind *effect*: whether an outcome rises or falls under an intervention, and which sentence shows it.

The pairs are those of the review, as in MS^2, which asks every study about the pairs of its review.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework import serializers

from annotation.clusters.sentences import rows_of, sentences_json
from annotation.kinds.effect import machine, units
from annotation.kinds.effect.values import DIRECTION, KIND, SENTENCE, closest_sentence
from annotation.kinds.sentences.serializers import AbstractSentenceSerializer
from annotation.kinds.units import BOTH, REVIEW, REVIEW_FILTERS, SCREENED_IN, ReviewKind, abstracts_option
from annotation.models import (
    JUDGED_DIRECTIONS,
    NOT_REPORTED,
    Direction,
    Effect,
    EffectPair,
    EffectUnit,
    JudgedEffect,
    Review,
    Sentence,
    Study,
)
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.agreement import Scale
from measures.text_agreement import Comparison
from projects.kinds import Batch, Filter, SkipReason, Value
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]
SUGGESTS = "suggest_effects"


class SuggestedEffectSerializer(Plain):
    """What a model says of the pair."""

    probabilities = serializers.ListField(
        child=serializers.FloatField(), min_length=3, max_length=3, help_text="Of the directions, in their order."
    )
    direction = serializers.ChoiceField(choices=Direction.choices)
    sentence = serializers.IntegerField(allow_null=True)
    score = serializers.FloatField(help_text="Score of the sentence, 0 to 1. Low: the text may not state the effect.")


class EffectCardSerializer(Plain):
    """An intervention, an outcome, and the sentences of an abstract."""

    intervention = serializers.CharField()
    outcome = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    pmid = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    is_review = serializers.BooleanField(help_text="Whether the abstract belongs to the review; otherwise to a study.")
    sentences = AbstractSentenceSerializer(many=True)
    suggested = SuggestedEffectSerializer(allow_null=True, help_text="Null if the round shows no suggestions.")


class EffectValueSerializer(Plain):
    effect_direction = serializers.ChoiceField(choices=JUDGED_DIRECTIONS)
    effect_sentence = serializers.IntegerField(
        min_value=1, allow_null=True, help_text="Number of the sentence. Null exactly if the effect is not reported."
    )
    suggestion = serializers.ChoiceField(
        choices=["accepted", "edited"], allow_blank=True, default="", help_text="Outcome of the suggestion, if shown."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if (attrs[DIRECTION] == NOT_REPORTED) != (attrs[SENTENCE] is None):
            wrong = "An effect that is not reported has no sentence." if attrs[SENTENCE] else "Choose the sentence."
            raise serializers.ValidationError({SENTENCE: wrong})
        return attrs


class EffectKind(ReviewKind):
    """One pair of a review, in the abstract of the review or of one of its studies."""

    key = KIND
    title = "Judge the effects of interventions"
    description = "Does the outcome rise or fall, and which sentence shows it?"
    material = "reviews"
    order = 37
    unit_types: Sequence[str] = (units.EFFECT,)
    fields: Sequence[str] = (DIRECTION, SENTENCE)
    assumed_seconds = 12.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("pair makes no sense", "The pair makes no sense"),
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = EffectCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = EffectValueSerializer
    options = (
        abstracts_option("effect_texts"),
        Parameter(
            SUGGESTS,
            Takes.SWITCH,
            "Suggest the effects that a model found",
            default=False,
            help="Suggestions may bias annotators. Agreement of such a round is not independent.",
        ),
    )
    filters: Sequence[Filter] = (*REVIEW_FILTERS, SCREENED_IN)
    scales: Sequence[Scale] = (Scale("direction", (*Direction.values, NOT_REPORTED), DIRECTION),)
    comparisons: Sequence[Comparison] = (Comparison("sentence", "same", (SENTENCE,)),)
    field_values = {DIRECTION: JUDGED_DIRECTIONS}
    columns: Sequence[str] = (DIRECTION, SENTENCE, "suggestion")

    # Units

    def units(self, project: Project) -> QuerySet[Unit]:
        """Return the reviews that have pairs."""
        pairs = EffectPair.objects.filter(review__unit=OuterRef("pk"))
        return super().units(project).filter(Exists(pairs))

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return the pairs that a round has asked about, and reviews with effects of a model in other texts."""
        possible = Unit.objects.filter(Q(type=units.EFFECT) | Q(type=REVIEW) & machine.has_unasked())
        return possible.filter(project=project, superseded_by=None).order_by("context", "position", "pk")

    #: The pairs of a review do not depend on other reviews, so a rolling round can add reviews.
    rolls = True

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return units.with_read_effects(round, [unit for unit, _ in chosen], round.options.get("effect_texts", BOTH))
        items = units.get_or_create_units(round, [unit for unit, _ in chosen], round.options["effect_texts"])
        if not items and not round.is_rolling:
            raise Refused.field(
                "filters", "No study of these reviews has an abstract. Fetch the records of the studies."
            )
        return items

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return units.count_units(chosen, options.get("effect_texts", BOTH))

    def count_valued(self, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return units.count_read_effects(chosen, options.get("effect_texts", BOTH))

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return intervention and outcome."""
        rows = EffectUnit.objects.filter(unit__in=list(units))
        columns = ("unit", "pair__intervention", "pair__outcome")
        return {unit: f"{intervention} → {outcome}" for unit, intervention, outcome in rows.values_list(*columns)}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        rows = EffectUnit.objects.filter(unit__in=list(units))
        return dict(rows.values_list("unit", "pair__review__pmid"))

    def shows_suggestions(self, round: Round) -> bool:
        return bool(round.options.get(SUGGESTS))

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        ids = [assignment.unit_id for assignment in assignments]
        rows = EffectUnit.objects.filter(unit__in=ids).select_related("pair__review", "study")
        asked = {row.unit_id: row for row in rows} | _planned(ids)
        sentences: dict[tuple[str, int], list[Sentence]] = defaultdict(list)
        for name, articles in (
            ("review", {row.pair.review_id for row in asked.values() if not row.study}),
            ("study", {row.study_id for row in asked.values() if row.study}),
        ):
            for sentence in Sentence.objects.filter(**{f"{name}__in": articles}).order_by("number") if articles else ():
                sentences[name, getattr(sentence, f"{name}_id")].append(sentence)
        suggested = {}
        if self.shows_suggestions(round):
            suggested = machine.current_effects({row.pair_id for row in asked.values()})
        return Batch(asked, {"sentences": sentences, "suggested": suggested})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        row: EffectUnit = batch.rows[assignment.unit_id]
        article: Review | Study = row.study or row.pair.review
        # The sentences of an abstract may not be stored yet if the round is being planned.
        stored = batch.extra["sentences"].get(("study" if row.study else "review", article.pk)) or rows_of(article)
        effect: Effect | None = batch.extra["suggested"].get((row.pair_id, row.study_id))
        return {
            "intervention": row.pair.intervention,
            "outcome": row.pair.outcome,
            "title": article.title,
            "pmid": article.pmid,
            "year": article.year,
            "is_review": not row.study,
            "sentences": sentences_json(stored),
            "suggested": _as_suggestion(effect, stored) if effect else None,
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        if value[SENTENCE] is not None and (assignment.unit_id, value[SENTENCE]) not in _ids([assignment.unit_id]):
            raise Refused.field(f"value.{SENTENCE}", f"This abstract has no sentence number {value[SENTENCE]}.")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        ids = _ids({answer.assignment.unit_id for answer, _ in answers})
        JudgedEffect.objects.bulk_create(
            JudgedEffect(
                unit_id=answer.assignment.unit_id,
                answer=answer,
                direction=value[DIRECTION],
                sentence_id=ids[answer.assignment.unit_id, value[SENTENCE]] if value[SENTENCE] else None,
                suggestion=value.get("suggestion", ""),
            )
            for answer, value in answers
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = JudgedEffect.objects.filter(answer__in=list(answers)).select_related("sentence")
        return {row.answer_id: _value(row) for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = JudgedEffect.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(row.unit_id, row.imported_id or 0): _value(row) for row in rows.select_related("sentence")}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[JudgedEffect]:
        return JudgedEffect.objects.filter(direction__in=keys)

    # Decisions

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return machine.undecided(units)

    def pre_decide(self, units: Sequence[Unit]) -> None:
        """Store the effects of a model before a round shows them."""
        machine.decide(units)

    def sentence(self, field: str, value: Value) -> str:
        if field == SENTENCE:
            return f"sentence {value[SENTENCE]}" if value[SENTENCE] else "no sentence"
        return str(value[field])


def _value(row: JudgedEffect) -> Value:
    return {
        DIRECTION: row.direction,
        SENTENCE: row.sentence.number if row.sentence else None,
        "suggestion": row.suggestion,
    }


def _ids(unit_ids: Iterable[int]) -> dict[tuple[int, int], int]:
    """Return the sentences of the texts of some units by (unit id, number). Two queries."""
    found: dict[tuple[int, int], int] = {}
    ids = list(unit_ids)
    of_review = Sentence.objects.filter(
        review__effect_pairs__units__unit__in=ids, review__effect_pairs__units__study=None
    )
    of_study = Sentence.objects.filter(study__effect_units__unit__in=ids)
    for rows, unit in ((of_review, "review__effect_pairs__units__unit"), (of_study, "study__effect_units__unit")):
        found |= {(unit_id, number): pk for unit_id, number, pk in rows.values_list(unit, "number", "pk")}
    return found


def _planned(ids: Sequence[int]) -> dict[int, EffectUnit]:
    """Return the first pair of each chosen review (unit id), for the preview of a round that is being planned."""
    pairs = EffectPair.objects.filter(review__unit__in=ids).select_related("review").order_by("review_id", "-position")
    return {pair.review.unit_id: EffectUnit(pair=pair) for pair in pairs}


def _as_suggestion(effect: Effect, sentences: Sequence[Sentence]) -> dict[str, Any]:
    sentence = closest_sentence(effect, sentences)
    return {
        "probabilities": [effect.decreased, effect.no_difference, effect.increased],
        "direction": effect.direction,
        "sentence": sentence.number if sentence else None,
        "score": effect.score,
    }
