"""Serializers of runs, their items and their embargoes."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict, UnitNameField

from ..models import ItemStatus, RunPurpose, RunStatus, UnitLevel
from .queries import State

Plain = serializers.Serializer[Any]


class RunProgressSerializer(Plain):
    """The progress of a run."""

    state = serializers.ChoiceField(choices=[(s.value, s.value) for s in State])
    since = serializers.DateTimeField(
        allow_null=True, help_text="When the run ended, last reported progress, or began to wait for a worker."
    )
    total = serializers.IntegerField()
    done = serializers.IntegerField(allow_null=True, help_text="This and all counts are null if the run is hidden.")
    failed = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField(allow_null=True)
    pace = serializers.FloatField(allow_null=True, help_text="Items per minute, over the recent minutes.")
    seconds_left = serializers.FloatField(allow_null=True)
    unknown = serializers.CharField(allow_blank=True, help_text="Why ``pace`` or ``seconds_left`` is null.")
    items_cut = serializers.IntegerField(allow_null=True, help_text="Items whose input did not fit.")
    tokens_cut = serializers.IntegerField(
        allow_null=True, help_text="Total of input tokens that did not fit; null if the backend has no tokens."
    )
    tokens_out = serializers.IntegerField(allow_null=True)
    command = serializers.CharField(
        allow_blank=True, help_text="Command that starts a worker, if the run waits for one or lost its worker."
    )
    note = serializers.CharField(allow_blank=True, help_text="What the run waits for, if not a worker.")
    error = serializers.CharField(allow_blank=True, help_text="Why the run stopped, if nobody stopped it.")


class RunRowSerializer(Plain):
    id = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=RunPurpose.choices)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    hidden = serializers.BooleanField(help_text="Whether the outputs and results of the run are hidden from the user.")
    progress = RunProgressSerializer()


class SkippedSerializer(Plain):
    """Reviews or units that a run skips for one reason."""

    reason = serializers.CharField(help_text="What is skipped, and why, such as: reviews without a target.")
    count = serializers.IntegerField()


class RunSerializer(RunRowSerializer):
    """A run of a version."""

    version = serializers.IntegerField()
    number = serializers.IntegerField()
    hash = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)
    system = serializers.IntegerField()
    system_name = serializers.CharField()
    by = serializers.CharField(allow_blank=True, help_text="Empty for a run started by command.")
    embargo_reason = serializers.CharField(
        allow_blank=True, help_text="Why no embargo of the run can be lifted now; empty if they can."
    )
    skipped = SkippedSerializer(many=True)


class NewRunSerializer(Strict):
    purpose = serializers.ChoiceField(choices=RunPurpose.choices, required=False, default=RunPurpose.SUMMARIES.value)


class ItemFilterSerializer(Plain):
    status = serializers.ChoiceField(choices=ItemStatus.choices, required=False)


class RunItemSerializer(Plain):
    """One unit of a run."""

    id = serializers.IntegerField(source="pk")
    unit = serializers.IntegerField(source="unit_id")
    key = serializers.CharField(source="unit.key")
    unit_name = UnitNameField(source="unit.key")
    status = serializers.ChoiceField(choices=ItemStatus.choices)
    attempts = serializers.IntegerField()
    error = serializers.CharField(allow_blank=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class EmbargoSerializer(Plain):
    """An embargo: the run's outputs are hidden from a member until it is lifted."""

    id = serializers.IntegerField()
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField(allow_blank=True, help_text="Empty if the reader cannot see names.")
    role = serializers.CharField()
    created_at = serializers.DateTimeField()
    lifted_at = serializers.DateTimeField(allow_null=True)


class NewEmbargoesSerializer(Strict):
    members = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), min_length=1, max_length=200
    )
