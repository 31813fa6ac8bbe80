"""Serializers for tables and figures, and for the steps that complete them."""

from typing import Any

from rest_framework import serializers

from projects.reports.table import Table
from projects.reports.writing import marks, words

Json = dict[str, Any]


def table_page(table: Table) -> Json:
    letters, best = marks(table), table.best()
    return {
        "key": table.key,
        "beside": table.beside,
        "title": table.title,
        "caption": table.caption,
        "columns": table.columns,
        "rows": [
            [
                {
                    "text": words(c),
                    "value": None if isinstance(c.value, str) else c.value,
                    "ci": c.ci,
                    "undefined": c.undefined,
                    "ci_reason": c.ci_reason,
                    "note": c.note,
                    "mark": letters.get(c.undefined or c.ci_reason or c.note, ""),
                    "best": (i, j) in best,
                }
                for j, c in enumerate(row)
            ]
            for i, row in enumerate(table.rows)
        ],
        "undefined": [{"mark": letters[reason], "reason": reason} for reason in table.reasons()],
        "withheld": [{"mark": letters[reason], "reason": reason} for reason in table.withheld()],
        "remarks": [{"mark": letters[note], "reason": note} for note in table.remarks()],
        "notes": table.notes,
        "missing": table.missing,
    }


Plain = serializers.Serializer[Any]


class TableColumnSerializer(Plain):
    title = serializers.CharField(source="head")
    numeric = serializers.BooleanField()


class TableCellSerializer(Plain):
    text = serializers.CharField(allow_blank=True, help_text="Printed text; empty if the value is undefined.")
    value = serializers.FloatField(allow_null=True, help_text="The number, unrounded; null for text.")
    ci = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    undefined = serializers.CharField(allow_blank=True, help_text="Why the value is undefined.")
    ci_reason = serializers.CharField(allow_blank=True, help_text="Why the interval is withheld.")
    note = serializers.CharField(allow_blank=True, help_text="Remark on the value.")
    mark = serializers.CharField(allow_blank=True, help_text="Footnote mark of the reason or the remark.")
    best = serializers.BooleanField(help_text="Whether this is the best value of its column, without a tie.")


class ReasonSerializer(Plain):
    mark = serializers.CharField()
    reason = serializers.CharField()


class MissingStepSerializer(Plain):
    """A step that is needed to complete or update the table."""

    words = serializers.CharField()
    outdated = serializers.CharField(
        allow_blank=True, help_text="Why the existing result is out of date; empty if there is no result yet."
    )
    sentence = serializers.CharField()
    command = serializers.CharField()
    page = serializers.CharField()
    runs = serializers.ListField(
        child=serializers.IntegerField(), help_text="Runs that a lead can score from the page; empty for other steps."
    )
    metric = serializers.CharField(allow_blank=True)
    params = serializers.DictField(help_text="Scoring parameters that differ from the metric's defaults.")


class ResultTableSerializer(Plain):
    """A table of the paper."""

    key = serializers.CharField()
    beside = serializers.CharField(
        allow_blank=True, help_text="Key of the table that this one is printed next to; empty if there is none."
    )
    title = serializers.CharField()
    caption = serializers.CharField()
    columns = TableColumnSerializer(many=True)
    rows = serializers.ListField(child=TableCellSerializer(many=True))
    undefined = ReasonSerializer(many=True)
    withheld = ReasonSerializer(many=True, help_text="Why intervals are withheld.")
    remarks = ReasonSerializer(many=True, help_text="Remarks on values.")
    notes = serializers.ListField(child=serializers.CharField())
    missing = MissingStepSerializer(many=True)


class FigureSerializer(Plain):
    title = serializers.CharField()
    note = serializers.CharField(allow_blank=True)
    description = serializers.CharField(help_text="Everything that the figure shows, in words.")
    spec = serializers.DictField(help_text="Vega-Lite specification of the figure, with its data.")


class FlowBoxSerializer(Plain):
    words = serializers.CharField(help_text="Text of the stage, with its count.")
    lines = serializers.ListField(child=serializers.CharField())
    aside = serializers.CharField(allow_blank=True, help_text="Text of the exclusions at this stage, with their count.")
    aside_lines = serializers.ListField(child=serializers.CharField(), help_text="Reasons for the exclusions.")


class FlowChartSerializer(FigureSerializer):
    boxes = FlowBoxSerializer(many=True)
