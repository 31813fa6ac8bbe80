"""Task kind *entity*: the populations, interventions and outcomes that an abstract names, as spans.

Spans may overlap, nest and cross. Each element is a decision field of its own, so that people may agree on one and
disagree on another.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework import serializers

from annotation.kinds.entity import machine, units
from annotation.kinds.entity.values import FIELDS, KIND, REJECTED, store_spans, value_of
from annotation.kinds.tuples import FragmentSerializer, RangeSerializer
from annotation.kinds.units import BOTH, REVIEW, REVIEW_FILTERS, SCREENED_IN, ReviewKind, abstracts_option
from annotation.models import (
    SPAN_ELEMENT_CHOICES,
    SPAN_ELEMENTS,
    AbstractUnit,
    EntityReading,
    EntitySpan,
    Review,
    Study,
)
from api.fields import at_most
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures import spans
from measures.text_agreement import By, Comparison
from projects.kinds import Batch, Filter, Row, SkipReason, Value, check_fragments
from projects.kinds.stored import MARKED, MARKED_OR_NOT, NOT_MARKED, having
from projects.models import Answer, Assignment, Project, Round, Unit

Plain = serializers.Serializer[Any]
#: Maximum number of spans of one element in an abstract. The largest number in MS^2's sample is 18.
MOST = 500


class SuggestedSpanSerializer(RangeSerializer):
    element = serializers.ChoiceField(choices=SPAN_ELEMENT_CHOICES)


class EntityCardSerializer(Plain):
    """The abstract of a review or a study."""

    text = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    pmid = serializers.CharField()
    year = serializers.IntegerField(allow_null=True)
    is_review = serializers.BooleanField(help_text="Whether the abstract belongs to a review; otherwise to a study.")
    suggestions = SuggestedSpanSerializer(
        many=True, allow_null=True, help_text="Spans that a model found. Null if the round shows none."
    )


class EntitySpanSerializer(FragmentSerializer):
    suggestion = serializers.ChoiceField(
        choices=[one for one in EntitySpan.Suggestion.choices if one[0] != REJECTED],
        allow_blank=True,
        default="",
        help_text="Outcome of the suggested span from which this one was made, if there was one.",
    )


class RejectedSpanSerializer(FragmentSerializer):
    element = serializers.ChoiceField(choices=SPAN_ELEMENT_CHOICES)


def _many(serializer: type[Plain], **more: Any) -> Any:
    return serializer(many=True, **at_most(MOST), **more)


class EntityValueSerializer(Plain):
    """The spans of an abstract by element."""

    population_spans = _many(EntitySpanSerializer)
    intervention_spans = _many(EntitySpanSerializer)
    outcome_spans = _many(EntitySpanSerializer)
    rejected_spans = _many(RejectedSpanSerializer, default=list, help_text="Suggested spans that the person rejected.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Sort the spans, and reject a span that is marked twice as one element."""
        for field in FIELDS.values():
            attrs[field].sort(key=lambda span: (span["start"], -span["end"]))
            ranges = [(span["start"], span["end"]) for span in attrs[field]]
            if len(set(ranges)) < len(ranges):
                raise serializers.ValidationError({field: "A span is marked twice. Mark each span once."})
        return attrs


SUGGESTS = "suggest_spans"
COMPARED: Sequence[By] = ("spans", "overlap", "kappa")


