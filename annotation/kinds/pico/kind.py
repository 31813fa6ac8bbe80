"""The task kind *pico*: the propositions that a target sentence makes, each by its PICO tuple (TASKS: pico)."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from rest_framework import serializers

from accounts.models import User
from measures import sets, spans
from measures.text_agreement import By, Comparison
from projects.kinds import Batch, Row, Scale, SkipReason, Value
from projects.kinds.majority import Verdict, majority
from projects.models import Answer, Assignment, Round, Unit
from projects.values.in_force import values_in_force

from ...corpus.slots import SLOTS, in_short, key_of_tuple, texts_of
from ...models import PicoSplit, SplitFragment, SplitSlot, SplitTuple, Target
from .. import slots as slots_of_kinds
from ..target_sentences import FILTERS, SUPPORTED, TargetSentenceKind
from . import in_force
from .nearness import apart
from .serializers import PicoCardSerializer, PicoValueSerializer

FIELD = "tuples"
#: The column that says which proposition of the sentence a row is about.
PART = "proposition"
STANDS_FOR = "c_stands_for"
COMPARED: Sequence[tuple[By, str]] = (("token", "_pieces"), ("exact", "_pieces"), ("same", ""), ("words", ""))
COMPARISONS = (
    *(
        Comparison(
            f"{slot.upper()} {'pieces' if ending else 'slot'}", by, (f"{slot}{ending}",),
            (STANDS_FOR,) if slot == "c" and by == "same" else (),
        )
        for slot in SLOTS
        for by, ending in COMPARED
    ),
    Comparison("tuple of the same number", "whole", SLOTS, (STANDS_FOR,)),
    Comparison("all tuples of a sentence", "shared", (FIELD,)),
    Comparison("number of propositions", "difference", ("propositions",)),
)  # fmt: skip


class PicoKind(TargetSentenceKind):
    """The split of one target sentence. In force, each of its tuples is a cluster with a target proposition."""

    key = "pico"
    title = "Split sentences into PICO tuples"
    order = 50
    fields: Sequence[str] = (FIELD,)
    tables = (PicoSplit, SplitTuple, SplitSlot, SplitFragment)
    assumed_seconds = 60.0
    skip_reasons: Sequence[SkipReason] = (
        SkipReason("no claim", "It makes no claim about an intervention"),
        SkipReason("unclear", "The text is unclear"),
        SkipReason("not my field", "I cannot judge this"),
        SkipReason("other", "Another reason (say it in a comment)"),
    )
    card_serializer: type[serializers.Serializer[Any]] = PicoCardSerializer
    value_serializer: type[serializers.Serializer[Any]] = PicoValueSerializer
    filters = (*FILTERS, SUPPORTED)
    part = PART
    # Texts have no declared categories; how well they agree is in the comparisons.
    scales: Sequence[Scale] = tuple(
        Scale(f"{slot}: blank", ("blank", "given"), slot, blank_or_given=True) for slot in SLOTS
    )
    comparisons: Sequence[Comparison] = COMPARISONS
    columns: Sequence[str] = (
        PART, *SLOTS, STANDS_FOR, *(f"{slot}_pieces" for slot in SLOTS), FIELD, "propositions",
    )  # fmt: skip

    def load(self, slots: Sequence[Assignment], round: Round) -> Batch:
        units = [slot.unit for slot in slots]
        targets = Target.objects.filter(unit__in=units).select_related("review")
        standing = values_in_force(units, self.key) if round.meaning.shows_value else {}
        return Batch({t.unit_id: t for t in targets}, {"standing": standing})

    def card(self, slot: Assignment, batch: Batch, round: Round) -> dict[str, Any]:
        """The sentence; the split in force only where it is to be reviewed."""
        target: Target = batch.rows[slot.unit_id]
        return {
            "text": target.text,
            "key": target.key,
            "title": target.review.title,
            "in_force": batch.extra["standing"].get(slot.unit_id) or None,
        }

    def check(self, slot: Assignment, value: Value) -> None:
        """What is marked stands in the sentence; what is reworded is marked as such, and not refused."""
        if any(slots_of_kinds.marks_any(row) for row in value[FIELD]):
            text = Target.objects.values_list("text", flat=True).get(unit=slot.unit_id)
            for n, row in enumerate(value[FIELD]):
                slots_of_kinds.check_marked(text, row, f"value.{FIELD}.{n}")

    def store(self, said: Sequence[tuple[Answer, Value]]) -> None:
        splits = PicoSplit.objects.bulk_create(
            PicoSplit(unit_id=answer.assignment.unit_id, answer=answer) for answer, _ in said
        )
        given = [
            (split, n, row)
            for split, (_, value) in zip(splits, said, strict=True)
            for n, row in enumerate(value[FIELD])
        ]
        tuples = SplitTuple.objects.bulk_create(SplitTuple(split=split, position=n) for split, n, _ in given)
        rows = [(made, row) for made, (_, _, row) in zip(tuples, given, strict=True)]
        slots_of_kinds.store_said(rows, SplitSlot, SplitFragment, "of")

    def after_decisions(self, units: Sequence[Unit], *, by: User | None, reason: str) -> None:
        """The clusters that people work on follow the split in force."""
        in_force.follow(units, by=by, reason=reason)

    def values(self, answers: Iterable[UUID]) -> dict[Any, Value]:
        splits = in_force.splits().filter(answer__in=list(answers))
        return {split.answer_id: _value(split) for split in splits}

    def imported_values(self, units: Iterable[Unit], imported: Iterable[int]) -> dict[tuple[int, int], Value]:
        splits = in_force.splits().filter(unit__in=list(units), imported__in=list(imported))
        return {(split.unit_id, split.imported_id or 0): _value(split) for split in splits}

    def carry(self, value: Value, unit: Unit) -> Value:
        """The texts as they are; where a piece was marked is looked for anew by its form."""
        return {FIELD: [{slot: row[slot] | {"fragments": []} for slot in SLOTS} for row in value[FIELD]]}

    def adopt(self, unit: Unit, answers: Sequence[tuple[Answer, Value]], round: Round) -> list[Verdict]:
        """The split that more than half gave, but for case, spaces and order."""
        return [majority(FIELD, answers, _keys)[0]]

    def says_same(self, field: str, one: Value, other: Value) -> bool:
        """To the letter and the marked place, in whatever order."""
        return _to_the_letter(one) == _to_the_letter(other)

    def matches(self, field: str, said: Value, expected: Value, round: Round) -> bool | None:
        return _keys(said) == _keys(expected)

    def apart(self, field: str, one: Value, other: Value) -> float:
        return apart(one[FIELD], other[FIELD])

    def rows(self, value: Value) -> list[Row]:
        """A row a proposition, by where its outcome stands in the sentence, so that those of two people meet; what is
        said of the sentence as a whole stands in the first."""
        ordered = sorted(value[FIELD], key=_place)
        whole = {
            FIELD: sets.as_cell(_code(row) for row in ordered),
            "propositions": str(len(ordered)),
        }
        return [
            {
                PART: str(n),
                **{slot: row[slot]["text"] for slot in SLOTS},
                STANDS_FOR: row["c"]["stands_for"],
                **{f"{slot}_pieces": _pieces(row[slot]["fragments"]) for slot in SLOTS},
                **(whole if n == 1 else dict.fromkeys(whole, "")),
            }
            for n, row in enumerate(ordered, start=1)
        ]

    def sentence(self, field: str, value: Value) -> str:
        rows = value[FIELD]
        return "; ".join(in_short(row) if len(rows) == 1 else f"{n}. {in_short(row)}" for n, row in enumerate(rows, 1))


def _value(split: PicoSplit) -> Value:
    return {FIELD: [slots_of_kinds.said_of(row.slots.all()) for row in split.tuples.all()]}


def _keys(value: Value) -> frozenset[Any]:
    return frozenset(key_of_tuple(row) for row in value[FIELD])


def _to_the_letter(value: Value) -> list[str]:
    return sorted(
        str([(row[slot]["text"].strip(), row[slot].get("stands_for", ""), row[slot]["fragments"]) for slot in SLOTS])
        for row in value.get(FIELD, ())
    )


def _place(row: Value) -> tuple[int, ...]:
    """Where a proposition stands among those of its sentence; an unmarked slot comes after all that are marked."""
    return tuple(min((f["start"] for f in row[slot]["fragments"]), default=1 << 30) for slot in ("o", "i", "c", "p"))


def _code(row: Value) -> str:
    """A tuple as one code of a set."""
    return " | ".join(text or "-" for text in texts_of(row)).replace(sets.BETWEEN, ",")


def _pieces(fragments: Sequence[dict[str, Any]]) -> str:
    return spans.as_cell((f["start"], f["end"], f["quote"]) for f in fragments)
