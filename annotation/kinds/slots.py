"""What the kinds share that write PICO slots: the shapes, the check of what was marked, and the typed rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework import serializers

from api.fields import at_most
from api.problems import Refused
from measures import spans

from ..corpus import lengths
from ..corpus.pico import without_implied
from ..corpus.slots import SLOTS
from ..models import Slot, StandsFor
from .shapes import FragmentSerializer

Plain = serializers.Serializer[Any]


class TupleSlotSerializer(Plain):
    """One slot as typed, wherever: spaces around it are the keyboard's. Its form follows from the text: [brackets] are
    implied, words of the target explicit."""

    text = serializers.CharField(allow_blank=True, max_length=lengths.SLOT)
    fragments = FragmentSerializer(
        many=True,
        default=list,
        **at_most(lengths.PIECES),
        help_text="Where it was marked in the target; the text is then the quotes, spaced, and what it implies.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        quotes = [f["quote"] for f in attrs["fragments"]]
        whole = " ".join(quotes).strip()
        if quotes and attrs["text"] != whole and " ".join(without_implied(attrs["text"]).split()) != whole:
            raise serializers.ValidationError(
                {"text": "The text of marked pieces is the pieces, joined by spaces, with [implied] text between them."}
            )
        return attrs


class ComparatorSerializer(TupleSlotSerializer):
    stands_for = serializers.ChoiceField(
        choices=StandsFor.choices, allow_blank=True, default="", help_text="What a blank comparator means."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["stands_for"] and attrs["text"]:
            raise serializers.ValidationError({"stands_for": "Only a blank comparator stands for something."})
        return super().validate(attrs)


class TupleValueSerializer(Plain):
    """The four slots of a PICO tuple."""

    p = TupleSlotSerializer()
    i = TupleSlotSerializer()
    c = ComparatorSerializer()
    o = TupleSlotSerializer()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not any(attrs[slot]["text"] for slot in Slot.values):
            raise serializers.ValidationError({"i": "A tuple has at least one slot that is not blank."})
        return attrs


def marks_any(value: Mapping[str, Any]) -> bool:
    return any(value[slot]["fragments"] for slot in SLOTS)


def check_marked(text: str, value: Mapping[str, Any], path: str) -> None:
    """Marked pieces must lie in the text, in order, and quote it exactly. `Refused` names the slot under ``path``."""
    for name in SLOTS:
        if fragments := value[name]["fragments"]:
            try:
                ranges = [(f["start"], f["end"]) for f in fragments]
                spans.check_quotes(text, ranges, [f["quote"] for f in fragments])
            except ValueError as error:
                raise Refused.field(f"{path}.{name}.fragments", str(error)) from None


def store_said(said: Sequence[tuple[Any, Mapping[str, Any]]], slots: type[Any], fragments: type[Any], to: str) -> None:
    """The typed rows of tuples that were just inserted, in these two tables (`models.tuples.SaidSlot`, `SaidFragment`);
    ``to``: what the slots' column of their tuple is called."""
    given = [(row, slot, value[slot]) for row, value in said for slot in SLOTS]
    rows = slots._default_manager.bulk_create(
        slots(**{to: row}, slot=slot, text=one["text"], stands_for=one.get("stands_for", ""))
        for row, slot, one in given
    )
    fragments._default_manager.bulk_create(
        fragments(slot=row, position=n, start=f["start"], end=f["end"], quote=f["quote"])
        for row, (_, _, one) in zip(rows, given, strict=True)
        for n, f in enumerate(one["fragments"])
    )


def said_of(slots: Iterable[Any]) -> dict[str, Any]:
    """The value of a tuple from its typed rows; prefetch ``fragments``."""
    found: dict[str, Any] = {}
    for row in slots:
        marked = [{"start": f.start, "end": f.end, "quote": f.quote} for f in row.fragments.all()]
        found[row.slot] = {"text": row.text, "fragments": marked}
        if row.slot == Slot.C:
            found[row.slot]["stands_for"] = row.stands_for
    return found
