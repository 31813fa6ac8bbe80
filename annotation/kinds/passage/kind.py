"""Task kind *passage*: how well a retrieved passage answers its question (MEDIQA-AnS)."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from annotation.models import Part, Passage, PassageRating, Question, QuestionText, RatedPassage
from annotation.questions.ratings import FIELD, KIND, decide, undecided, with_current_rating
from api.parameters import Parameter, Takes
from projects.kinds import Batch, Filter, Kind, Scale, SkipReason, Value, groups
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]
UNIT = "passage"
#: Values of answers, from 1 to 4.
RATINGS = tuple(rating.label.lower() for rating in PassageRating)


class PassageCardSerializer(Plain):
    """Card of a passage with its question."""

    question = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    url = serializers.CharField(allow_blank=True)
    is_page = serializers.BooleanField(help_text="Whether the text is that of the whole page.")


class PassageValueSerializer(Plain):
    passage_rating = serializers.ChoiceField(choices=RATINGS)


def _with_rating(units: QuerySet[Unit], rating: str) -> QuerySet[Unit]:
    rated = with_current_rating(Passage.objects.all()).filter(current_rating=RATINGS.index(rating) + 1)
    return units.filter(passage__in=rated)


FILTERS = (
    Filter(
        Parameter("question", Takes.TEXT, "Questions", help="Ids, separated by commas or spaces."),
        lambda units, keys: units.filter(passage__question__key__in=keys.replace(",", " ").split()),
    ),
    Filter(Parameter("rated", Takes.CHOICE, "Current rating", choices=RATINGS), _with_rating),
)


class PassageKind(Kind):
    """The rating of one passage. All passages of a question are assigned together."""

    key = KIND
    material = "passages"
    title = "Rate passages"
    description = "How well does this passage answer the question? Incorrect, related, incomplete or excellent."
    group = groups.CORPUS
    order = 130
    unit_types: Sequence[str] = (UNIT,)
    fields: Sequence[str] = (FIELD,)
    assumed_seconds = 45.0
    filters: Sequence[Filter] = FILTERS
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The question or the passage is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = PassageCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = PassageValueSerializer
    scales: Sequence[Scale] = (
        Scale(FIELD, RATINGS, FIELD, weights="linear", metric="ordinal", nominal=RATINGS, cite="weighted"),
    )
    field_values = {FIELD: tuple((key, key) for key in RATINGS)}
    columns: Sequence[str] = (FIELD,)

    def units(self, project: Project) -> QuerySet[Unit]:
        units = Unit.objects.filter(project=project, type=UNIT, superseded_by=None)
        return units.order_by("passage__question__position", "context", "position")

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        rows = QuestionText.objects.current().filter(passage__unit__in=list(units), part__in=(Part.PASSAGE, Part.PAGE))
        return dict(rows.order_by("part").values_list("passage__unit", "text"))

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        """Return the question of each unit: confidence intervals treat the passages of one question as a cluster."""
        return dict(Passage.objects.filter(unit__in=list(units)).values_list("unit", "question__key"))

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        passages = {
            passage.unit_id: passage
            for passage in Passage.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
        }
        questions = Question.objects.filter(passages__in=passages.values()).distinct()
        texts: dict[tuple[int, int | None], dict[str, str]] = {}
        rows = QuestionText.objects.current().filter(question__in=questions)
        rows = rows.filter(passage=None) | rows.filter(passage__in=passages.values())
        for question, passage, part, text in rows.values_list("question", "passage", "part", "text"):
            texts.setdefault((question, passage), {})[part] = text
        return Batch(passages, {"texts": texts})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        passage: Passage = batch.rows[assignment.unit_id]
        texts = batch.extra["texts"].get((passage.question_id, passage.pk), {})
        return {
            "question": batch.extra["texts"][passage.question_id, None][Part.QUESTION],
            "text": texts.get(Part.PASSAGE) or texts.get(Part.PAGE, ""),
            "url": texts.get(Part.URL, ""),
            "is_page": Part.PASSAGE not in texts and Part.PAGE in texts,
        }

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        RatedPassage.objects.bulk_create(
            RatedPassage(unit_id=answer.assignment.unit_id, answer=answer, rating=RATINGS.index(value[FIELD]) + 1)
            for answer, value in answers
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = RatedPassage.objects.filter(answer__in=list(answers)).values_list("answer", "rating")
        return {answer: {FIELD: RATINGS[rating - 1]} for answer, rating in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = Passage.objects.filter(unit__in=list(units), imported__in=list(imported), rating__isnull=False)
        return {
            (unit, source or 0): {FIELD: RATINGS[(rating or 0) - 1]}
            for unit, source, rating in rows.values_list("unit", "imported", "rating")
        }

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[RatedPassage]:
        return RatedPassage.objects.filter(rating__in=_ranks(keys))

    def imported_rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Passage]:
        return Passage.objects.filter(rating__in=_ranks(keys))

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return undecided(units)

    def pre_decide(self, units: Sequence[Unit]) -> None:
        decide(Unit.objects.filter(pk__in=[unit.pk for unit in units]))

    def migrate(self, value: Value, unit: Unit) -> Value:
        return value

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the distance on the scale: 1 between its ends."""
        ranks = [RATINGS.index(value[FIELD]) for value in (one, other)]
        return abs(ranks[0] - ranks[1]) / (len(RATINGS) - 1)


def _ranks(keys: Sequence[str]) -> list[int]:
    return [RATINGS.index(key) + 1 for key in keys]
