"""Serializers of origins."""

from typing import Any

from rest_framework import serializers

from api.fields import UnitNameField
from projects.models import Origin, Outcome, SuggestionFate

from ..folders.chain import WHAT

Plain = serializers.Serializer[Any]
ROLES = ("unit", "earlier text", "cluster", "sentence", "target", "source", "passage", "question", "review")


class OriginUnitSerializer(Plain):
    """A unit that the unit is made of, or a part of it."""

    unit = serializers.IntegerField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    role = serializers.CharField(help_text="`cluster`, `sentence`, `review`, `earlier text`, `target`, `input 1`, ...")


class OriginPartSerializer(OriginUnitSerializer):
    text = serializers.CharField(allow_blank=True)


class OriginValueSerializer(Plain):
    field = serializers.CharField()
    value = serializers.CharField(allow_blank=True)


class OriginStepSerializer(Plain):
    """One event. People are pseudonyms, as in a release. Fields that do not apply are empty."""

    id = serializers.CharField()
    what = serializers.ChoiceField(choices=WHAT)
    unit = serializers.IntegerField()
    role = serializers.ChoiceField(choices=ROLES, help_text="Relation of the step's unit to the unit of the page.")
    at = serializers.CharField(allow_blank=True, help_text="In UTC. Empty if it was not recorded.")
    by = serializers.CharField(allow_blank=True)
    kind = serializers.CharField(allow_blank=True)
    values = OriginValueSerializer(many=True)
    origin = serializers.ChoiceField(choices=Origin.choices, allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    round = serializers.CharField(allow_blank=True)
    guideline = serializers.IntegerField(allow_null=True)
    answer = serializers.CharField(allow_blank=True)
    rater = serializers.CharField(allow_blank=True, help_text="Author of the adopted answer.")
    revision = serializers.IntegerField(allow_null=True)
    is_current = serializers.BooleanField(allow_null=True)
    is_counted = serializers.BooleanField(allow_null=True)
    outcome = serializers.ChoiceField(choices=Outcome.choices, allow_blank=True)
    suggestion = serializers.ChoiceField(
        choices=SuggestionFate.choices,
        allow_blank=True,
        help_text="What became of a model's suggestion that the author saw. Empty if none was shown.",
    )
    suggested_by = serializers.CharField(allow_blank=True, help_text="Set and model of the suggestion.")
    imported = serializers.IntegerField(allow_null=True, help_text="Number of the import.")
    format = serializers.CharField(allow_blank=True)
    file = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField(allow_null=True, help_text="0 if unknown; null if the unit has no line of its own.")
    place = serializers.CharField(allow_blank=True, help_text="`target`, `input 1`, ...: the text of the item.")
    query = serializers.CharField(allow_blank=True)
    position = serializers.IntegerField(allow_null=True, help_text="Position in the result of the search, from 0.")
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    changed = serializers.CharField(allow_blank=True)
    run = serializers.IntegerField(allow_null=True)
    system = serializers.CharField(allow_blank=True)
    version = serializers.IntegerField(allow_null=True)
    hash = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    checkpoint = serializers.IntegerField(allow_null=True)


class OriginSerializer(Plain):
    unit = serializers.IntegerField()
    type = serializers.CharField()
    key = serializers.CharField()
    unit_name = UnitNameField()
    text = serializers.CharField(allow_blank=True)
    ancestors = OriginUnitSerializer(many=True)
    parts = OriginPartSerializer(many=True)
    steps = OriginStepSerializer(many=True)
    missing = serializers.ListField(child=serializers.CharField(), help_text="What is not known or not shown.")


class ReleasedRowSerializer(Plain):
    file = serializers.CharField()
    number = serializers.IntegerField(help_text="From 1, without the header of a CSV file.")
    key = serializers.CharField()
    place = serializers.CharField(allow_blank=True)


class ReleaseOfUnitSerializer(Plain):
    id = serializers.IntegerField()
    version = serializers.CharField()
    at = serializers.DateTimeField()
    rows = ReleasedRowSerializer(many=True)
    note = serializers.CharField(allow_blank=True)


class ReleasedRowQuerySerializer(Plain):
    file = serializers.CharField(help_text="Path in the release.")
    key = serializers.CharField(help_text="Key of the row.", trim_whitespace=False)


class UnitOfRowSerializer(Plain):
    unit = serializers.IntegerField()
