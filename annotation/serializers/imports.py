"""Imports in JSON: what can be brought in, what was, and what was noticed."""

from typing import Any

from rest_framework import serializers

from api.limits import MOST_FILES
from projects.models import Import

from ..imports import choices, get

Plain = serializers.Serializer[Any]


class FormatLevelSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()


class FormatAskSerializer(Plain):
    """What has to be said of a file beside its level."""

    key = serializers.CharField()
    title = serializers.CharField()
    level = serializers.CharField(help_text="The level for which it is asked.")
    help = serializers.CharField()
    is_needed = serializers.BooleanField()


class FormatSerializer(Plain):
    """A format that can be imported, with the levels that can be declared."""

    key = serializers.CharField()
    title = serializers.CharField()
    levels = FormatLevelSerializer(many=True)
    recognises = serializers.BooleanField(help_text="Whether the level can be left out: the file says it.")
    asks = FormatAskSerializer(many=True)
    maps = serializers.BooleanField(help_text="Whether meanings of values can be given.")
    joins = serializers.BooleanField(help_text="Whether several files can be sent as one set.")


class UploadSerializer(Plain):
    format = serializers.ChoiceField(choices=choices())
    level = serializers.CharField(required=False, default="", allow_blank=True, help_text="Left out: recognised.")
    map = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=10_000,
        help_text="What values mean that the format does not know: OLD=NEW, a line each.",
    )  # fmt: skip
    topic = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=120, help_text="Of reviews from PubMed.",
    )  # fmt: skip
    review = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=40, help_text="PMID, of studies from PubMed.",
    )  # fmt: skip
    file = serializers.FileField(allow_empty_file=True)
    others = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), required=False, max_length=MOST_FILES - 1,
        help_text="More files of one set: checked and imported with the first, as one round of ratings.",
    )  # fmt: skip


class ConfirmSerializer(Plain):
    job = serializers.IntegerField(help_text="The check_import job whose preview was read.")


class NoticeSerializer(Plain):
    """Something odd that was kept as it is."""

    kind = serializers.CharField()
    message = serializers.CharField()
    item = serializers.CharField(allow_blank=True)
    place = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    unit = serializers.IntegerField(allow_null=True, help_text="The unit that it is of, where the project has it.")


class NoticeFilterSerializer(Plain):
    kind = serializers.CharField(required=False, help_text="One kind of notice, as in ``totals``.")


class ImportSerializer(serializers.ModelSerializer[Import]):
    """One file that was brought in, with how many notices there are of each kind."""

    by = serializers.SerializerMethodField(help_text="Empty for an import by command.")
    format_name = serializers.SerializerMethodField(help_text="Format and level as people say them: M3, level 3.")
    totals = serializers.DictField(child=serializers.IntegerField(), source="report_totals")
    counts = serializers.DictField(child=serializers.IntegerField())
    values = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), source="report_values"
    )

    class Meta:
        model = Import
        fields = [
            "id", "format", "level", "format_name", "file_name", "sha256", "size", "counts", "totals", "values", "by",
            "created_at",
        ]  # fmt: skip

    def get_by(self, imported: Import) -> str:
        return imported.created_by.name if imported.created_by else ""

    def get_format_name(self, imported: Import) -> str:
        try:
            name = get(imported.format).name
        except KeyError:  # brought in once, by a format that is no longer installed
            name = imported.format
        level = f"level {imported.level}" if imported.level.isdigit() else imported.level
        return f"{name}, {level}" if level else name
