"""The task kind *tuple*: the PICO tuple of a target proposition (TASKS: pico)."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers

from accounts.models import User
from measures.text_agreement import By, Comparison, word_f1
from projects.kinds import Batch, Scale, SkipReason, Value
from projects.kinds.majority import Verdict, majority
from projects.models import Answer, Assignment, Round, Unit

from ...corpus.slots import SLOTS, key_of
from ...models import Cluster, PicoTuple, Proposition, Slot, TupleFragment, TupleSlot
from .. import clusters, slots
from ..slots import TupleValueSerializer
from . import in_force as tuple_in_force
from .serializers import TupleCardSerializer

STANDS_FOR = {Slot.C.value: ("c_stands_for",)}
COMPARED: tuple[By, ...] = ("same", "words")
COMPARISONS = (
    *(
        Comparison(f"{slot.upper()} slot", by, (slot,), STANDS_FOR.get(slot, ()) if by == "same" else ())
        for slot in SLOTS
        for by in COMPARED
    ),
    Comparison("tuple", "whole", SLOTS, ("c_stands_for",)),
)


class TupleKind(clusters.ClusterKind):
    """The PICO tuple of a cluster's target proposition, slot by slot."""

    key = "tuple"
    title = "Write the PICO tuple of a cluster"
    order = 120
    said_of = ("target",)
    fields: Sequence[str] = SLOTS
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("unclear", "The text is unclear"),
        SkipReason("several claims", "It makes several claims"),
        SkipReason("no claim", "It makes no claim about an intervention"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = TupleCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = TupleValueSerializer
    tables = (PicoTuple, TupleSlot, TupleFragment)
    # Texts have no declared categories; how well they agree is in the comparisons.
    scales: Sequence[Scale] = tuple(
        Scale(f"{slot}: blank", ("blank", "given"), slot, blank_or_given=True) for slot in SLOTS
    )
    comparisons: Sequence[Comparison] = COMPARISONS
    columns: Sequence[str] = (*SLOTS, "c_stands_for")

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        return Batch(clusters.load(slots), {"texts": self.texts([slot.unit_id for slot in slots])})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """The target text; the tuple in force only where it is to be reviewed."""
        cluster: Cluster = batch.rows[slot.unit_id]
        return {
            "text": batch.extra["texts"].get(slot.unit_id, ""),
            "cluster": cluster.key,
            "in_force": clusters.slots(cluster) if round.meaning.shows_value else None,
        }

    def check(self, slot: Assignment, value: Value) -> None:
        """Marked pieces must lie in the target text, in order, and quote it exactly."""
        if slots.marks_any(value):
            claims = Proposition.objects.current().filter(cluster__unit=slot.unit_id, position=0)
            slots.check_marked(claims.values_list("text", flat=True).get(), value, "value")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        tuples = PicoTuple.objects.bulk_create(
            PicoTuple(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in said
        )
        tuple_in_force.store([(row, value) for row, (_, value) in zip(tuples, said, strict=True)])

    def undecided_imports(self, units: QuerySet[Unit]) -> QuerySet[Unit]:
        return units.filter(cluster__imported__isnull=False).exclude(pico_tuples__imported__isnull=False)

    def before_decisions(self, units: Sequence[Unit]) -> None:
        tuple_in_force.keep_imported(units)

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """What cards, search and releases read is rewritten from the tuple in force."""
        tuple_in_force.rewrite(units, by=by, reason=reason)

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        rows = _with_slots(PicoTuple.objects.filter(answer__in=list(answers)))
        return {row.answer_id: _value(row) for row in rows}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        rows = _with_slots(PicoTuple.objects.filter(unit__in=list(units), imported__in=list(imported)))
        return {(row.unit_id, row.imported_id or 0): _value(row) for row in rows}

    def carry(self, value: Value, unit: Unit) -> Value:
        """The texts as they are; where a piece was marked is looked for anew by its form."""
        return {slot: value[slot] | {"fragments": []} for slot in SLOTS}

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """Slot by slot, where more than half wrote the same but for case and spaces."""
        return [_verdict(slot, answers) for slot in SLOTS]

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        """But for the spaces around it, which only a file's slot has, and for where it was marked, where the other one
        does not say: the page of work types texts and marks none."""
        here, there = ({**value[field], "text": value[field]["text"].strip()} for value in (one, other))
        return bool(here == there or (not there["fragments"] and here | {"fragments": []} == there))

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        return key_of(said[field]) == key_of(expected[field])

    def apart(self, field: str, one: Value, other: Value) -> float:
        """Slots say the same but for case and spaces, as they do for gold; else they are as near as their words."""
        return (
            0.0
            if key_of(one[field]) == key_of(other[field])
            else 1.0 - (word_f1(one[field]["text"], other[field]["text"]) or 0.0)
        )

    def row(self, value: Value) -> dict[str, str]:
        return {slot: value[slot]["text"] for slot in SLOTS} | {"c_stands_for": value["c"]["stands_for"]}

    def sentence(self, field: str, value: Value) -> str:
        slot = value[field]
        return slot["text"] or slot.get("stands_for") or "blank"


def _verdict(slot: str, answers: Sequence[tuple[Answer, Value]]) -> Verdict:
    return majority(slot, answers, lambda value: key_of(value[slot]))[0]


def _with_slots(rows: QuerySet[PicoTuple]) -> QuerySet[PicoTuple]:
    return rows.prefetch_related("slots__fragments")


def _value(row: PicoTuple) -> Value:
    return slots.said_of(row.slots.all())
