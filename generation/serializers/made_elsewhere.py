"""Files of outputs made elsewhere, in JSON."""

from typing import Any

from rest_framework import serializers

from ..models import UnitLevel

Plain = serializers.Serializer[Any]


class NewOutputsFileSerializer(Plain):
    level = serializers.ChoiceField(choices=UnitLevel.choices, help_text="Of the units that the keys name.")
    file = serializers.FileField(allow_empty_file=True, help_text="CSV or JSONL: a key and a text; MSLR predictions.")


class UnknownKeySerializer(Plain):
    line = serializers.IntegerField()
    key = serializers.CharField()


class OutputsFileSerializer(Plain):
    """A file that was kept, and how it fits the units of the level."""

    sha256 = serializers.CharField(help_text="What a version of the backend ``imported`` gives as ``model.file``.")
    name = serializers.CharField()
    format = serializers.CharField()
    outputs = serializers.IntegerField()
    units = serializers.IntegerField(help_text="Units of the level.")
    matched = serializers.IntegerField(help_text="Outputs whose key is that of a unit.")
    unknown = UnknownKeySerializer(many=True, help_text="Keys that match no unit: the first 200.")
    unknown_total = serializers.IntegerField()
