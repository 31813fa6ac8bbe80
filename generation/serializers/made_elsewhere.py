"""Files of outputs made elsewhere, in JSON."""

from typing import Any

from rest_framework import serializers

from ..models import UnitLevel

Plain = serializers.Serializer[Any]


class NewOutputsFileSerializer(Plain):
    level = serializers.ChoiceField(choices=UnitLevel.choices, help_text="Of the units that the keys name.")
    file = serializers.FileField(allow_empty_file=True, help_text="CSV or JSONL: a key and a text; MSLR predictions.")
