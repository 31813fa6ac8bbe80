"""The task kind *sentences*: a class for each sentence of a review's abstract, or which of them bear evidence.

(TASKS: sentences) One decision field a way of asking, since a review may be asked both ways in turn.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from api.parameters import Parameter, Takes
from api.problems import Refused
from measures.agreement import Scale
from measures.rhetorical import DERIVED, derived
from projects.kinds import Batch, Filter, Row, SkipReason, Value
from projects.kinds.majority import Verdict, by_part
from projects.models import Answer, Assignment, Project, Round, Unit

from ...corpus.sentences import rows_of, shown, split, unsplit
from ...models import AbstractReading, Dropped, EvidenceMark, Review, RhetoricalClass, Sentence, SentenceMark
from ..reviews import FILTERS, SCREENED_IN, ReviewKind
from . import targets, words
from .serializers import SentencesCardSerializer, SentencesValueSerializer

CLASSES, EVIDENCE = (str(task) for task in AbstractReading.Task)
ASKS = "sentence_task"
OFF = "sentences_off"
PICKED_OR_NOT = ("picked", "not picked")
KEPT = "kept"
#: Cells of a row that is about something else.
NOTHING_SAID = ("",)


class SentencesKind(ReviewKind):
    """Every sentence of one review's abstract."""

    key = "sentences"
    title = "Judge the sentences of abstracts"
    order = 30
    fields: Sequence[str] = (EVIDENCE, CLASSES)
    tables = (AbstractReading, SentenceMark)
    assumed_seconds = 90.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("split wrongly", "The sentences are not cut where they end"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = SentencesCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = SentencesValueSerializer
    options = (
        Parameter(
            ASKS, Takes.CHOICE, "What is asked of the sentences", default=EVIDENCE, choices=(EVIDENCE, CLASSES),
            words=("which bear evidence", "a class for each"), required=True,
        ),
    )  # fmt: skip
    policy = (
        Parameter(
            OFF, Takes.INTEGER, "Sentences that may differ", default=0, minimum=0, maximum=20,
            required=True, help="Of an abstract, where an answer is held against gold, as in practice.",
        ),
    )  # fmt: skip
    filters: Sequence[Filter] = (*FILTERS, SCREENED_IN)
    scales: Sequence[Scale] = (
        Scale("class", tuple(RhetoricalClass.values), "class", missing=NOTHING_SAID),
        Scale("derived part", DERIVED, "derived", missing=NOTHING_SAID),
        Scale("evidence", tuple(EvidenceMark.values), "evidence", missing=NOTHING_SAID),
        Scale("picked", PICKED_OR_NOT, "picked", missing=NOTHING_SAID),
        Scale("review", (KEPT, *Dropped.values), "review", missing=NOTHING_SAID),
    )
    headings: Mapping[str, str] = {EVIDENCE: "Which sentences bear evidence", CLASSES: "A class for each sentence"}
    columns: Sequence[str] = ("sentence", "class", "derived", "evidence", "picked", "review")
    part = "sentence"

    # Which units

    def units(self, project: Project) -> QuerySet[Unit]:
        return super().units(project).exclude(review__abstract="")

    #: Each abstract is asked for itself, whatever else is.
    rolls = True

    def lay_out(self, round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
        """What is chosen is asked; abstracts from before sentences were stored are split first."""
        split(unsplit(Review.objects.filter(unit__in=[unit for unit, _ in chosen])))
        return chosen

    def fields_of(self, round: Round) -> Sequence[str]:
        """One of the two; both where no round asks."""
        return (round.options[ASKS],) if ASKS in round.options else self.fields

    def scales_of(self, round: Round) -> Sequence[Scale]:
        mine = ("class", "derived part") if self.fields_of(round) == (CLASSES,) else ("evidence", "picked", "review")
        return [scale for scale in self.scales if scale.name in mine]

    # What is shown, and what is said

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        reviews = {r.unit_id: r for r in Review.objects.filter(unit__in=[slot.unit_id for slot in slots])}
        found: dict[int, list[Sentence]] = {}
        for row in Sentence.objects.filter(review__in=list(reviews.values())).order_by("number"):
            found.setdefault(row.review_id or 0, []).append(row)
        return Batch(reviews, {"sentences": found})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """A round that is being planned may show abstracts that nobody has stored the sentences of yet."""
        review: Review = batch.rows[slot.unit_id]
        return {
            "pmid": review.pmid,
            "title": review.title,
            "task": round.options.get(ASKS, EVIDENCE),
            "sentences": shown(batch.extra["sentences"].get(review.pk) or rows_of(review)),
        }

    def check(self, slot: Assignment, value: Value) -> None:
        """What is said is what the round asks, of all sentences of the abstract."""
        [field] = value
        if field not in self.fields_of(slot.round):
            raise Refused.field(f"value.{field}", "This round asks something else of the sentences.")
        if field == EVIDENCE and value[field]["dropped"]:
            return
        if [(slot.unit_id, one["number"]) for one in _said(field, value)] != list(_sentences([slot.unit_id])):
            raise Refused.field(f"value.{field}", "Say something of every sentence of this abstract, and of no other.")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        readings = AbstractReading.objects.bulk_create(
            AbstractReading(
                unit_id=answer.assignment.unit_id, answer=answer, task=next(iter(value)),
                dropped=value.get(EVIDENCE, {}).get("dropped", ""),
            )
            for answer, value in said
        )  # fmt: skip
        ids = _sentences([reading.unit_id for reading in readings])
        SentenceMark.objects.bulk_create(
            SentenceMark(reading=reading, sentence_id=ids[reading.unit_id, one["number"]], said=one["said"])
            for reading, (_, value) in zip(readings, said, strict=True)
            for one in _said(reading.task, value)
        )

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = AbstractReading.objects.filter(answer__in=list(answers))
        return {reading.answer_id: value for reading, value in _values(rows)}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = AbstractReading.objects.filter(unit__in=list(units), imported__in=list(imported))
        return {(reading.unit_id, reading.imported_id or 0): value for reading, value in _values(rows)}

    # What it comes to

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The sentences that are picked become targets."""
        targets.follow(units, by=by, reason=reason)

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        return [by_part(field, answers, partial(parts, field)) for field in self.fields_of(round)]

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        return len(_differing(field, said, expected)) <= int(round.policy.get(OFF, 0))

    def apart(self, field: str, one: Value, other: Value) -> float:
        """The share of the sentences of which the two say otherwise; 1 where one drops the review and one does not."""
        mine, theirs = parts(field, one), parts(field, other)
        if mine.keys() != theirs.keys():
            return 1.0
        return len(_differing(field, one, other)) / len(mine)

    def rows(self, value: Value) -> list[Row]:
        """A row for each sentence; of which bear evidence, one for the review as well."""
        rows: list[Row] = []
        if CLASSES in value:
            rows += [{"class": one["said"], "derived": derived(one["said"]), **_of(one)} for one in value[CLASSES]]
        if EVIDENCE in value:
            rows.append({"review": value[EVIDENCE]["dropped"] or KEPT})
            rows += [
                {"evidence": one["said"], "picked": PICKED_OR_NOT[one["said"] != EvidenceMark.PICKED], **_of(one)}
                for one in value[EVIDENCE]["sentences"]
            ]
        return [dict.fromkeys(self.columns, "") | row for row in rows]

    def sentence(self, field: str, value: Value) -> str:
        if field == CLASSES:
            return words.classes(value[field])
        return words.evidence(value[field]["dropped"], value[field]["sentences"])


def _of(one: Mapping[str, Any]) -> Row:
    return {"sentence": str(one["number"])}


def parts(field: str, value: Value) -> dict[int, str]:
    """What a value says by the numbers of the sentences, and at 0 whether it drops the review. No sentence is said of
    in a review that is dropped."""
    found = {one["number"]: str(one["said"]) for one in _said(field, value)}
    return found | ({0: value[field]["dropped"]} if field == EVIDENCE else {})


def _sentences(units: Sequence[int]) -> dict[tuple[int, int], int]:
    """The sentences of some reviews by (unit id, number), in this order. One query, but for an abstract that is asked
    about outside of rounds and was never split."""
    rows = Sentence.objects.filter(review__unit__in=units).order_by("review__unit", "number")
    found = {(unit, number): pk for unit, number, pk in rows.values_list("review__unit", "number", "pk")}
    if {unit for unit, _ in found} == set(units) or not split(unsplit(Review.objects.filter(unit__in=units))):
        return found
    return _sentences(units)


def _differing(field: str, one: Value, other: Value) -> set[int]:
    mine, theirs = parts(field, one), parts(field, other)
    return {number for number in mine.keys() | theirs.keys() if mine.get(number) != theirs.get(number)}


def _said(field: str, value: Value) -> Sequence[Mapping[str, Any]]:
    said: Sequence[Mapping[str, Any]] = value[field] if field == CLASSES else value[field]["sentences"]
    return said


def _values(readings: QuerySet[AbstractReading]) -> Iterable[tuple[AbstractReading, Value]]:
    found = list(readings)
    said: dict[int, list[dict[str, Any]]] = {reading.pk: [] for reading in found}
    marks = SentenceMark.objects.filter(reading__in=found).order_by("reading", "sentence__number")
    for reading, number, mark in marks.values_list("reading", "sentence__number", "said"):
        said[reading].append({"number": number, "said": mark})
    for row in found:
        of_row = said[row.pk]
        yield row, {row.task: of_row if row.task == CLASSES else {"dropped": row.dropped, "sentences": of_row}}
