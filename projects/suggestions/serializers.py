"""Serializers of the report of a round with suggestions."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class SuggestionSetSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    model = serializers.CharField()
    version = serializers.CharField(help_text="SHA-256 of what determines the suggestions.")


class PartsSerializer(Plain):
    shown = serializers.IntegerField()
    blind = serializers.IntegerField()


class SharePartSerializer(Plain):
    hits = serializers.IntegerField()
    n = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)


class ShareDifferenceSerializer(Plain):
    """Shares of answers with the suggestion and of blind answers, and their difference with its interval."""

    shown = SharePartSerializer()
    blind = SharePartSerializer()
    difference = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True)


class SuggestedFieldSerializer(Plain):
    """What became of the suggestion in one field. The first row of several fields is the whole answer."""

    field = serializers.CharField()
    accepted = serializers.IntegerField()
    edited = serializers.IntegerField()
    rejected = serializers.IntegerField()
    same = ShareDifferenceSerializer(help_text="Answers that equal the suggestion. The difference is the anchoring.")
    right = ShareDifferenceSerializer(help_text="Answers that equal gold, among those with gold.")
    wrong_kept = ShareDifferenceSerializer(help_text="Answers that equal the suggestion, where it differs from gold.")


class TimePartSerializer(Plain):
    n = serializers.IntegerField()
    median = serializers.FloatField(allow_null=True)


class TimeDifferenceSerializer(Plain):
    shown = TimePartSerializer()
    blind = TimePartSerializer()
    difference = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    ci_reason = serializers.CharField(allow_blank=True)
    method = serializers.CharField()


class SuggestionReportSerializer(Plain):
    """What a model's suggestions did to answers, compared with answers that were given without seeing them."""

    note = serializers.CharField()
    set = SuggestionSetSerializer()
    blind_share = serializers.IntegerField(help_text="Planned share of each person's units without suggestion, in %.")
    shown = serializers.IntegerField(help_text="Answers given with the suggestion.")
    blind = serializers.IntegerField(help_text="Answers given without it.")
    rejected = serializers.IntegerField(help_text="Suggestions that were cleared.")
    skipped = PartsSerializer()
    reviews = serializers.IntegerField()
    fields = SuggestedFieldSerializer(many=True)  # type: ignore[assignment]
    time = TimeDifferenceSerializer(help_text="Active seconds per unit.")
    with_gold = serializers.IntegerField(help_text="Answers to units with gold that is independent of the round.")
    gold = serializers.CharField()
    method = serializers.CharField()
    conclusion = serializers.CharField()
