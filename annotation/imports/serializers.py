"""Serializers of imports, their formats, files and warnings."""

import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from rest_framework import serializers

from annotation.imports import choices, get
from api.fields import Strict
from api.limits import MOST_FILES
from measures.unit_names import unit_name
from projects.jobs.pace import WINDOW
from projects.models import Import, ImportFile, JobStatus, Project, Unit
from projects.uploads.upload import HOW

from .licences import LONGEST, REDISTRIBUTION, Licence, redistribution_of, stated_licence

Plain = serializers.Serializer[Any]


def _material() -> serializers.ListField:
    return serializers.ListField(
        child=serializers.CharField(),
        help_text="Kinds of material that it brings or belongs to. Empty if any project can use it.",
    )


class FormatLevelSerializer(Plain):
    key = serializers.CharField()
    title = serializers.CharField()
    material = _material()


class FormatAskSerializer(Plain):
    """A question about a file beside its level."""

    key = serializers.CharField()
    title = serializers.CharField()
    level = serializers.CharField(help_text="Level to which the question applies.")
    help = serializers.CharField()
    is_needed = serializers.BooleanField()


class FormatSerializer(Plain):
    """A format that can be imported, with the levels that can be declared."""

    key = serializers.CharField()
    title = serializers.CharField()
    licence = serializers.CharField(help_text="Licence that the publication states; empty if it states none.")
    material = _material()
    levels = FormatLevelSerializer(many=True)
    recognises = serializers.BooleanField(
        help_text="Whether the level can be omitted, because it is detected from the file."
    )
    asks = FormatAskSerializer(many=True)
    maps = serializers.BooleanField(help_text="Whether unknown values can be mapped.")
    needs_columns = serializers.BooleanField(help_text="Whether each column gets a role before the import.")
    joins = serializers.BooleanField(help_text="Whether several files can be imported together as one set.")
    streams = serializers.BooleanField(help_text="Whether several files are parts of one data set of any size.")
    folders = serializers.BooleanField(
        help_text="Whether subfolder names can identify the reviews of the files in them."
    )


def _redistribution() -> serializers.ChoiceField:
    return serializers.ChoiceField(
        choices=REDISTRIBUTION,
        required=False,
        default="",
        allow_blank=True,
        help_text="Whether this licence allows to redistribute the texts. Licences with an SPDX id do if omitted.",
    )


class DeclaredSerializer(Plain):
    format = serializers.ChoiceField(choices=choices())
    level = serializers.CharField(required=False, default="", allow_blank=True, help_text="Detected if omitted.")
    map = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=10_000,
        help_text="Meanings of unknown values, one per line: OLD=NEW or CRITERION:OLD=NEW. For ratings also "
        "CRITERION:scale=nominal.",
    )
    columns = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=400_000,
        help_text="For tables of own corpora: the mapping of the columns as JSON. Without it the file is only stored, "
        "and the check has ``needs_columns``.",
    )
    topic = serializers.CharField(
        required=False, default="", allow_blank=True, max_length=120, help_text="Topic of reviews from PubMed."
    )
    review = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=40,
        help_text="PMID of the review, for studies from PubMed.",
    )
    licence = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST,
        help_text="Licence of the source: an SPDX id, or the name of another licence. That of the format if omitted.",
    )
    redistribution = _redistribution()


class LicenceSerializer(Strict):
    """Licence of a source, and whether its texts may be redistributed."""

    licence = serializers.CharField(
        max_length=LONGEST, allow_blank=True, help_text="An SPDX id, or the name of another licence. Empty: unknown."
    )
    redistribution = _redistribution()

    def stated(self) -> Licence:
        return stated_licence(self.validated_data["licence"], self.validated_data["redistribution"])


class UploadSerializer(DeclaredSerializer):
    file = serializers.FileField(allow_empty_file=True)
    others = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        required=False,
        max_length=MOST_FILES - 1,
        help_text="Further files of the set. They are checked and imported with the first, as one round of ratings.",
    )


class FolderFileSerializer(Plain):
    """A file of the import folder of the server."""

    name = serializers.CharField()
    size = serializers.IntegerField(help_text="In bytes.")


class FolderImportSerializer(DeclaredSerializer):
    names = serializers.ListField(
        child=serializers.CharField(max_length=255),
        min_length=1,
        max_length=MOST_FILES,
        help_text="Files of the import folder. They are checked and imported as one set, in this order.",
    )


class ConfirmSerializer(Plain):
    job = serializers.IntegerField(help_text="The check_import job whose preview is confirmed.")


class NoticeSerializer(Plain):
    """An unusual value. It was imported unchanged, unless the message says otherwise."""

    STORED = ("kind", "message", "item", "place", "field", "text")

    kind = serializers.CharField()
    message = serializers.CharField()
    item = serializers.CharField(allow_blank=True)
    item_name = serializers.CharField(allow_blank=True, help_text="Name of the item for people.")
    place = serializers.CharField(allow_blank=True)
    field = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    unit = serializers.IntegerField(
        allow_null=True, help_text="Unit with the unusual value; null if the project does not have it."
    )


