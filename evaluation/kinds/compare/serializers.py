"""The shapes of the compare kind: two texts side by side, and which is better."""

from typing import Any

from rest_framework import serializers

from api.fields import at_most

from ..rate.serializers import PageCardSerializer

Plain = serializers.Serializer[Any]


class PairCardSerializer(PageCardSerializer):
    """A page of two texts, the left one first."""


class PairChoiceSerializer(Plain):
    """``choice``: the key of the better text, or tie, or neither."""

    criterion = serializers.CharField(max_length=30)
    choice = serializers.CharField(max_length=8)
    reason = serializers.CharField(allow_blank=True, default="", max_length=2000)


class CompareValueSerializer(Plain):
    left = serializers.CharField(max_length=8)
    right = serializers.CharField(max_length=8)
    said = PairChoiceSerializer(many=True, **at_most(40))
