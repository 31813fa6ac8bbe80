"""Task kind *screen*: whether a retrieved review belongs in the data set."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from annotation.kinds.units import ReviewKind
from annotation.models import Review, Screened, Screening
from api.parameters import Parameter, Takes
from projects.kinds import Batch, Row, Scale, SkipReason, Value, groups
from projects.models import Answer, Assignment, Round, Unit

Plain = serializers.Serializer[Any]


class AbstractSectionSerializer(Plain):
    """A section of a structured abstract: its label and a half-open range of the abstract's code points."""

    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=0)


class ScreenCardSerializer(Plain):
    """Card of a review."""

    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    sections = AbstractSectionSerializer(many=True, help_text="Sections of a structured abstract; otherwise empty.")
    topic = serializers.CharField(allow_blank=True, help_text="Topic of the search that found the review.")
    year = serializers.IntegerField(allow_null=True, help_text="Year of publication.")
    publication_types = serializers.ListField(child=serializers.CharField())
    retracted = serializers.BooleanField()
    retraction_notice = serializers.CharField(
        allow_blank=True,
        help_text="Where the review was retracted, fully or partially, or an expression of concern was published.",
    )
    criteria = serializers.CharField(allow_blank=True, help_text="Inclusion criteria, as written by the lead.")


class ScreenValueSerializer(Plain):
    screening = serializers.ChoiceField(
        choices=Screened.choices, help_text="`include`, or the reason why the review is excluded."
    )


FIELD = "screening"
INCLUSION = "inclusion"
#: The two groups of reviews in a flow figure.
IN_OR_OUT = ("include", "exclude")


class ScreenKind(ReviewKind):
    """Inclusion of one review, or the reason for its exclusion."""

    key = "screen"
    material = "reviews"
    title = "Screen reviews"
    description = "Does this review answer the topic? Include or exclude it, with a reason."
    group = groups.CORPUS
    order = 10
    fields: Sequence[str] = (FIELD,)
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The abstract is not sufficient"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = ScreenCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = ScreenValueSerializer
    options = (
        Parameter(
            "inclusion_criteria",
            Takes.LONG_TEXT,
            "Inclusion criteria",
            default="",
            help="Shown beside the abstract to all annotators.",
        ),
    )
    scales: Sequence[Scale] = (Scale(FIELD, tuple(Screened.values), FIELD), Scale(INCLUSION, IN_OR_OUT, INCLUSION))
    field_values = {FIELD: Screened.choices}
    columns: Sequence[str] = (FIELD, INCLUSION)

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        return Batch(
            {r.unit_id: r for r in Review.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])}
        )

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        review: Review = batch.rows[assignment.unit_id]
        return {
            "pmid": review.pmid,
            "title": review.title,
            "abstract": review.abstract,
            "sections": [{name: part[name] for name in ("label", "start", "end")} for part in review.sections],
            "topic": review.topic,
            "year": review.year,
            "publication_types": review.publication_types,
            "retracted": review.is_retracted,
            "retraction_notice": review.retraction_notice,
            "criteria": round.options.get("inclusion_criteria", ""),
        }

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        Screening.objects.bulk_create(
            Screening(unit_id=answer.assignment.unit_id, answer=answer, screening=value[FIELD])
            for answer, value in answers
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Screening.objects.filter(answer__in=list(answers))
        return {row.answer_id: {FIELD: row.screening} for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = Screening.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(row.unit_id, row.imported_id or 0): {FIELD: row.screening} for row in rows}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[Screening]:
        return Screening.objects.filter(screening__in=keys)

    def migrate(self, value: Value, unit: Unit) -> Value:
        return value

    def row(self, value: Value) -> Row:
        """Return the reason and the inclusion. Two people with different reasons may agree on the exclusion."""
        return {FIELD: value[FIELD], INCLUSION: IN_OR_OUT[value[FIELD] != Screened.INCLUDE]}

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the distance. Two different reasons for exclusion are half as far apart as inclusion and exclusion."""
        if self.is_equal(field, one, other):
            return 0.0
        return 0.5 if self.row(one)[INCLUSION] == self.row(other)[INCLUSION] else 1.0
