"""Task kind *sentences*: a class for each sentence of a review's abstract, or which of them bear evidence.

Each task has its own decision field, because a review can be used for both tasks.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from rest_framework import serializers

from accounts.models import User
from annotation.clusters.sentences import imported_ends, rows_of, sentences_json, split, unsplit
from annotation.kinds.sentences import documents, machine, targets
from annotation.kinds.sentences.serializers import SentencesCardSerializer, SentencesValueSerializer
from annotation.kinds.units import REVIEW_FILTERS, SCREENED_IN, ReviewKind
from annotation.models import AbstractReading, Dropped, EvidenceMark, Review, RhetoricalClass, Sentence, SentenceMark
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.abstracts import DERIVED, derived
from measures.agreement import Scale
from projects.kinds import Batch, Filter, Row, SkipReason, Value, groups
from projects.kinds.majority import AggregationResult, by_part
from projects.models import Answer, Assignment, Project, Round, Unit

SentenceValues = Sequence[Mapping[str, Any]]


def classes(sentences: SentenceValues) -> str:
    """Return the numbers of the sentences by class, with runs joined: "1: Background; 2: Goal; 3-6: Methods"."""
    runs = []
    for value, run in groupby(sentences, key=lambda sentence: sentence["said"]):
        numbers = [sentence["number"] for sentence in run]
        span = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
        runs.append(f"{span}: {RhetoricalClass(value).label}")
    return "; ".join(runs)


def evidence(dropped: str, sentences: SentenceValues) -> str:
    """Return the numbers of the evidence-bearing sentences by mark: "picked: 7, 9; table data: 8"."""
    if dropped:
        return f"dropped: {dropped}"
    marks = [mark for mark in EvidenceMark.values if mark != EvidenceMark.NEITHER]
    by_mark = {mark: [str(sentence["number"]) for sentence in sentences if sentence["said"] == mark] for mark in marks}
    return "; ".join(f"{mark}: {', '.join(numbers)}" for mark, numbers in by_mark.items() if numbers) or "none picked"


CLASSES, EVIDENCE = (str(task) for task in AbstractReading.Task)
ASKS = "sentence_task"
OFF = "sentences_off"
PICKED_OR_NOT = ("picked", "not picked")
KEPT = "kept"
#: Cells of a row that has another subject.
NOTHING_SAID = ("",)


class SentencesKind(ReviewKind):
    """Every sentence of one review's abstract."""

    key = "sentences"
    material = "reviews"
    title = "Judge the sentences of abstracts"
    description = "Which sentences of an abstract state a finding?"
    group = groups.CORPUS
    order = 30
    takes_suggestions = True
    fields: Sequence[str] = (EVIDENCE, CLASSES)
    assumed_seconds = 90.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("split wrongly", "Sentence boundaries are wrong"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (explain in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = SentencesCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = SentencesValueSerializer
    options = (
        Parameter(
            ASKS,
            Takes.CHOICE,
            "Task",
            default=EVIDENCE,
            choices=(EVIDENCE, CLASSES),
            words=("select sentences with evidence", "classify each sentence"),
            required=True,
        ),
    )
    policy = (
        Parameter(
            OFF,
            Takes.INTEGER,
            "Sentences that may differ",
            default=0,
            minimum=0,
            maximum=20,
            required=True,
            help="Per abstract. Applies when answers are compared with gold, as in practice rounds.",
        ),
    )
    filters: Sequence[Filter] = (*REVIEW_FILTERS, SCREENED_IN)
    scales: Sequence[Scale] = (
        Scale("class", tuple(RhetoricalClass.values), "class", missing=NOTHING_SAID),
        Scale("derived part", DERIVED, "derived", missing=NOTHING_SAID),
        Scale("evidence", tuple(EvidenceMark.values), "evidence", missing=NOTHING_SAID),
        Scale("picked", PICKED_OR_NOT, "picked", missing=NOTHING_SAID),
        Scale("review", (KEPT, *Dropped.values), "review", missing=NOTHING_SAID),
    )
    headings: Mapping[str, str] = {EVIDENCE: "Sentences with evidence", CLASSES: "Class of each sentence"}
    #: An abstract has a value if one of its sentences has.
    field_values = {EVIDENCE: (*EvidenceMark.choices, *Dropped.choices), CLASSES: RhetoricalClass.choices}
    columns: Sequence[str] = ("sentence", "class", "derived", "evidence", "picked", "review")
    part = "sentence"

    # Units

    def units(self, project: Project) -> QuerySet[Unit]:
        return super().units(project).exclude(review__abstract="")

    #: Each abstract is judged independently, so a rolling round can add abstracts.
    rolls = True

    def create_items(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """Split the abstracts that are not split yet, and return the chosen units unchanged."""
        split(unsplit(Review.objects.filter(unit__in=[unit for unit, _ in chosen])))
        return chosen

    def fields_of(self, round: Round) -> Sequence[str]:
        """Return the field of the round's task; both fields if no round is given."""
        return (round.options[ASKS],) if ASKS in round.options else self.fields

    def scales_of(self, round: Round) -> Sequence[Scale]:
        mine = ("class", "derived part") if self.fields_of(round) == (CLASSES,) else ("evidence", "picked", "review")
        return [scale for scale in self.scales if scale.name in mine]

    # Cards and answers

    def load(self, assignments: Sequence[Assignment], round: Round) -> Batch:
        reviews = {
            r.unit_id: r for r in Review.objects.filter(unit__in=[assignment.unit_id for assignment in assignments])
        }
        by_review: dict[int, list[Sentence]] = {}
        for row in Sentence.objects.filter(review__in=list(reviews.values())).order_by("number"):
            by_review.setdefault(row.review_id or 0, []).append(row)
        unsplit_reviews = [review.pk for review in reviews.values() if review.pk not in by_review]
        ends = imported_ends(unsplit_reviews) if unsplit_reviews else {}
        return Batch(reviews, {"sentences": by_review, "ends": ends})

    def card(self, assignment: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """Return the card. The sentences of an abstract may not be stored yet if the round is being planned."""
        review: Review = batch.rows[assignment.unit_id]
        return {
            "pmid": review.pmid,
            "title": review.title,
            "task": round.options.get(ASKS, EVIDENCE),
            "sentences": sentences_json(
                batch.extra["sentences"].get(review.pk) or rows_of(review, batch.extra["ends"].get(review.pk, ()))
            ),
        }

    def check(self, assignment: Assignment, value: Value) -> None:
        """Check that the answer is for the round's task and covers all sentences of the abstract."""
        [field] = value
        if field not in self.fields_of(assignment.round):
            raise Refused.field(f"value.{field}", "This round has the other task. Reload the page.")
        if field == EVIDENCE and value[field]["dropped"]:
            return
        if [(assignment.unit_id, sentence["number"]) for sentence in _sentence_values(field, value)] != list(
            _sentence_ids([assignment.unit_id])
        ):
            raise Refused.field(f"value.{field}", "Label every sentence of this abstract.")

    def store(self, answers: Sequence[tuple[Answer, Value]]) -> None:
        readings = AbstractReading.objects.bulk_create(
            AbstractReading(
                unit_id=answer.assignment.unit_id,
                answer=answer,
                task=next(iter(value)),
                dropped=value.get(EVIDENCE, {}).get("dropped", ""),
            )
            for answer, value in answers
        )
        ids = _sentence_ids([reading.unit_id for reading in readings])
        SentenceMark.objects.bulk_create(
            SentenceMark(reading=reading, sentence_id=ids[reading.unit_id, one["number"]], label=one["said"])
            for reading, (_, value) in zip(readings, answers, strict=True)
            for one in _sentence_values(reading.task, value)
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = AbstractReading.objects.filter(answer__in=list(answers))
        return {reading.answer_id: value for reading, value in _values(rows)}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = AbstractReading.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(reading.unit_id, reading.imported_id or 0): value for reading, value in _values(rows)}

    def rows_with(self, field: str, keys: Sequence[str]) -> QuerySet[AbstractReading]:
        marks = SentenceMark.objects.filter(reading=OuterRef("pk"), label__in=keys)
        return AbstractReading.objects.filter(Q(Exists(marks)) | Q(dropped__in=keys), task=field)

    def value_key(self, field: str, value: Value) -> str:
        return ""

    # Decisions and agreement

    def read_values(self, units: Sequence[Unit], imported: int) -> dict[int, Any]:
        """Return the classes that a model gave. Sentences that it splits in another way are left out."""
        return machine.values_of_units([unit.pk for unit in units], imported)

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return machine.undecided(units)

    def pre_decide(self, units: Sequence[Unit]) -> None:
        """Store the classes that an import gives as a model's, before the first decision replaces them."""
        machine.decide(units)

    def post_decide(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """Update the targets from the selected sentences, and the documents of MS^2 from the classes."""
        targets.update_targets(units, by=by, reason=reason)
        documents.update_documents(units, by=by, reason=reason)

    def aggregate(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[AggregationResult]:
        return [by_part(field, answers, partial(parts, field)) for field in self.fields_of(round)]

    def is_correct(self, field: str, value: Value, expected: Value, round: Round) -> bool | None:
        return len(_differing(field, value, expected)) <= int(round.policy.get(OFF, 0))

    def distance(self, field: str, one: Value, other: Value) -> float:
        """Return the share of the sentences that differ; 1 if only one answer drops the review."""
        mine, theirs = parts(field, one), parts(field, other)
        if mine.keys() != theirs.keys():
            return 1.0
        return len(_differing(field, one, other)) / len(mine)

    def rows(self, value: Value) -> list[Row]:
        """Return one row per sentence. The evidence task adds a row for the review."""
        rows: list[Row] = []
        if CLASSES in value:
            rows += [{"class": one["said"], "derived": derived(one["said"]), **_cell(one)} for one in value[CLASSES]]
        if EVIDENCE in value:
            rows.append({"review": value[EVIDENCE]["dropped"] or KEPT})
            rows += [
                {"evidence": one["said"], "picked": PICKED_OR_NOT[one["said"] != EvidenceMark.PICKED], **_cell(one)}
                for one in value[EVIDENCE]["sentences"]
            ]
        return [dict.fromkeys(self.columns, "") | row for row in rows]

    def sentence(self, field: str, value: Value) -> str:
        if field == CLASSES:
            return classes(value[field])
        return evidence(value[field]["dropped"], value[field]["sentences"])


def _cell(one: Mapping[str, Any]) -> Row:
    return {"sentence": str(one["number"])}


def parts(field: str, value: Value) -> dict[int, str]:
    """Return the value of each sentence by its number; for the evidence task, key 0 is the reason to drop the review.

    A dropped review has no values of sentences.
    """
    values = {sentence["number"]: str(sentence["said"]) for sentence in _sentence_values(field, value)}
    return values | ({0: value[field]["dropped"]} if field == EVIDENCE else {})


def _sentence_ids(units: Sequence[int]) -> dict[tuple[int, int], int]:
    """Return the sentences of some reviews by (unit id, number), in this order.

    One query, unless an abstract used outside a round still has to be split.
    """
    rows = Sentence.objects.filter(review__unit__in=units).order_by("review__unit", "number")
    ids = {(unit, number): pk for unit, number, pk in rows.values_list("review__unit", "number", "pk")}
    if {unit for unit, _ in ids} == set(units) or not split(unsplit(Review.objects.filter(unit__in=units))):
        return ids
    return _sentence_ids(units)


def _differing(field: str, one: Value, other: Value) -> set[int]:
    mine, theirs = parts(field, one), parts(field, other)
    return {number for number in mine.keys() | theirs.keys() if mine.get(number) != theirs.get(number)}


def _sentence_values(field: str, value: Value) -> Sequence[Mapping[str, Any]]:
    values: Sequence[Mapping[str, Any]] = value[field] if field == CLASSES else value[field]["sentences"]
    return values


def _values(readings: QuerySet[AbstractReading]) -> Iterable[tuple[AbstractReading, Value]]:
    rows = list(readings)
    by_reading: dict[int, list[dict[str, Any]]] = {reading.pk: [] for reading in rows}
    marks = SentenceMark.objects.filter(reading__in=rows).order_by("reading", "sentence__number")
    for reading, number, mark in marks.values_list("reading", "sentence__number", "label"):
        by_reading[reading].append({"number": number, "said": mark})
    for row in rows:
        of_row = by_reading[row.pk]
        yield row, {row.task: of_row if row.task == CLASSES else {"dropped": row.dropped, "sentences": of_row}}
