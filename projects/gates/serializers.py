"""Serializers of pilot gates."""

from typing import Any

from rest_framework import serializers

from api.fields import LARGEST, FiniteField, ReasonField, Strict
from measures.agreement import bars
from measures.agreement.bars import Bar

from .. import kinds
from .actions import GatePlan

Plain = serializers.Serializer[Any]
RESULTS = ["pilot open", "being read", "met", "not met", "opened by a lead"]
COEFFICIENTS = list(bars.NAMES)
#: Largest number of units in a bar or a planned pilot.
MOST_UNITS = 1_000_000


class BarSerializer(Strict):
    """A bar on the agreement of a pilot."""

    measure = serializers.CharField(max_length=120, help_text="Name of a measure of the pilot's agreement report.")
    coefficient = serializers.ChoiceField(choices=COEFFICIENTS)
    requires = serializers.ChoiceField(
        choices=list(bars.REQUIRES),
        default="lower bound",
        help_text=f"What must reach the number: the value, or the lower bound of its {bars.LEVEL:.0%} interval.",
    )
    number = FiniteField(min_value=-1, max_value=1)
    least_units = serializers.IntegerField(
        min_value=0, max_value=MOST_UNITS, default=0, help_text="Least number of units with two ratings or more."
    )


class GatePlanSerializer(BarSerializer):
    """A pilot round, and the bar that it must meet before the planned round opens."""

    pilot = serializers.IntegerField(max_value=LARGEST, help_text="Id of the pilot round.")

    def to_internal_value(self, data: Any) -> GatePlan:
        fields = dict(super().to_internal_value(data))
        return GatePlan(fields.pop("pilot"), Bar(**fields))


class PilotQuerySerializer(Strict):
    """Query of the page of a pilot. Without a measure and coefficient, the reach is left out."""

    kind = serializers.ChoiceField(
        choices=kinds.choices(), required=False, help_text="Task kind of the planned round. Defaults to the pilot's."
    )
    measure = serializers.CharField(max_length=120, required=False)
    coefficient = serializers.ChoiceField(choices=COEFFICIENTS, required=False)
    requires = serializers.ChoiceField(choices=list(bars.REQUIRES), default="lower bound")
    number = FiniteField(min_value=-1, max_value=1, required=False)
    least_units = serializers.IntegerField(min_value=0, max_value=MOST_UNITS, default=0)
    assumed = FiniteField(
        min_value=-1, max_value=1, required=False, help_text="Assumed true value. Defaults to the pilot's estimate."
    )
    units = serializers.IntegerField(
        min_value=2, max_value=MOST_UNITS, required=False, help_text="Size of the pilot. Defaults to the round's units."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        names = ("measure", "coefficient", "number")
        whole = all(name in attrs for name in names)
        least, requires = attrs.pop("least_units"), attrs.pop("requires")
        measure, coefficient, number = (attrs.pop(name, None) for name in names)
        attrs["bar"] = Bar(measure, coefficient, requires, number, least) if whole else None
        return {"kind": None, "assumed": None, "units": None} | attrs


class PilotCoefficientSerializer(Plain):
    key = serializers.CharField()
    name = serializers.CharField()
    has_interval = serializers.BooleanField()
    reads = serializers.CharField(help_text="Figures of a closed pilot; empty for an open one.")


class PilotMeasureSerializer(Plain):
    name = serializers.CharField()
    coefficients = PilotCoefficientSerializer(many=True)


class ReachSerializer(Plain):
    """Whether and with how many units a pilot can meet a bar."""

    assumed = serializers.FloatField(help_text="True value that is assumed.")
    is_estimate = serializers.BooleanField(help_text="Whether it is the estimate of the closed pilot.")
    units = serializers.IntegerField(help_text="Size of the pilot.")
    basis = serializers.ChoiceField(
        choices=["pilot", "model"], help_text="Source of the spread: the pilot, or a model with equally common values."
    )
    needed = serializers.IntegerField(
        allow_null=True, help_text="Least units at which the expected lower bound reaches the bar; null if none does."
    )
    probability = serializers.FloatField(
        allow_null=True, help_text="Probability that a pilot of this size meets the bar."
    )
    says = serializers.CharField()


class PilotSerializer(Plain):
    """A round as a pilot: measures on which a bar is possible, and how a bar can be reached."""

    units = serializers.IntegerField()
    closed = serializers.BooleanField()
    measures = PilotMeasureSerializer(many=True)
    reach = ReachSerializer(allow_null=True)


class PilotChoiceSerializer(Plain):
    """A round that a planned round can wait for."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    kinds = serializers.ListField(child=serializers.CharField(), help_text="Task kinds of rounds that can wait for it.")
    open = serializers.BooleanField()
    units = serializers.IntegerField()


class GatePilotSerializer(Plain):
    id = serializers.IntegerField()
    name = serializers.CharField()
    open = serializers.BooleanField()


class GateFiguresSerializer(Plain):
    value = serializers.FloatField(allow_null=True)
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    bound = serializers.FloatField(allow_null=True, help_text=f"Lower bound of the {bars.LEVEL:.0%} interval.")
    reason = serializers.CharField(allow_blank=True, help_text="Why value or interval is missing.")
    units = serializers.IntegerField()
    reviews = serializers.IntegerField(allow_null=True)
    raters = serializers.IntegerField()
    ratings = serializers.IntegerField()
    method = serializers.CharField(allow_blank=True)


class GateSerializer(Plain):
    """The gate of a round. Figures and reasons are for people who may read agreement."""

    pilot = GatePilotSerializer()
    measure = serializers.CharField()
    coefficient = serializers.CharField()
    requires = serializers.ChoiceField(choices=list(bars.REQUIRES))
    number = serializers.FloatField()
    least_units = serializers.IntegerField()
    needs = serializers.CharField(help_text="The bar in words.")
    waits = serializers.BooleanField(help_text="Whether the round still waits.")
    result = serializers.ChoiceField(choices=RESULTS, help_text="What the gate read, or why it has not read yet.")
    figures = GateFiguresSerializer(allow_null=True)
    reads = serializers.CharField(allow_blank=True, help_text="The figures in words.")
    why = serializers.CharField(allow_blank=True, help_text="Why the bar is not met, or the lead's reason.")
    digest = serializers.CharField(allow_blank=True, help_text="SHA-256 of pilot, rule, figures and method.")
    read_at = serializers.DateTimeField(allow_null=True)


class RoundGateSerializer(GateSerializer):
    times_read = serializers.IntegerField(
        help_text="How often a bar on this field and coefficient was read in the project, for any round and pilot."
    )


class OpenAnywaySerializer(Strict):
    reason = ReasonField(max_length=1000, help_text="Why the round opens although its bar is not met.")
