"""Task kind *pico*: the propositions of a target sentence, each described by its PICO tuple."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters import strata
from annotation.clusters.pico import ELEMENTS, in_short, key_of, key_of_tuple, texts_of
from annotation.kinds import tuples as tuple_elements
from annotation.kinds.pico import current
from annotation.kinds.tuples import TupleValueSerializer
from annotation.kinds.units import SENTENCE_FILTERS, SUPPORTED, TargetSentenceKind
from annotation.models import PicoSplit, SplitElement, SplitFragment, SplitTuple, Target
from api.fields import at_most
from measures import span_agreement, spans
from measures.text_agreement import By, Comparison, word_f1
from projects.gold.queries import current_values
from projects.kinds import Batch, Row, Scale, SkipReason, Value
from projects.kinds.majority import AggregationResult, majority
from projects.models import Answer, Assignment, Round, Unit

Plain = serializers.Serializer[Any]


class PicoValueSerializer(Plain):
    """The tuples of the propositions of a sentence, in the order in which they were written."""

    tuples = TupleValueSerializer(many=True, allow_empty=False, **at_most(strata.TUPLES))

    def validate_tuples(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Reject tuples that are equal apart from case and spaces.

        The meaning of a blank comparator does not distinguish them.
        """
        first_numbers: dict[tuple[str, ...], int] = {}
        for number, row in enumerate(rows, start=1):
            if (earlier := first_numbers.setdefault(texts_of(row), number)) != number:
                raise serializers.ValidationError(
                    f"Proposition {number} has the same tuple as proposition {earlier}. Change or delete one."
                )
        return rows


class PicoCardSerializer(Plain):
    """A target sentence, with the current split if there is one to confirm or correct."""

    text = serializers.CharField()
    key = serializers.CharField()
    title = serializers.CharField(allow_blank=True, help_text="Title of the review. It may name implied elements.")
    current = PicoValueSerializer(allow_null=True)


TupleRow = Mapping[str, Any]


def split_distance(one: Sequence[TupleRow], other: Sequence[TupleRow]) -> float:
    """Return the distance of two splits: 0 if they have the same tuples, 1 if no word is shared.

    Tuples are paired greedily, most similar first. The distance is 1 minus the sum of their similarities over the size
    of the longer split.
    """
    similarities = sorted(
        ((_tuple_similarity(a, b), m, n) for m, a in enumerate(one) for n, b in enumerate(other)),
        key=lambda pair: -pair[0],
    )
    left, right, total = set(range(len(one))), set(range(len(other))), 0.0
    for similarity, m, n in similarities:
        if m in left and n in right:
            left.remove(m)
            right.remove(n)
            total += similarity
    return 1.0 - total / max(len(one), len(other), 1)


def _tuple_similarity(one: TupleRow, other: TupleRow) -> float:
    """Return the mean over the four elements: 1 if they are equal, otherwise the F1 of their words."""
    return sum(
        1.0
        if key_of(one[element]) == key_of(other[element])
        else word_f1(one[element]["text"], other[element]["text"]) or 0.0
        for element in ELEMENTS
    ) / len(ELEMENTS)


FIELD = "tuples"
#: Column with the number of the proposition in the sentence.
PART = "proposition"
STANDS_FOR = "c_stands_for"
COMPARED: Sequence[tuple[By, str]] = (("token", "_pieces"), ("exact", "_pieces"), ("same", ""), ("words", ""))
COMPARISONS = (
    *(
        Comparison(
            f"{element.upper()} {'pieces' if ending else 'slot'}",
            by,
            (f"{element}{ending}",),
            (STANDS_FOR,) if element == "c" and by == "same" else (),
        )
        for element in ELEMENTS
        for by, ending in COMPARED
    ),
    Comparison("tuple of the same number", "whole", ELEMENTS, (STANDS_FOR,)),
    Comparison("all tuples of a sentence", "shared", (FIELD,)),
    Comparison("number of propositions", "difference", ("propositions",)),
)


