"""The task kind *screen*: does a retrieved review belong in the data set? (TASKS: screen)"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from api.parameters import Parameter, Takes
from projects.kinds import Batch, Row, Scale, SkipReason, Value
from projects.models import Answer, Assignment, Round, Unit

from ...models import Review, Screened, Screening
from ..reviews import ReviewKind
from .serializers import ScreenCardSerializer, ScreenValueSerializer

FIELD = "screening"
INCLUSION = "inclusion"
#: What a flow figure asks of a review first: in or out.
IN_OR_OUT = ("include", "exclude")


class ScreenKind(ReviewKind):
    """Inclusion of one review, or the reason of its exclusion."""

    key = "screen"
    title = "Screen reviews"
    order = 10
    fields: Sequence[str] = (FIELD,)
    tables = (Screening,)
    assumed_seconds = 30.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The abstract does not tell"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = ScreenCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = ScreenValueSerializer
    options = (
        Parameter(
            "inclusion_criteria", Takes.LONG_TEXT, "Inclusion criteria", default="",
            help="They stand beside the abstract, for everybody who screens.",
        ),
    )  # fmt: skip
    scales: Sequence[Scale] = (
        Scale(FIELD, tuple(Screened.values), FIELD),
        Scale(INCLUSION, IN_OR_OUT, INCLUSION),
    )
    columns: Sequence[str] = (FIELD, INCLUSION)

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        return Batch({r.unit_id: r for r in Review.objects.filter(unit__in=[slot.unit_id for slot in slots])})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        review: Review = batch.rows[slot.unit_id]
        return {
            "pmid": review.pmid,
            "title": review.title,
            "abstract": review.abstract,
            "sections": [{name: part[name] for name in ("label", "start", "end")} for part in review.sections],
            "topic": review.topic,
            "year": review.year,
            "publication_types": review.publication_types,
            "retracted": review.is_retracted,
            "criteria": round.options.get("inclusion_criteria", ""),
        }

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        Screening.objects.bulk_create(
            Screening(unit_id=answer.assignment.unit_id, answer=answer, screening=value[FIELD])
            for answer, value in said
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = Screening.objects.filter(answer__in=list(answers))
        return {row.answer_id: {FIELD: row.screening} for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = Screening.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(row.unit_id, row.imported_id or 0): {FIELD: row.screening} for row in rows}

    def carry(self, value: Value, unit: Unit) -> Value:
        return value

    def row(self, value: Value) -> Row:
        """The reason, and what it comes to: who gives another reason may agree that the review is out."""
        return {FIELD: value[FIELD], INCLUSION: IN_OR_OUT[value[FIELD] != Screened.INCLUDE]}

    def apart(self, field: str, one: Value, other: Value) -> float:
        """Two reasons for leaving a review out are half as far apart as in and out."""
        if self.says_same(field, one, other):
            return 0.0
        return 0.5 if self.row(one)[INCLUSION] == self.row(other)[INCLUSION] else 1.0
