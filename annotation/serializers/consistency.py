"""Consistency checks in JSON."""

from rest_framework import serializers

from measures.consistency import RULES
from projects.serializers.rounds import JobSerializer

from ..models import Finding
from ..models.finding import STATES
from .corpus import CorpusRangeSerializer, Plain


class RuleTotalsSerializer(Plain):
    """One rule and how many of its findings wait, are information, or were answered."""

    rule = serializers.CharField()
    title = serializers.CharField()
    why = serializers.CharField()
    kind = serializers.CharField(allow_blank=True, help_text="Whose labels it doubts; empty where another thing.")
    waiting = serializers.IntegerField()
    information = serializers.IntegerField(help_text="Wait too, and may well be meant so.")
    dismissed = serializers.IntegerField()
    sent = serializers.IntegerField()


class ConsistencySerializer(Plain):
    checked_at = serializers.DateTimeField(allow_null=True, help_text="Null before the first check.")
    job = JobSerializer(allow_null=True, help_text="The newest check that is under way, or failed.")
    rules = RuleTotalsSerializer(many=True)


class FindingUnitSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    text = serializers.CharField(allow_blank=True, help_text="Of a cluster its target.")
    marked = CorpusRangeSerializer(many=True, help_text="Where the words in doubt stand in the text, in order.")


class FindingQueueSerializer(Plain):
    round = serializers.IntegerField()
    name = serializers.CharField()


class FindingSerializer(Plain):
    """Something to look at, and what a curator said to it."""

    id = serializers.IntegerField()
    rule = serializers.CharField()
    reason = serializers.CharField()
    weight = serializers.FloatField()
    is_information = serializers.BooleanField()
    units = FindingUnitSerializer(many=True)
    said = serializers.ChoiceField(choices=Finding.Said.choices, allow_blank=True)
    because = serializers.CharField(allow_blank=True)
    said_by = serializers.CharField(allow_blank=True)
    said_at = serializers.DateTimeField(allow_null=True)
    queues = FindingQueueSerializer(
        many=True, help_text="The closed rounds in whose queue of adjudication waits what was sent to review."
    )
    can_be_sent = serializers.BooleanField(help_text="Whether labels are in doubt that can be reviewed.")


class FindingFiltersSerializer(Plain):
    rule = serializers.ChoiceField(choices=[rule.key for rule in RULES], required=False)
    state = serializers.ChoiceField(choices=list(STATES), required=False)


class FindingAnswerSerializer(Plain):
    """What a curator says to a finding, and why."""

    say = serializers.ChoiceField(choices=["dismiss", "send", "reopen"])
    reason = serializers.CharField(allow_blank=True, max_length=2000)
