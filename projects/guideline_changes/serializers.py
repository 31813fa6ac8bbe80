"""Serializers of guideline changes."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, NameField, Strict

from ..guidelines.serializers import AffectedSerializer
from ..models import Round
from ..stored_figures.serializers import StoredSerializer

Plain = serializers.Serializer[Any]


class ValueChangeSerializer(Plain):
    """Units whose value changed in one way."""

    field = serializers.CharField()
    title = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    units = serializers.IntegerField()


class ChangeRoundSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=Round.Status.choices)


class WaitingRoundSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    units = serializers.IntegerField()


class ChangeFiguresSerializer(Plain):
    """What a version of a guideline concerned, what was revisited since, and what is left."""

    concerned = serializers.IntegerField(help_text="Units with a concerned value, current or answered.")
    revisited = serializers.IntegerField(help_text="Of these, units that were answered or curated under the version.")
    changed = serializers.IntegerField(help_text="Of these, units with another value.")
    changes = ValueChangeSerializer(many=True, help_text="Changed values by field.")
    left = AffectedSerializer(help_text="Units that were not revisited.")
    correctable = serializers.IntegerField(help_text="Units left with a current value to confirm or correct.")
    assigned = serializers.IntegerField(help_text="Units left that an open round asks about under the version.")
    waiting = serializers.IntegerField(help_text="Units left that wait for a curator.")
    waiting_in = WaitingRoundSerializer(many=True, help_text="Rounds in whose adjudication they wait.")


class GuidelineChangeSerializer(StoredSerializer):
    """The figures of a version of a guideline. A large project has them as a job has stored them."""

    figures = ChangeFiguresSerializer(allow_null=True, help_text="Null until they are computed.")
    as_of = serializers.DateTimeField(
        allow_null=True, help_text="When a job counted. Null if the request counted, or if nothing is counted yet."
    )
    rounds = ChangeRoundSerializer(many=True, help_text="Correction rounds of these units.")
    name = serializers.CharField(help_text="Suggested name of a correction round, not yet used.")
    people = serializers.ListField(
        child=serializers.IntegerField(), help_text="Members of the last round of the task, as a suggestion."
    )


class NewCorrectionSerializer(Strict):
    name = NameField(max_length=80)
    people = serializers.ListField(
        child=serializers.IntegerField(max_value=LARGEST), max_length=500, help_text="Member ids."
    )