class PicoKind(TargetSentenceKind):
    """The split of one target sentence. Each tuple of the current split is a cluster with a target proposition."""

    key = "pico"
    title = "Split sentences into PICO tuples"
    description = "Population, intervention, comparator and outcome of a sentence."
    order = 50
    takes_suggestions = True
    fields: Sequence[str] = (FIELD,)
    assumed_seconds = 60.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("no claim", "It makes no claim about an intervention"),
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = PicoCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = PicoValueSerializer
    filters = (*SENTENCE_FILTERS, SUPPORTED)
    part = PART
    # Texts have no declared categories; the comparisons measure their agreement.
    scales: Sequence[Scale] = tuple(
        Scale(f"{element}: blank", ("blank", "given"), element, blank_or_given=True) for element in ELEMENTS
    )
    comparisons: Sequence[Comparison] = COMPARISONS
    #: A split has a value if one of its tuples has.
    field_values = {FIELD: tuple((element, f"{element.upper()} blank") for element in ELEMENTS)}
    columns: Sequence[str] = (
        PART,
        *ELEMENTS,
        STANDS_FOR,
        *(f"{element}_pieces" for element in ELEMENTS),
        FIELD,
        "propositions",
    )

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        units = [assignment.unit for assignment in assignments]
        targets = Target.objects.filter(unit__in=units).select_related("review")
        current = current_values(units, self.key) if round.shows_current_value else {}
        return Batch({t.unit_id: t for t in targets}, {"current": current})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the sentence. The current split is included only if the round reviews it."""
        target: Target = batch.rows[assignment.unit_id]
        return {
            "text": target.text,
            "key": target.key,
            "title": target.review.title,
            "current": batch.extra["current"].get(assignment.unit_id) or None,
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that marked pieces are in the sentence. Reworded text is accepted."""
        if any(tuple_elements.has_marks(row) for row in value[FIELD]):
            text = Target.objects.values_list("text", flat=True).get(unit=assignment.unit_id)
            for n, row in enumerate(value[FIELD]):
                tuple_elements.check_marks(text, row, f"value.{FIELD}.{n}")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        splits = PicoSplit.objects.bulk_create(
            PicoSplit(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in answers
        )
        rows_of_splits = [
            (split, n, row)
            for split, (_, value) in zip(splits, answers, strict=True)
            for n, row in enumerate(value[FIELD])
        ]
        tuples = SplitTuple.objects.bulk_create(SplitTuple(split=split, position=n) for split, n, _ in rows_of_splits)
        rows = [(split_tuple, row) for split_tuple, (_, _, row) in zip(tuples, rows_of_splits, strict=True)]
        tuple_elements.store_tuples(rows, SplitElement, SplitFragment, "split_tuple")

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[PicoSplit]:
        """Return the splits with a tuple in which one of these elements is blank."""
        blanks = SplitElement.objects.filter(split_tuple__split=OuterRef("pk"), element__in=keys, text="")
        return PicoSplit.objects.filter(Exists(blanks))

    def value_key(self, field: str, value: Value) -> str:
        return ""

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the clusters from the current split."""
        current.update_clusters(units, by=by, reason=reason)

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        splits = current.splits().filter(answer__in=list(answers))
        return {split.answer_id: _value(split) for split in splits}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        splits = current.splits().filter(unit__in=list(units), imported__in=list(imported))
        return {(split.unit_id, split.imported_id or 0): _value(split) for split in splits}

    def migrate(self, value: Value, unit: Unit) -> Value:
        """Keep the texts and drop the marked pieces. Their positions are found again from the form."""
        return {FIELD: [{element: row[element] | {"fragments": []} for element in ELEMENTS} for row in value[FIELD]]}

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        """Aggregate the majority split, ignoring case, spaces and order."""
        return [majority(FIELD, answers, _keys)[0]]

    def is_equal(self, field: str, one: Value, other: Value) -> bool:
        """Compare texts and marked positions exactly, ignoring the order of tuples."""
        return _exact_tuples(one) == _exact_tuples(other)

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        return _keys(value) == _keys(expected)

    def distance(self, field: str, one: Value, other: Value) -> float:
        return split_distance(one[FIELD], other[FIELD])

    def rows(self, value: Value) -> list[Row]:
        """Return one row per proposition, in order of the outcome's position, so that rows of two people correspond.

        Values of the whole sentence are in the first row.
        """
        ordered = sorted(value[FIELD], key=_position_key)
        sentence_cells = {
            FIELD: span_agreement.as_cell(_code(row) for row in ordered),
            "propositions": str(len(ordered)),
        }
        return [
            {
                PART: str(n),
                **{element: row[element]["text"] for element in ELEMENTS},
                STANDS_FOR: row["c"]["stands_for"],
                **{f"{element}_pieces": _pieces(row[element]["fragments"]) for element in ELEMENTS},
                **(sentence_cells if n == 1 else dict.fromkeys(sentence_cells, "")),
            }
            for n, row in enumerate(ordered, start=1)
        ]

    def sentence(self, field: str, value: Value) -> str:
        rows = value[FIELD]
        return "; ".join(in_short(row) if len(rows) == 1 else f"{n}. {in_short(row)}" for n, row in enumerate(rows, 1))


def _value(split: PicoSplit) -> Value:
    return {FIELD: [tuple_elements.tuple_value(row.elements.all()) for row in split.tuples.all()]}


def _keys(value: Value) -> frozenset[Any]:
    return frozenset(key_of_tuple(row) for row in value[FIELD])


def _exact_tuples(value: Value) -> list[str]:
    return sorted(
        str(
            [
                (row[element]["text"].strip(), row[element].get("stands_for", ""), row[element]["fragments"])
                for element in ELEMENTS
            ]
        )
        for row in value.get(FIELD, ())
    )


def _position_key(row: Value) -> tuple[int, ...]:
    """Return the sort key of a proposition by position in the sentence. Unmarked elements come last."""
    return tuple(
        min((f["start"] for f in row[element]["fragments"]), default=1 << 30) for element in ("o", "i", "c", "p")
    )


def _code(row: Value) -> str:
    """Return a tuple as one code of a set."""
    return " | ".join(text or "-" for text in texts_of(row)).replace(span_agreement.BETWEEN, ",")


def _pieces(fragments: Sequence[dict[str, Any]]) -> str:
    return spans.as_cell((f["start"], f["end"], f["quote"]) for f in fragments)
