"""Serializers of sets of suggestions."""

from typing import Any

from rest_framework import serializers

from ..models import SuggestionSource

Plain = serializers.Serializer[Any]


class SuggestionSetRowSerializer(Plain):
    """One version of a model for one task, with the numbers of its suggestions."""

    id = serializers.IntegerField()
    kind = serializers.CharField(max_length=30)
    name = serializers.CharField()
    source = serializers.ChoiceField(choices=SuggestionSource.choices)  # type: ignore[assignment]
    model = serializers.CharField()
    version = serializers.CharField(help_text="SHA-256 of what determines the suggestions.")
    details = serializers.DictField(child=serializers.JSONField(allow_null=True), help_text="What the version covers.")
    options = serializers.DictField(child=serializers.JSONField(allow_null=True), help_text="Options of the task.")
    valid = serializers.IntegerField(help_text="Units with a valid suggestion.")
    invalid = serializers.IntegerField(help_text="Units without one, after the last answer of the model.")
    fault = serializers.CharField(allow_blank=True, help_text="Commonest reason of units without a valid suggestion.")
    answers = serializers.IntegerField(help_text="Answers of the model, with those that were invalid.")
    report = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="Other counts: tokens, units without a reading, and units whose licence forbids to send them.",
    )
    rounds = serializers.IntegerField(help_text="Rounds that show these suggestions.")
    made_at = serializers.DateTimeField()


class NewSuggestionFileSerializer(Plain):
    kind = serializers.CharField(max_length=30)
    name = serializers.CharField(max_length=80)
    model = serializers.CharField(max_length=200, help_text="Name of the model that made the values.")
    options = serializers.JSONField(required=False, default=dict, help_text="Options of the task, as a JSON object.")
    file = serializers.FileField(
        allow_empty_file=True, help_text='JSON Lines: {"unit": key, "value": the value as the API takes it}.'
    )
