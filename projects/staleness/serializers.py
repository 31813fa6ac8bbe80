"""Serializers for stale units and outdated answers."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict, UnitNameField

from .. import kinds
from ..gold.serializers import FieldValueSerializer
from ..models import Change

KIND_CHOICES = kinds.choices()
#: Types of change: a corrected text, a doubt without a change, or a kind that other kinds depend on.
CHANGED = list(
    dict.fromkeys([Change.TEXT, Change.DOUBT, *(key for kind in kinds.all_kinds() for key in kind.judged_by)])
)


Plain = serializers.Serializer[Any]


class StaleUnitSerializer(Plain):
    """A unit with answers or decisions from before a change, and without a later review."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    type = serializers.CharField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    what = serializers.ChoiceField(choices=CHANGED)
    text = serializers.CharField(help_text="Current text of the unit.")
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()
    changed_by = serializers.CharField(allow_null=True, help_text="Pseudonym of the person.")
    changed_at = serializers.DateTimeField()
    said = FieldValueSerializer(
        many=True, help_text="Value from before the change; empty if only answers depend on it."
    )


class StaleFiltersSerializer(Plain):
    kind = serializers.ChoiceField(choices=KIND_CHOICES, required=False)
    what = serializers.ChoiceField(choices=CHANGED, required=False)


class OutdatedTotalSerializer(Plain):
    """Number of answers of one round under an earlier version of the guideline."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    round = serializers.IntegerField()
    name = serializers.CharField()
    guideline = serializers.IntegerField()
    newest = serializers.IntegerField()
    answers = serializers.IntegerField()


class StaleTotalsSerializer(Plain):
    changed = serializers.IntegerField(help_text="Number of units to redo or confirm after a change of text or tuple.")
    outdated = OutdatedTotalSerializer(many=True)


class OutdatedAnswerSerializer(Plain):
    uuid = serializers.UUIDField()
    unit = serializers.IntegerField()
    type = serializers.CharField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    round = serializers.CharField()
    guideline = serializers.IntegerField()
    person = serializers.CharField(help_text="Pseudonym of the person.")
    received_at = serializers.DateTimeField()
    text = serializers.CharField()
    said = FieldValueSerializer(many=True)


class OutdatedFiltersSerializer(Plain):
    kind = serializers.ChoiceField(choices=KIND_CHOICES, required=False)


class UpholdSerializer(Strict):
    """Confirmation that a round's answers under an earlier guideline remain valid under the newest one."""

    guideline = serializers.IntegerField(min_value=1, help_text="Guideline version under which the answers were given.")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class UpheldSerializer(Plain):
    answers = serializers.IntegerField(help_text="Number of confirmed answers.")


class ConfirmationSerializer(Strict):
    """Confirmation that a value from before a change is still correct."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
