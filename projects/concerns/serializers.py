"""Serializer of what a version of a guideline concerns."""

from typing import Any

from rest_framework import serializers


class StatedChangeSerializer(serializers.Serializer[Any]):
    """The change that a version of a guideline makes."""

    number = serializers.IntegerField()
    concerns = serializers.ListField(child=serializers.CharField(), help_text="A line for each field.")
    reason = serializers.CharField(allow_blank=True)
