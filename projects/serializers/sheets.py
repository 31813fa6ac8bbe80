"""Rounds away from the browser, in JSON."""

from typing import Any

from rest_framework import serializers

from accounts.serializers import Strict

from ..actions.sheets import DAYS, MOST, MOST_DAYS

Plain = serializers.Serializer[Any]


class TakeHomeSerializer(Strict):
    """Whose unanswered units go into a sheet, and in which form."""

    person = serializers.IntegerField(help_text="A member who is at work in the round.")
    file_type = serializers.ChoiceField(choices=["xlsx", "csv"], default="xlsx")
    limit = serializers.IntegerField(min_value=1, max_value=MOST, default=200, help_text="Units at most.")
    days = serializers.IntegerField(
        min_value=1, max_value=MOST_DAYS, default=DAYS, help_text="Of a pool: how long they stay with the person."
    )


class SheetUploadSerializer(Strict):
    file = serializers.FileField(help_text="CSV (UTF-8) or XLSX.")


class SheetConfirmSerializer(Strict):
    job = serializers.IntegerField(help_text="The check that found what will be imported.")


class CellFaultSerializer(Plain):
    place = serializers.CharField(help_text="As a spreadsheet program names the cell.")
    row = serializers.IntegerField()
    column = serializers.CharField(allow_blank=True)
    message = serializers.CharField()


class SheetReportSerializer(Plain):
    """What a sheet comes to, or came to: the result of both jobs."""

    rows = serializers.IntegerField()
    new = serializers.IntegerField(help_text="Rows that are answers to slots without one.")
    corrections = serializers.IntegerField(help_text="Rows that are the next revision of an answer.")
    unchanged = serializers.IntegerField(help_text="Rows whose answer is stored already.")
    empty = serializers.IntegerField(help_text="Rows that nobody filled in.")
    missing = serializers.IntegerField(help_text="Slots handed out and unanswered that the sheet does not hold.")
    faults_total = serializers.IntegerField()
    faults = CellFaultSerializer(many=True, help_text="Cells that keep their row out; the first 500.")
    kept_out_total = serializers.IntegerField()
    kept_out = CellFaultSerializer(many=True, help_text="Rows that something happened to meanwhile.")
    stored = serializers.IntegerField(required=False, help_text="Of the import: answers stored.")
