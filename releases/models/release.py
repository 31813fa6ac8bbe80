"""Releases: immutable, numbered copies of a data set with checksums."""

from django.conf import settings
from django.db import models

from audit.models import AppendOnly
from projects.models import Project


class Release(AppendOnly):
    """One immutable release.

    Its files are in ``DATA_DIR/files/releases/<folder>``. Triggers prevent changes to the row.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40, help_text="Semantic version, X.Y.Z.")
    snapshot_hash = models.CharField(max_length=64)
    manifest = models.JSONField()
    folder = models.CharField(max_length=80)
    size = models.PositiveBigIntegerField(help_text="Bytes of all files.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["project", "version"], name="one_release_per_version")]

    def __str__(self) -> str:
        return f"{self.project_id} {self.version}"
