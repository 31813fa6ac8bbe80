"""Serializers of releases."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from measures import identifiers
from measures.unit_names import unit_name
from projects.models import Job, JobStatus
from projects.permissions import Names

from ..citation.serializers import IdentifierField
from ..folders.dictionary import table_of
from ..folders.diffs import ADDED, CHANGED, REMOVED, FileDifference
from ..folders.rows import is_traceable
from ..models import Release
from ..sources.options import OPTIONAL, ReleaseOptions

Plain = serializers.Serializer[Any]


class ReleaseFileSerializer(Plain):
    path = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    rows = serializers.IntegerField(
        allow_null=True, help_text="Number of rows of a JSONL or CSV file, without the header."
    )
    row = serializers.SerializerMethodField(help_text="What a row contains; empty if the file has no rows.")
    key = serializers.SerializerMethodField(help_text="Columns of the key, if the rows are about single units.")

    def get_row(self, file: Mapping[str, Any]) -> str:
        table = table_of(file["path"])
        return table.row if table else ""

    def get_key(self, file: Mapping[str, Any]) -> list[str]:
        table = table_of(file["path"])
        return list(table.key) if table and is_traceable(file["path"]) else []


class AuditHeadSerializer(Plain):
    number = serializers.IntegerField()
    digest = serializers.CharField()


class ForcedSerializer(Plain):
    reason = serializers.CharField()
    checks = serializers.ListField(child=serializers.CharField(), help_text="Names of the failed checks.")


class ManifestSerializer(Plain):
    """Content of ``manifest.json``."""

    project = serializers.CharField()
    name = serializers.CharField()
    illustrative = serializers.BooleanField()
    version = serializers.CharField()
    doi = serializers.CharField(required=False, help_text="DOI that an archive reserved; empty if there is none.")
    forced = ForcedSerializer(
        required=False, allow_null=True, help_text="Why the release was created despite failed checks; else null."
    )
    newest_change = serializers.CharField(allow_blank=True)
    snapshot = serializers.CharField()
    audit_head = AuditHeadSerializer(allow_null=True)
    counts = serializers.DictField(child=serializers.JSONField())
    without = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="What was left out, such as Parquet files."
    )
    parquet = serializers.JSONField(required=False, help_text="How the Parquet files were written.")
    files = ReleaseFileSerializer(many=True)
    digest = serializers.CharField(help_text="SHA-256 of the manifest without this field.")


class ReleaseRowSerializer(Plain):
    id = serializers.IntegerField(source="pk")
    version = serializers.CharField()
    snapshot = serializers.CharField(source="snapshot_hash")
    size = serializers.IntegerField()
    files = serializers.SerializerMethodField(help_text="Number of files.")
    created_at = serializers.DateTimeField()
    created_by = serializers.SerializerMethodField(
        help_text="Name of the person if the user may see names, else the pseudonym."
    )

    def get_files(self, release: Release) -> int:
        return len(release.manifest["files"])

    def get_created_by(self, release: Release) -> str:
        names: Names = self.context["names"]
        return names.of(release.created_by)


class ReleaseSerializer(ReleaseRowSerializer):
    manifest = ManifestSerializer()
    listed = serializers.SerializerMethodField(help_text="Lists among the manifest's counts, with the names of units.")

    def get_listed(self, release: Release) -> dict[str, list[str]]:
        counts = release.manifest["counts"]
        return {name: [unit_name(key) for key in keys] for name, keys in counts.items() if isinstance(keys, list)}


class PendingReleaseSerializer(Plain):
    """A release that is being created, or whose creation failed."""

    job = serializers.IntegerField(source="pk")
    version = serializers.CharField(source="params.version")
    status = serializers.ChoiceField(choices=JobStatus.choices)
    error = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    created_by = serializers.SerializerMethodField(help_text="Name of the person, empty for a command.")

    def get_created_by(self, job: Job) -> str:
        names: Names = self.context["names"]
        return names.of(job.created_by)


class ReleaseOptionsSerializer(Plain):
    """Choices for one release. They are part of its bytes."""

    doi = IdentifierField(
        identifiers.doi, max_length=200, required=False, help_text="DOI that an archive reserved for this version."
    )
    without = serializers.ListField(
        child=serializers.ChoiceField(OPTIONAL),
        required=False,
        help_text="What to leave out: Parquet files, which need pyarrow on the worker, or texts of the sources.",
    )

    def options(self) -> ReleaseOptions:
        return ReleaseOptions(**{name: value for name, value in self.validated_data.items() if name != "version"})


class FreezeSerializer(ReleaseOptionsSerializer):
    version = serializers.RegexField(
        r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$",
        max_length=40,
        error_messages={"invalid": "A semantic version: X.Y.Z, such as 1.0.0."},
    )
    reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=1000,
        help_text="Why to release despite failed checks that prevent it. Logged, and part of the manifest.",
    )


class CheckSerializer(Plain):
    name = serializers.CharField()
    title = serializers.CharField()
    blocks = serializers.BooleanField(help_text="Whether the check fails and prevents a release without a reason.")
    passed = serializers.BooleanField()
    detail = serializers.CharField(allow_blank=True, help_text="Result of the check.")
    means = serializers.CharField(help_text="Why the check matters.")
    advice = serializers.CharField(help_text="What to do if the check fails.")
    page = serializers.CharField(
        allow_blank=True, help_text="Path relative to the project's page; empty if there is none."
    )


class FileDifferenceSerializer(Plain):
    """Counts of rows by key; a file without rows counts as one."""

    path = serializers.CharField()
    added = serializers.IntegerField()
    removed = serializers.IntegerField()
    changed = serializers.IntegerField()
    keys = serializers.ListField(child=serializers.CharField(), help_text="The first 20 keys.")
    is_traceable = serializers.SerializerMethodField(help_text="Whether the rows are about single units.")

    def get_is_traceable(self, difference: FileDifference) -> bool:
        return is_traceable(difference.path)


class FieldChangeSerializer(Plain):
    field = serializers.CharField()
    before = serializers.CharField(allow_blank=True)
    after = serializers.CharField(allow_blank=True)
    decision = serializers.CharField(allow_blank=True, help_text="Number of the new decision, if it is known.")
    origin = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    by = serializers.CharField(allow_blank=True, help_text="Pseudonym.")


class RowChangeSerializer(Plain):
    """A row of the data that was added, removed or changed."""

    path = serializers.CharField()
    key = serializers.CharField()
    change = serializers.ChoiceField(choices=[ADDED, REMOVED, CHANGED])
    fields_changed = FieldChangeSerializer(source="fields", many=True)


class DifferenceSerializer(Plain):
    before = serializers.CharField(source="before.version", default=None, allow_null=True)
    files = FileDifferenceSerializer(many=True)
    rows = RowChangeSerializer(many=True, help_text="The first 500 rows of the data that differ, by field.")


class VerifiedSerializer(Plain):
    """Result of a verification, in sentences. ``findings`` is empty if the release is intact."""

    digest = serializers.CharField(
        source="manifest.digest", default="", allow_blank=True, help_text="Digest of the stored manifest."
    )
    findings = serializers.ListField(child=serializers.CharField())
    more = serializers.IntegerField(help_text="Number of further findings, which are not listed.")
    checked = serializers.ListField(child=serializers.CharField())
    not_checked = serializers.ListField(child=serializers.CharField())
