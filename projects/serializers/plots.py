"""How a picture is asked for."""

from typing import Any

from rest_framework import serializers

from ..plots.svg import PALETTES, Look

Plain = serializers.Serializer[Any]


class LookQuerySerializer(Plain):
    palette = serializers.ChoiceField(choices=tuple(PALETTES), required=False, default="light")
    narrow = serializers.BooleanField(required=False, default=False, help_text="For a phone: letters stay as large.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """With one ``look`` in place of what it is made of."""
        look = Look(attrs.pop("palette"), attrs.pop("narrow"))
        return {**attrs, "look": look}
