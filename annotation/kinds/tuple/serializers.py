"""The shapes of the tuple kind."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ...corpus import lengths
from ...models import Slot, StandsFor
from ..shapes import FragmentSerializer, TupleSlotShownSerializer

Plain = serializers.Serializer[Any]


class TupleSlotSerializer(Plain):
    """One slot as typed, wherever: spaces around it are the keyboard's. Its form follows from the text: [brackets] are
    implied, words of the target explicit."""

    text = serializers.CharField(allow_blank=True, max_length=lengths.SLOT)
    fragments = FragmentSerializer(
        many=True,
        default=list,
        **at_most(lengths.PIECES),
        help_text="Where it was marked in the target; the text is then the quotes, spaced.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        quotes = [f["quote"] for f in attrs["fragments"]]
        if quotes and attrs["text"] != " ".join(quotes).strip():
            raise serializers.ValidationError({"text": "The text of marked pieces is the pieces, joined by spaces."})
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


class TupleCardSerializer(Plain):
    """The target proposition, and where there is something to confirm or correct, the tuple in force."""

    text = serializers.CharField()
    cluster = serializers.CharField()
    in_force = TupleSlotShownSerializer(many=True, allow_null=True)