class EntityKind(ReviewKind):
    """The spans of the abstract of one review or study."""

    key = KIND
    title = "Mark populations, interventions and outcomes"
    description = "Which words of an abstract name them?"
    material = "reviews"
    order = 35
    takes_suggestions = True
    unit_types: Sequence[str] = (units.ABSTRACT,)
    fields: Sequence[str] = tuple(FIELDS.values())
    assumed_seconds = 180.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = EntityCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = EntityValueSerializer
    options = (
        abstracts_option("abstracts"),
        Parameter(
            SUGGESTS,
            Takes.SWITCH,
            "Suggest the spans that a model found",
            default=False,
            help="Suggestions may bias annotators. Agreement of such a round is not independent.",
        ),
    )
    filters: Sequence[Filter] = (*REVIEW_FILTERS, SCREENED_IN)
    comparisons: Sequence[Comparison] = tuple(
        Comparison(element.label.lower(), by, (FIELDS[element],)) for element in SPAN_ELEMENTS for by in COMPARED
    )
    field_values = dict.fromkeys(FIELDS.values(), MARKED_OR_NOT)
    columns: Sequence[str] = (*FIELDS.values(), "rejected_spans")

    # Units

    def units(self, project: Project) -> QuerySet[Unit]:
        return super().units(project).exclude(review__abstract="")

    def valued_units(self, project: Project) -> QuerySet[Unit]:
        """Return the abstracts that a round has asked about, and reviews with spans of a model in other abstracts."""
        possible = Unit.objects.filter(Q(type=units.ABSTRACT) | Q(type=REVIEW) & machine.has_unasked())
        return possible.filter(project=project, superseded_by=None).order_by("pk")

    #: Each abstract is judged independently, so a rolling round can add abstracts.
    rolls = True

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        if round.meaning.chooses != "any":
            return units.with_read_abstracts(round, [unit for unit, _ in chosen], round.options.get("abstracts", BOTH))
        items = units.get_or_create_units(round, [unit for unit, _ in chosen], round.options.get("abstracts", BOTH))
        if not items and not round.is_rolling:
            raise Refused.field(
                "filters", "No study of these reviews has an abstract. Fetch the records of the studies."
            )
        return items

    def count_after_layout(self, project: Project, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return units.count_units(chosen, options.get("abstracts", BOTH))

    def count_valued(self, chosen: Sequence[int], options: Mapping[str, Any]) -> int:
        return units.count_read_abstracts(chosen, options.get("abstracts", BOTH))

    def texts(self, units: Iterable[int]) -> dict[int, str]:
        """Return the abstracts."""
        return {unit: row.abstract for unit, row in _articles(units).items()}

    def reviews(self, units: Iterable[int]) -> dict[int, str]:
        """Return the PMID of each article. Studies are clusters of their own, because reviews share them."""
        return {unit: row.pmid for unit, row in _articles(units).items()}

    # Cards and answers

    def shows_suggestions(self, round: Round) -> bool:
        return bool(round.options.get(SUGGESTS))

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        articles = _articles([assignment.unit_id for assignment in assignments])
        suggested = machine.spans_of(articles.values()) if self.shows_suggestions(round) else None
        return Batch(articles, {"suggested": suggested})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        article = batch.rows[assignment.unit_id]
        return {
            "text": article.abstract,
            "title": article.title,
            "pmid": article.pmid,
            "year": article.year,
            "is_review": isinstance(article, Review),
            "suggestions": suggested.get(article, []) if (suggested := batch.extra["suggested"]) is not None else None,
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        text = self.texts([assignment.unit_id])[assignment.unit_id]
        for field in (*self.fields, "rejected_spans"):
            for number, span in enumerate(value.get(field, ())):
                check_fragments(text, [span], f"value.{field}.{number}")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        readings = EntityReading.objects.bulk_create(
            EntityReading(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in answers
        )
        store_spans([(reading, value) for reading, (_, value) in zip(readings, answers, strict=True)])

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        readings = EntityReading.objects.filter(answer__in=list(answers)).prefetch_related("spans")
        return {reading.answer_id: value_of(reading) for reading in readings}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        readings = EntityReading.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(r.unit_id, r.imported_id or 0): value_of(r) for r in readings.prefetch_related("spans")}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[EntityReading]:
        [element] = [element for element, name in FIELDS.items() if name == field]
        spans_of = EntitySpan.objects.filter(reading=OuterRef("pk"), element=element).exclude(suggestion=REJECTED)
        return having(EntityReading.objects.all(), keys, yes=MARKED, has=Exists(spans_of))

    def value_key(self, field: str, value: Value) -> str:
        return MARKED if value.get(field) else NOT_MARKED

    # Decisions and agreement

    def as_suggestion(self, value: Value) -> Value:
        """Mark each span as an accepted suggestion, so that the answer records what becomes of it."""
        accepted = {"suggestion": EntitySpan.Suggestion.ACCEPTED}
        return {f: [span | accepted for span in value[f]] for f in self.fields} | {"rejected_spans": []}

    def read_values(self, units: Sequence[Unit], imported: int) -> dict[int, Any]:
        return machine.values_of_units(_articles(unit.pk for unit in units), imported)

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return machine.undecided(units)

    def pre_decide(self, units: Sequence[Unit]) -> None:
        """Store the spans of a model before a round shows them."""
        machine.decide(units)

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        return _ranges(field, one) == _ranges(field, other)

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the share of the spans that only one of the answers has."""
        mine, theirs = _ranges(field, one), _ranges(field, other)
        return len(mine ^ theirs) / len(mine | theirs) if mine | theirs else 0.0

    def row(self, value: Value) -> Row:
        cells = {field: _cell(value[field]) for field in self.fields if field in value}
        rejected = "; ".join(f"{span['element']} {_cell([span])}" for span in value.get("rejected_spans", ()))
        return dict.fromkeys(self.columns, "") | cells | {"rejected_spans": rejected}

    def sentence(self, field: str, value: Value) -> str:
        return "; ".join(span["quote"] for span in value[field]) or "none"


def _articles(unit_ids: Iterable[int]) -> dict[int, Review | Study]:
    """Return the article of each abstract, and each review that a round that is being planned has chosen."""
    ids = list(unit_ids)
    rows = AbstractUnit.objects.filter(unit__in=ids).select_related("review", "study")
    articles: dict[int, Review | Study] = {row.unit_id: row.article for row in rows}
    planned = [unit for unit in ids if unit not in articles]
    return articles | ({r.unit_id: r for r in Review.objects.filter(unit__in=planned)} if planned else {})


def _ranges(field: str, value: Value) -> frozenset[tuple[int, int]]:
    return frozenset((span["start"], span["end"]) for span in value.get(field) or ())


def _cell(marked: Sequence[Mapping[str, Any]]) -> str:
    return spans.spans_as_cell([(span["start"], span["end"], span["quote"])] for span in marked)
