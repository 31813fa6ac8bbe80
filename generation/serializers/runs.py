"""Runs, their items, and who may not see what came out, in JSON."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, Strict

from ..models import ItemStatus, RunPurpose, RunStatus, UnitLevel
from ..pages.progress import State

Plain = serializers.Serializer[Any]


class RunProgressSerializer(Plain):
    """How far a run is."""

    state = serializers.ChoiceField(choices=[(s.value, s.value) for s in State])
    since = serializers.DateTimeField(
        allow_null=True, help_text="When it ended, was last heard of, or began to wait for a worker."
    )
    total = serializers.IntegerField()
    done = serializers.IntegerField(allow_null=True, help_text="This and all counts: null where the run is hidden.")
    failed = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField(allow_null=True)
    pace = serializers.FloatField(allow_null=True, help_text="Items a minute, over the recent minutes.")
    seconds_left = serializers.FloatField(allow_null=True)
    unknown = serializers.CharField(allow_blank=True, help_text="Why pace or time left is null.")
    items_cut = serializers.IntegerField(allow_null=True, help_text="Items whose input did not fit.")
    tokens_cut = serializers.IntegerField(allow_null=True, help_text="In all; null where the backend has no tokens.")
    tokens_out = serializers.IntegerField(allow_null=True)
    command = serializers.CharField(
        allow_blank=True, help_text="Starts a worker, where it waits for one or lost its own."
    )
    note = serializers.CharField(allow_blank=True, help_text="What else it waits for.")
    error = serializers.CharField(allow_blank=True, help_text="Why it stopped, where that was no person's wish.")


class RunRowSerializer(Plain):
    id = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=RunPurpose.choices)
    status = serializers.ChoiceField(choices=RunStatus.choices)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    hidden = serializers.BooleanField(
        help_text="Whether its outputs, and all figures of it, are kept from whoever asks."
    )
    progress = RunProgressSerializer()


class RunSerializer(RunRowSerializer):
    """One run of a version."""

    version = serializers.IntegerField()
    number = serializers.IntegerField()
    hash = serializers.CharField()
    level = serializers.ChoiceField(choices=UnitLevel.choices)
    system = serializers.IntegerField()
    system_name = serializers.CharField()
    by = serializers.CharField(allow_blank=True, help_text="Empty for a run begun by command.")
    kept_sealed = serializers.CharField(
        allow_blank=True, help_text="Why no seal of it can be lifted now; empty where they can."
    )


class NewRunSerializer(Strict):
    purpose = serializers.ChoiceField(choices=RunPurpose.choices, required=False, default=RunPurpose.SUMMARIES.value)


class ItemFilterSerializer(Plain):
    status = serializers.ChoiceField(choices=ItemStatus.choices, required=False)


class RunItemSerializer(Plain):
    """One unit of a run."""

    id = serializers.IntegerField(source="pk")
    unit = serializers.IntegerField(source="unit_id")
    key = serializers.CharField(source="unit.key")
    status = serializers.ChoiceField(choices=ItemStatus.choices)
    attempts = serializers.IntegerField()
    error = serializers.CharField(allow_blank=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class SealSerializer(Plain):
    """The run's outputs are hidden from a person until the seal is lifted."""

    id = serializers.IntegerField()
    member = serializers.IntegerField()
    pseudonym = serializers.CharField()
    name = serializers.CharField(allow_blank=True, help_text="Empty where the reader may not see names.")
    role = serializers.CharField()
    created_at = serializers.DateTimeField()
    lifted_at = serializers.DateTimeField(allow_null=True)


class NewSealsSerializer(Strict):
    members = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=LARGEST), min_length=1, max_length=200
    )