class NoticeFilterSerializer(Plain):
    kind = serializers.CharField(required=False, help_text="Kind of import warning, as in ``totals``.")
    search = serializers.CharField(required=False, max_length=500, help_text="Words that a warning must contain.")
    examples = serializers.IntegerField(
        required=False, min_value=1, max_value=10, help_text="List only the first warnings of each kind, this many."
    )


class ImportFileSerializer(serializers.ModelSerializer[ImportFile]):
    """One file of an import."""

    class Meta:
        model = ImportFile
        fields = ["name", "sha256", "size"]


class ImportSerializer(serializers.ModelSerializer[Import]):
    """An imported file or set of files, with the number of warnings of each kind."""

    by = serializers.SerializerMethodField(help_text="Empty for an import by command.")
    format_name = serializers.SerializerMethodField(help_text="Display name of format and level, such as M3, level 3.")
    files = ImportFileSerializer(many=True)
    totals = serializers.DictField(child=serializers.IntegerField(), source="report_totals")
    counts = serializers.DictField(child=serializers.IntegerField())
    values = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), source="report_values"
    )
    phase = serializers.CharField(
        source="progress.phase",
        default="",
        help_text="While arriving: reading, complete, finishing (it can no longer be withdrawn) or withdrawing.",
    )
    rows = serializers.IntegerField(source="progress.rows", default=None, allow_null=True, help_text="Rows written.")
    bytes_done = serializers.IntegerField(
        source="progress.bytes", default=None, allow_null=True, help_text="While arriving: bytes read, of ``size``."
    )
    rate = serializers.SerializerMethodField(
        help_text="Rows per second over the last minute; null while unknown or if the import does not advance."
    )
    seconds_left = serializers.SerializerMethodField(help_text="Estimated by the bytes; null as ``rate``.")
    job = serializers.IntegerField(
        source="job_id", allow_null=True, read_only=True, help_text="Job that writes the rows. Null for a command."
    )
    stopped = serializers.SerializerMethodField(
        help_text="Why the job stopped before the import was complete; empty if it did not."
    )

    redistribution = serializers.SerializerMethodField(
        help_text="Whether the licence allows to redistribute the texts: allowed, forbidden, or empty if unknown."
    )

    class Meta:
        model = Import
        fields = [
            "id",
            "format",
            "level",
            "format_name",
            "file_name",
            "files",
            "sha256",
            "size",
            "state",
            "phase",
            "rows",
            "bytes_done",
            "rate",
            "seconds_left",
            "job",
            "stopped",
            "counts",
            "totals",
            "values",
            "licence",
            "redistribution",
            "by",
            "created_at",
        ]

    def get_redistribution(self, imported: Import) -> str:
        return redistribution_of(imported)

    def get_by(self, imported: Import) -> str:
        return imported.created_by.name if imported.created_by else ""

    def get_rate(self, imported: Import) -> float | None:
        return imported.progress.get("rate") if _advances(imported) else None

    def get_seconds_left(self, imported: Import) -> float | None:
        return imported.progress.get("seconds_left") if _advances(imported) else None

    def get_stopped(self, imported: Import) -> str:
        job = imported.job
        if job is None or job.status not in (JobStatus.FAILED, JobStatus.CANCELLED) or imported.state == "arrived":
            return ""
        return job.error or f"The import was {HOW[JobStatus(job.status)]}."

    def get_format_name(self, imported: Import) -> str:
        try:
            name = get(imported.format).name
        except KeyError:  # imported earlier, by a format that is no longer installed
            name = imported.format
        level = f"level {imported.level}" if imported.level.isdigit() else imported.level
        return f"{name}, {level}" if level else name


def _advances(imported: Import) -> bool:
    """Return whether rows of the import were written within the last minute."""
    return bool(imported.progress.get("at", 0.0) > time.time() - WINDOW)


_INPUT = re.compile(r"input (\d+)")


def with_units(project: Project, notices: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Add the name of its item to each notice, and the id of its text's unit, else of its item's unit, else None.

    One query.
    """
    keys = [_keys(notice) for notice in notices]
    rows = Unit.objects.filter(
        project=project, key__in={key for candidates in keys for key in candidates}, superseded_by=None
    )
    ids = dict(rows.order_by("pk").values_list("key", "pk"))
    units = [next((ids[key] for key in candidates if key in ids), None) for candidates in keys]
    return [
        {**notice, "item_name": unit_name(notice["item"]), "unit": unit}
        for notice, unit in zip(notices, units, strict=True)
    ]


def _keys(notice: Mapping[str, Any]) -> list[str]:
    """Return the unit keys of a notice: its text first, then its item."""
    item, place = notice["item"], notice["place"]
    number = _INPUT.fullmatch(place)
    position = "0" if place == "target" else number[1] if number else None
    return [*([f"{item}/{position}"] if position else []), item] if item else []
