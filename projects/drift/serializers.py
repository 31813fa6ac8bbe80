"""Serializers of the accuracy of people on returning gold items."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class AccuracyWindowSerializer(Plain):
    """Consecutive returning items of a person."""

    first = serializers.IntegerField(help_text="Number of the first item of the window, from 1.")
    last = serializers.IntegerField()
    n = serializers.IntegerField()
    right = serializers.IntegerField(help_text="Correct answers.")
    low = serializers.FloatField(help_text="Lower limit of the share correct (Wilson, 95%).")
    high = serializers.FloatField(help_text="Upper limit.")


class AccuracyWarningSerializer(Plain):
    at = serializers.DateTimeField()
    answers = serializers.IntegerField(help_text="Returning items that the person had answered by then.")
    right = serializers.IntegerField(help_text="Correct answers among the last ones.")
    window = serializers.IntegerField(help_text="Number of these answers.")
    score = serializers.FloatField(help_text="Score of the rule in items.")
    threshold = serializers.FloatField(help_text="Score at which a warning is due.")
    recovered_at = serializers.DateTimeField(allow_null=True, help_text="Null while the warning is current.")
    practice = serializers.IntegerField(allow_null=True, help_text="Practice round that followed, if there is one.")
    practice_name = serializers.CharField(allow_blank=True)


class SpeedSerializer(Plain):
    first = serializers.FloatField(allow_null=True, help_text="Median active seconds of the first answers.")
    n_first = serializers.IntegerField()
    last = serializers.FloatField(allow_null=True, help_text="Median active seconds of the last answers.")
    n_last = serializers.IntegerField()


class CommonestValueSerializer(Plain):
    value = serializers.CharField(allow_blank=True, help_text="The commonest value of the last answers.")
    count = serializers.IntegerField()
    n = serializers.IntegerField()
    share_of_others = serializers.FloatField(
        allow_null=True, help_text="Its share among the last answers of the other people; null without any."
    )
    n_others = serializers.IntegerField()
    run = serializers.IntegerField(help_text="Length of the longest run of equal values.")


class PausesSerializer(Plain):
    count = serializers.IntegerField(help_text="Times of 10 minutes to 8 hours without an answer.")
    longest = serializers.FloatField(allow_null=True, help_text="Seconds.")
    n = serializers.IntegerField(help_text="Number of times between answers.")


class PersonAccuracySerializer(Plain):
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    working = serializers.BooleanField()
    answers = serializers.IntegerField(help_text="Answered returning items.")
    right = serializers.IntegerField(help_text="Correct answers.")
    low = serializers.FloatField(allow_null=True, help_text="Lower limit of the share correct (Wilson, 95%).")
    high = serializers.FloatField(allow_null=True)
    last_right = serializers.IntegerField(help_text="Correct ones of the last answers.")
    last_n = serializers.IntegerField(help_text="Number of these answers.")
    windows = AccuracyWindowSerializer(many=True)
    warnings = AccuracyWarningSerializer(many=True, help_text="Newest last.")
    warned = serializers.BooleanField(help_text="Whether the last warning is current.")
    speed = SpeedSerializer(allow_null=True)
    values = CommonestValueSerializer(allow_null=True)
    pauses = PausesSerializer(allow_null=True)


class RoundAccuracySerializer(Plain):
    """Accuracy of people on the returning gold items of a round."""

    bar = serializers.IntegerField(help_text="Accuracy in percent below which people are warned.")
    steady = serializers.FloatField(help_text="Accuracy of a steady person: a third of the errors of the bar.")
    false_warnings = serializers.FloatField(help_text="Probability that a steady person is warned in the round.")
    horizon = serializers.IntegerField(help_text="Number of items for which this probability holds.")
    threshold = serializers.FloatField(help_text="Score at which a warning is due, in items.")
    share = serializers.FloatField(help_text="Share of a person's units that are added as returning items.")
    source_name = serializers.CharField(allow_blank=True, help_text="Round whose decided units return; empty for any.")
    items = serializers.IntegerField(help_text="Number of items that a person can get.")
    window = serializers.IntegerField(help_text="Size of a window.")
    people = PersonAccuracySerializer(many=True)


class OpenedPracticeSerializer(Plain):
    round = serializers.IntegerField(help_text="The practice round.")
    name = serializers.CharField()
