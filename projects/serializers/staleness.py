"""What waits to be looked at again, in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import Strict

from .. import kinds
from ..models import Change

KIND_CHOICES = kinds.choices()
#: What can have changed: the unit's text, nothing but somebody's mind, or what other kinds are judged by.
CHANGED = list(
    dict.fromkeys([Change.TEXT, Change.DOUBT, *(key for kind in kinds.all_kinds() for key in kind.judged_by)])
)


Plain = serializers.Serializer[Any]


class SaidFieldSerializer(Plain):
    field = serializers.CharField()
    value = serializers.CharField(help_text="In words.")


class StaleUnitSerializer(Plain):
    """A unit of which something was said before a change above it, or in its text; nobody has looked at it since."""

    id = serializers.IntegerField()
    unit = serializers.IntegerField()
    type = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    what = serializers.ChoiceField(choices=CHANGED)
    text = serializers.CharField(help_text="As it stands now.")
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    reason = serializers.CharField()
    changed_by = serializers.CharField(allow_null=True, help_text="A pseudonym.")
    changed_at = serializers.DateTimeField()
    said = SaidFieldSerializer(many=True, help_text="What was in force before; empty where only answers hang on it.")


class StaleFiltersSerializer(Plain):
    kind = serializers.ChoiceField(choices=KIND_CHOICES, required=False)
    what = serializers.ChoiceField(choices=CHANGED, required=False)


class OutdatedTotalSerializer(Plain):
    """How many answers of one round were given under an earlier version of the guideline."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    round = serializers.IntegerField()
    name = serializers.CharField()
    guideline = serializers.IntegerField()
    newest = serializers.IntegerField()
    answers = serializers.IntegerField()


class StaleTotalsSerializer(Plain):
    changed = serializers.IntegerField(help_text="Units to be redone or confirmed after a change of text or tuple.")
    outdated = OutdatedTotalSerializer(many=True)


class OutdatedAnswerSerializer(Plain):
    uuid = serializers.UUIDField()
    unit = serializers.IntegerField()
    type = serializers.CharField()
    key = serializers.CharField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    round = serializers.CharField()
    guideline = serializers.IntegerField()
    person = serializers.CharField(help_text="A pseudonym.")
    received_at = serializers.DateTimeField()
    text = serializers.CharField()
    said = SaidFieldSerializer(many=True)


class OutdatedFiltersSerializer(Plain):
    kind = serializers.ChoiceField(choices=KIND_CHOICES, required=False)


class UpholdSerializer(Strict):
    """That a round's answers from under an earlier version of the guideline stand under the newest one."""

    guideline = serializers.IntegerField(min_value=1, help_text="The version under which they were given.")
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")


class UpheldSerializer(Plain):
    answers = serializers.IntegerField(help_text="How many that are by now.")


class ConfirmationSerializer(Strict):
    """That what was in force before a change still holds."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    reason = serializers.CharField(max_length=2000, required=False, allow_blank=True, default="")
