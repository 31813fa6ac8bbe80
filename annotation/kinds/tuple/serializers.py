"""The shapes of the tuple kind; those of its slots are `annotation.kinds.slots`'."""

from typing import Any

from rest_framework import serializers

from ..shapes import TupleSlotShownSerializer

Plain = serializers.Serializer[Any]


class TupleCardSerializer(Plain):
    """The target proposition, and where there is something to confirm or correct, the tuple in force."""

    text = serializers.CharField()
    cluster = serializers.CharField()
    in_force = TupleSlotShownSerializer(many=True, allow_null=True)
