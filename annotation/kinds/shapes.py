"""Shapes that several kinds show or take: ranges of a text, pieces of it, and the tuple in force."""

from typing import Any

from rest_framework import serializers

from ..models import PicoForm, Slot, StandsFor

Plain = serializers.Serializer[Any]


class RangeSerializer(Plain):
    """A half-open range of Unicode code points of the text as stored."""

    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=1)


class FragmentSerializer(RangeSerializer):
    """A piece of a cue with its quote; the server slices the text again and compares."""

    quote = serializers.CharField(trim_whitespace=False)


class TupleSlotShownSerializer(Plain):
    """One slot of the tuple in force, and where an explicit one stands in the target text."""

    slot = serializers.ChoiceField(choices=Slot.choices)
    form = serializers.ChoiceField(choices=PicoForm.choices)
    text = serializers.CharField(allow_blank=True)
    stands_for = serializers.ChoiceField(choices=StandsFor.choices, allow_blank=True)
    fragments = RangeSerializer(many=True)
