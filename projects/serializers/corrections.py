"""Values put in force by hand, in JSON."""

from typing import Any

from rest_framework import serializers

from .. import kinds

Plain = serializers.Serializer[Any]
KIND_CHOICES = kinds.choices()


class CellSerializer(Plain):
    """One cell: the value that a kind is to have for a unit, and what was shown in its place."""

    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    value = serializers.JSONField(help_text="As the kind's value serializer has it.")
    shown = serializers.IntegerField(
        min_value=0, required=False, help_text="Revision of the unit that was shown: a 409 where it has a newer one."
    )
    seen = serializers.IntegerField(
        min_value=0,
        required=False,
        help_text="Newest decision that was shown, 0 for none: a 409 where there is a newer.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """The value in the shape of its kind."""
        value = kinds.get(attrs["kind"]).value_serializer(data=attrs["value"])
        if not value.is_valid():
            raise serializers.ValidationError({"value": value.errors})
        return attrs | {"value": value.validated_data}


class CorrectionSerializer(CellSerializer):
    """A curator's value in the place of the gold one."""

    uuid = serializers.UUIDField(required=False, help_text="Made by the client: the same request again does nothing.")
    reason = serializers.CharField(
        max_length=2000, allow_blank=True, default="", help_text="Needed where a current value is replaced."
    )


class CorrectedSerializer(Plain):
    fields_changed = serializers.ListField(child=serializers.CharField())
