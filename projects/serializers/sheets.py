"""Rounds away from the browser, in JSON."""

from rest_framework import serializers

from api.fields import Strict

from .. import kinds
from ..actions.elsewhere import PURPOSES
from ..actions.sheets import DAYS, MOST, MOST_DAYS

KIND_CHOICES = kinds.choices()


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


class ElsewhereUploadSerializer(Strict):
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    file = serializers.FileField(help_text="CSV (UTF-8) or XLSX with the columns unit, rater and those of the kind.")


class ElsewhereConfirmSerializer(Strict):
    job = serializers.IntegerField(help_text="The check that found no fault.")
    name = serializers.CharField(max_length=80, help_text="Of the round that the ratings become.")
    purpose = serializers.ChoiceField(choices=[(p.value, p.label) for p in PURPOSES])
