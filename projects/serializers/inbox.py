"""What was raised, and the words on it, in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict

from ..models import Outcome, Remark
from ..pages.inbox import WHAT
from .rounds import RoundRowSerializer
from .staleness import SaidFieldSerializer

Plain = serializers.Serializer[Any]


class InboxFiltersSerializer(Plain):
    what = serializers.ChoiceField(choices=list(WHAT), required=False)
    state = serializers.ChoiceField(choices=["open", "settled"], required=False)
    round = serializers.IntegerField(required=False, max_value=LARGEST)


class NewRemarkSerializer(Strict):
    act = serializers.ChoiceField(choices=Remark.Act.choices)
    text = serializers.CharField(max_length=5000, allow_blank=True, default="")


class RemarkSerializer(Plain):
    act = serializers.ChoiceField(choices=Remark.Act.choices)
    author = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class InboxItemSerializer(Plain):
    """An answer that flags, comments or skips, with the words on it."""

    answer = serializers.UUIDField()
    unit = serializers.IntegerField()
    key = serializers.CharField()
    kind = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    round = serializers.IntegerField()
    round_name = serializers.CharField()
    pseudonym = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    outcome = serializers.ChoiceField(choices=Outcome.choices)
    reason = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)
    flag = serializers.BooleanField()
    said = SaidFieldSerializer(many=True)
    at = serializers.DateTimeField()
    settled = serializers.BooleanField()
    remarks = RemarkSerializer(many=True)


class InboxTotalsSerializer(Plain):
    """Unsettled ones by what they are (one may be several), all of them, and how many are settled."""

    flagged = serializers.IntegerField()
    commented = serializers.IntegerField()
    skipped = serializers.IntegerField()
    open = serializers.IntegerField()
    settled = serializers.IntegerField()


class ReplySerializer(Plain):
    """One's own answer that somebody replied to."""

    answer = serializers.UUIDField()
    key = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    comment = serializers.CharField(allow_blank=True)
    remarks = RemarkSerializer(many=True)


class AtWorkSerializer(Plain):
    """One person in one open round."""

    member = serializers.IntegerField()
    name = serializers.CharField(allow_blank=True)
    pseudonym = serializers.CharField()
    answered = serializers.IntegerField()
    skipped = serializers.IntegerField()
    left = serializers.IntegerField(allow_null=True, help_text="Of the person's own share; null in a pool.")
    seconds_an_answer = serializers.FloatField(allow_null=True)
    last_answer_at = serializers.DateTimeField(allow_null=True)


class OverviewRoundSerializer(RoundRowSerializer):
    contested = serializers.IntegerField(help_text="Fields whose newest word is a contest of this round.")
    raised = serializers.IntegerField(help_text="Unsettled answers with a flag or a comment.")
    skipped = serializers.IntegerField(help_text="Unsettled skips.")
    independent = serializers.BooleanField(help_text="Whether its answers have an agreement between people.")
    at_work = AtWorkSerializer(many=True, help_text="Of an open round, for leads and curators.")


class OverviewDaySerializer(Plain):
    day = serializers.DateField()
    answers = serializers.IntegerField()


class OverviewSerializer(Plain):
    """The rounds of a project's page; what needs attention and who is at work are for leads and curators."""

    rounds = OverviewRoundSerializer(many=True)
    unsettled = serializers.IntegerField()
    days = OverviewDaySerializer(many=True, help_text="First answers on each of the last 14 days, today last.")
