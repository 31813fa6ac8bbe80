"""Serializers of adjudication: the queue, one unit, decisions, and outcomes shown to annotators."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import LARGEST, FiniteField, Strict, UnitNameField
from projects.inbox.views import RemarkSerializer

from .. import kinds
from ..concerns.serializers import StatedChangeSerializer
from ..gold.serializers import FieldValueSerializer
from ..models import Origin, Round
from ..queue.serializers import Card
from .queries import SHOW

Plain = serializers.Serializer[Any]
REASON: dict[str, Any] = {
    "max_length": 2000,
    "help_text": "Reason for the decision. Annotators see it if the project shows adjudication.",
}


class QueueFiltersSerializer(Plain):
    show = serializers.ChoiceField(choices=SHOW, default="waiting")
    after = serializers.IntegerField(required=False, max_value=LARGEST, help_text="Return only units after this one.")


class QueueCountsSerializer(Plain):
    """Number of units in the round. A unit can be both contested and flagged."""

    waiting = serializers.IntegerField()
    contested = serializers.IntegerField()
    flagged = serializers.IntegerField()
    decided = serializers.IntegerField(help_text="Units that a curator has decided and that no longer wait.")


class QueueRowSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField(allow_blank=True)
    contested = serializers.ListField(child=serializers.CharField(), help_text="Fields that wait for a curator.")
    flagged = serializers.BooleanField()


class QueueSerializer(Plain):
    counts = QueueCountsSerializer()
    total = serializers.IntegerField(help_text="Number of units that match the filter, on all pages.")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="Reasons introduced last in this round.")
    rows = QueueRowSerializer(many=True)


class ComparedFieldSerializer(FieldValueSerializer):
    contested = serializers.BooleanField(help_text="Whether the field waits for a curator.")


class CurrentFieldSerializer(FieldValueSerializer):
    origin = serializers.ChoiceField(choices=Origin.choices)


class OpinionSerializer(Plain):
    """An answer that counts. ``name`` and ``pseudonym`` are null unless requested."""

    answer = serializers.UUIDField()
    card = serializers.SerializerMethodField()
    said = ComparedFieldSerializer(many=True)
    adopted = serializers.ListField(
        child=serializers.CharField(), help_text="Fields whose current value is this answer."
    )
    flagged = serializers.BooleanField(help_text="Whether the answer has an unsettled flag.")
    comment = serializers.CharField(allow_blank=True)
    remarks = RemarkSerializer(many=True)
    name = serializers.CharField(allow_null=True, allow_blank=True)
    pseudonym = serializers.CharField(allow_null=True)

    @extend_schema_field(Card)
    def get_card(self, opinion: Any) -> Any:
        """Return the card that the annotator saw, with the given value."""
        return opinion["card"]


class DecidedFieldSerializer(Plain):
    id = serializers.IntegerField()
    field = serializers.CharField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    value = serializers.CharField(allow_null=True, help_text="Value in words; null if the decision has no value.")
    reason = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class AdjudicationDetailSerializer(Plain):
    """One unit with its answers in anonymous order, current values, and all decisions."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    kind = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    field_names = serializers.ListField(child=serializers.CharField(), source="fields")
    contested = serializers.ListField(child=serializers.CharField())
    flagged = serializers.BooleanField()
    guideline_changes = StatedChangeSerializer(
        many=True, help_text="Later guideline versions that concern the unit and were not followed in it yet."
    )
    seen = serializers.IntegerField(help_text="Id of the newest decision, 0 for none. Send it back with your decision.")
    own = serializers.SerializerMethodField()
    agreement = serializers.FloatField(
        allow_null=True, help_text="1 minus the mean distance of all pairs of answers; null for fewer than two answers."
    )
    nearest = serializers.UUIDField(
        allow_null=True, help_text="The answer nearest to the others; null if several are equally near."
    )
    answers = OpinionSerializer(many=True)
    current = CurrentFieldSerializer(many=True)
    history = DecidedFieldSerializer(many=True, help_text="Newest first.")

    @extend_schema_field(Card)
    def get_own(self, detail: Any) -> Any:
        """Return the curator's card, for a value that no annotator gave."""
        return detail["own"]


