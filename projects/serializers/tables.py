"""Tables in JSON, as they are printed, and what is missing of them."""

from typing import Any

from rest_framework import serializers

Plain = serializers.Serializer[Any]


class TableColumnSerializer(Plain):
    title = serializers.CharField()
    numeric = serializers.BooleanField()


class TableCellSerializer(Plain):
    text = serializers.CharField(allow_blank=True, help_text="As it is printed; empty where it is undefined.")
    undefined = serializers.CharField(allow_blank=True, help_text="Why there is no figure.")
    mark = serializers.CharField(allow_blank=True, help_text="The letter of that reason.")
    best = serializers.BooleanField(help_text="Of its column, and alone so.")


class ReasonSerializer(Plain):
    mark = serializers.CharField()
    reason = serializers.CharField()


class MissingStepSerializer(Plain):
    """A step before the table is whole and of today."""

    words = serializers.CharField()
    outdated = serializers.CharField(
        allow_blank=True, help_text="Why what is there is no longer of today; empty where there is nothing yet."
    )
    sentence = serializers.CharField()
    command = serializers.CharField()
    page = serializers.CharField()
    runs = serializers.ListField(
        child=serializers.IntegerField(), help_text="What can be scored at once; none for other steps."
    )
    metric = serializers.CharField(allow_blank=True)
    params = serializers.DictField(help_text="Parameters to score them with that are not the metric's defaults.")


class ResultTableSerializer(Plain):
    """One table of the papers."""

    key = serializers.CharField()
    beside = serializers.CharField(
        allow_blank=True, help_text="Key of the table that it stands beside; empty for one of its own."
    )
    title = serializers.CharField()
    caption = serializers.CharField()
    columns = TableColumnSerializer(many=True)
    rows = serializers.ListField(child=TableCellSerializer(many=True))
    undefined = ReasonSerializer(many=True)
    notes = serializers.ListField(child=serializers.CharField())
    missing = MissingStepSerializer(many=True)
