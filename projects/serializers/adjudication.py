"""Adjudication in JSON: the queue, one unit with its answers side by side, what is decided, what people see of it."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import LARGEST, FiniteField, Strict

from .. import kinds
from ..models import Origin, Round
from ..pages.queue import SHOW
from .inbox import RemarkSerializer
from .staleness import SaidFieldSerializer
from .work import Card

Plain = serializers.Serializer[Any]
REASON: dict[str, Any] = {
    "max_length": 2000,
    "help_text": "The people who answered read it, where the project shows it.",
}


class QueueFiltersSerializer(Plain):
    show = serializers.ChoiceField(choices=SHOW, default="waiting")
    after = serializers.IntegerField(required=False, max_value=LARGEST, help_text="Only what comes after this unit.")


class QueueCountsSerializer(Plain):
    """Units of the round: a flagged one can be contested as well."""

    waiting = serializers.IntegerField()
    contested = serializers.IntegerField()
    flagged = serializers.IntegerField()
    decided = serializers.IntegerField(help_text="By a curator, and waiting no more.")


class QueueRowSerializer(Plain):
    unit = serializers.IntegerField()
    key = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    contested = serializers.ListField(child=serializers.CharField(), help_text="The fields that wait.")
    flagged = serializers.BooleanField()


class QueueSerializer(Plain):
    counts = QueueCountsSerializer()
    total = serializers.IntegerField(help_text="How many there are of what is shown, on all pages.")
    reasons = serializers.ListField(child=serializers.CharField(), help_text="The last ones given in this round.")
    rows = QueueRowSerializer(many=True)


class ComparedFieldSerializer(SaidFieldSerializer):
    differs = serializers.BooleanField(help_text="Whether not all answers say the same in it.")


class FieldInForceSerializer(SaidFieldSerializer):
    origin = serializers.ChoiceField(choices=Origin.choices)


class OpinionSerializer(Plain):
    """One of the answers that count. Who gave it is null unless it was asked for."""

    answer = serializers.UUIDField()
    card = serializers.SerializerMethodField()
    said = ComparedFieldSerializer(many=True)
    adopted = serializers.ListField(child=serializers.CharField(), help_text="The fields it is in force for.")
    flagged = serializers.BooleanField(help_text="And nobody has settled it.")
    comment = serializers.CharField(allow_blank=True)
    remarks = RemarkSerializer(many=True)
    name = serializers.CharField(allow_null=True, allow_blank=True)
    pseudonym = serializers.CharField(allow_null=True)

    @extend_schema_field(Card)
    def get_card(self, opinion: Any) -> Any:
        """Built by its kind, as the person was shown it, with the value that was given."""
        return opinion["card"]


class DecidedFieldSerializer(Plain):
    id = serializers.IntegerField()
    field = serializers.CharField()
    origin = serializers.ChoiceField(choices=Origin.choices)
    value = serializers.CharField(allow_null=True, help_text="In words; null where no value was said.")
    reason = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField()


class DossierSerializer(Plain):
    """One unit: its answers in an order that tells nothing of who gave them, what is in force, all decisions."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    kind = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    field_names = serializers.ListField(child=serializers.CharField(), source="fields")
    contested = serializers.ListField(child=serializers.CharField())
    flagged = serializers.BooleanField()
    seen = serializers.IntegerField(help_text="The newest decision: send it back with yours.")
    own = serializers.SerializerMethodField()
    agreement = serializers.FloatField(allow_null=True, help_text="1 less the mean distance of pairs of answers.")
    nearest = serializers.UUIDField(allow_null=True, help_text="The answer nearest to the others, where there is one.")
    answers = OpinionSerializer(many=True)
    in_force = FieldInForceSerializer(many=True)
    history = DecidedFieldSerializer(many=True, help_text="Newest first.")

    @extend_schema_field(Card)
    def get_own(self, dossier: Any) -> Any:
        """The curator's copy, for an answer that nobody gave."""
        return dossier["own"]


class DossierFiltersSerializer(Plain):
    names = serializers.BooleanField(default=False, help_text="Whether to say who gave which answer.")


class ActSerializer(Strict):
    uuid = serializers.UUIDField(help_text="Made by the client: the same request again does nothing. Undo names it.")


class AdjudicationSerializer(ActSerializer):
    """One unit decided: an answer taken, or a value written."""

    seen = serializers.IntegerField(min_value=0, max_value=LARGEST, help_text="A 409 where there is a newer decision.")
    reason = serializers.CharField(**REASON)
    answer = serializers.UUIDField(required=False, help_text="The answer to take.")
    value = serializers.JSONField(required=False, help_text="Or a value, as the kind's value serializer has it.")

    def of_kind(self, round: Round) -> dict[str, Any]:
        """The fields, with a value in the shape of the round's kind."""
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
    act = serializers.UUIDField(help_text="The identifier of the request that is to be undone.")


class UndoneSerializer(Plain):
    units = serializers.IntegerField()
    kept = serializers.IntegerField(help_text="Units that were decided again since, and stay so.")


class StepSerializer(Plain):
    agreement = serializers.FloatField()
    units = serializers.IntegerField(help_text="Units that have one answer nearest to the others.")
    tied = serializers.IntegerField(help_text="Further ones, in which answers that differ are equally near.")


class AtOncePreviewSerializer(Plain):
    """How many contested units would be decided at each share of agreement."""

    contested = serializers.IntegerField()
    flagged = serializers.IntegerField(help_text="Contested units that are flagged: they wait for a look at each.")
    at_once = serializers.IntegerField(help_text="Units that one act decides at most.")
    steps = StepSerializer(many=True)


class AtOnceSerializer(ActSerializer):
    agreement = FiniteField(min_value=0, max_value=1)
    tied = serializers.BooleanField(default=False, help_text="Whether to draw one where answers are equally near.")
    units = serializers.IntegerField(min_value=1, max_value=LARGEST, help_text="How many there were in the preview.")
    reason = serializers.CharField(**REASON)


class DecidedAtOnceSerializer(Plain):
    units = serializers.IntegerField()


class GoldFoundSerializer(Plain):
    """What a closed round has of gold to practise with."""

    units = serializers.IntegerField(help_text="Units on which people agreed, and that no curator stands behind yet.")
    gold = serializers.IntegerField(help_text="Units that a curator stands behind.")
    waiting = serializers.IntegerField(help_text="Units that wait for a curator.")


class StandBehindSerializer(ActSerializer):
    units = serializers.IntegerField(min_value=1, max_value=LARGEST, help_text="How many there were.")
    reason = serializers.CharField(**REASON)


class OutcomeFieldSerializer(Plain):
    field = serializers.CharField()
    yours = serializers.CharField(allow_blank=True)
    decided = serializers.CharField(allow_blank=True)
    same = serializers.BooleanField()


class OutcomeSerializer(Plain):
    """What was decided of one own answer."""

    answer = serializers.UUIDField()
    key = serializers.CharField()
    text = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    said = OutcomeFieldSerializer(many=True, source="fields")