class AdjudicationDetailFiltersSerializer(Plain):
    names = serializers.BooleanField(default=False, help_text="Whether to include the authors of the answers.")


class ActSerializer(Strict):
    uuid = serializers.UUIDField(
        help_text="Generated by the client. A repeated request with it has no effect. Undo refers to it."
    )


class AdjudicationSerializer(ActSerializer):
    """The decision of one unit: either ``answer`` or ``value``."""

    seen = serializers.IntegerField(
        min_value=0,
        max_value=LARGEST,
        help_text="Newest decision that the client showed. A newer decision causes a 409 response.",
    )
    reason = serializers.CharField(**REASON)
    answer = serializers.UUIDField(required=False, help_text="The answer to adopt.")
    value = serializers.JSONField(
        required=False, help_text="A value instead of an answer, in the format of the kind's value serializer."
    )

    def of_kind(self, round: Round) -> dict[str, Any]:
        """Return the validated data, with ``value`` validated by the serializer of the round's kind."""
        fields = dict(self.validated_data)
        if "value" in fields:
            value = kinds.get(round.kind).value_serializer(data=fields["value"])
            if not value.is_valid():
                raise serializers.ValidationError({"value": value.errors})
            fields["value"] = value.validated_data
        return fields


class AdjudicatedSerializer(Plain):
    unit = serializers.IntegerField()
    fields_decided = serializers.ListField(child=serializers.CharField(), source="fields")


class ReopeningSerializer(ActSerializer):
    seen = serializers.IntegerField(min_value=0, max_value=LARGEST)
    reason = serializers.CharField(**REASON)


class ReopenedSerializer(Plain):
    unit = serializers.IntegerField()


class UndoingSerializer(ActSerializer):
    act = serializers.UUIDField(help_text="The UUID of the request to undo.")


class UndoneSerializer(Plain):
    units = serializers.IntegerField()
    kept = serializers.IntegerField(help_text="Units that keep their value, because they were decided again since.")


class ThresholdSerializer(Plain):
    agreement = serializers.FloatField()
    units = serializers.IntegerField(help_text="Units with one answer nearest to the others.")
    tied = serializers.IntegerField(help_text="Further units, in which different answers are equally near.")


class BulkPreviewSerializer(Plain):
    """Number of contested units that each agreement threshold would decide."""

    contested = serializers.IntegerField()
    flagged = serializers.IntegerField(help_text="Contested units with an open flag. They need individual review.")
    at_once = serializers.IntegerField(help_text="Maximum number of units that one request decides.")
    steps = ThresholdSerializer(many=True)


class BulkAdjudicationSerializer(ActSerializer):
    agreement = FiniteField(min_value=0, max_value=1)
    tied = serializers.BooleanField(default=False, help_text="Whether to break ties between equally near answers.")
    units = serializers.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text="Number of units in the preview. A different number now causes a 409 response.",
    )
    reason = serializers.CharField(**REASON)


class BulkDecidedSerializer(Plain):
    units = serializers.IntegerField()


class GoldCountsSerializer(Plain):
    """Number of units of a closed round that can be confirmed, that have gold, and that wait for a curator."""

    units = serializers.IntegerField(help_text="Units on which annotators agreed and that no curator has confirmed.")
    gold = serializers.IntegerField(help_text="Units that are decided. Practice rounds can use them.")
    waiting = serializers.IntegerField(help_text="Units that wait for a curator.")


class BulkConfirmationSerializer(ActSerializer):
    units = serializers.IntegerField(
        min_value=1,
        max_value=LARGEST,
        help_text="Number of units that the client showed. A different number now causes a 409 response.",
    )
    reason = serializers.CharField(**REASON)


class OutcomeFieldSerializer(Plain):
    field = serializers.CharField()
    yours = serializers.CharField(allow_blank=True)
    decided = serializers.CharField(allow_blank=True)
    same = serializers.BooleanField()


class OutcomeSerializer(Plain):
    """The curator's decisions on one of the user's own answers."""

    answer = serializers.UUIDField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    said = OutcomeFieldSerializer(many=True, source="fields")
