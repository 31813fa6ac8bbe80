"""The shapes of the screen kind."""

from typing import Any

from rest_framework import serializers

from ...models import Screened

Plain = serializers.Serializer[Any]


class AbstractSectionSerializer(Plain):
    """A part of a structured abstract: a half-open range of code points of it, under its label."""

    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    start = serializers.IntegerField(min_value=0)
    end = serializers.IntegerField(min_value=0)


class ScreenCardSerializer(Plain):
    """What a person is shown of a review."""

    pmid = serializers.CharField()
    title = serializers.CharField(allow_blank=True)
    abstract = serializers.CharField(allow_blank=True)
    sections = AbstractSectionSerializer(many=True, help_text="Of a structured abstract; none of another one.")
    topic = serializers.CharField(allow_blank=True, help_text="What it was searched for.")
    year = serializers.IntegerField(allow_null=True, help_text="Of publication.")
    publication_types = serializers.ListField(child=serializers.CharField())
    retracted = serializers.BooleanField()
    criteria = serializers.CharField(allow_blank=True, help_text="What belongs in the data set, in the lead's words.")


class ScreenValueSerializer(Plain):
    screening = serializers.ChoiceField(choices=Screened.choices, help_text="`include`, or why the review is excluded.")
