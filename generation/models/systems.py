"""Models of systems and their versions."""

from typing import Self

from django.conf import settings
from django.db import models

from audit.models import AppendOnly
from projects.models import Project


class UnitLevel(models.TextChoices):
    """What a version summarises.

    All inputs of a review, of a target sentence, or of a cluster (M3's levels 1 to 3); the effects that studies state
    for an intervention and an outcome (MS^2's table-to-table); one passage, or all passages that answer a question
    (MEDIQA-AnS's single- and multi-document summaries).
    """

    DOCUMENT = "document"
    SENTENCE = "sentence"
    PROPOSITION = "proposition"
    PAIR = "pair"
    ANSWER = "answer"
    QUESTION = "question"


class System(models.Model):
    """A summariser, with the name that tables print."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="systems")
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_system_per_name")]

    def __str__(self) -> str:
        return self.name


class VersionQuerySet(models.QuerySet["Version"]):
    def newest_first(self) -> Self:
        return self.order_by("-number")


class Version(AppendOnly):
    """One exact configuration and its facts (`generation.backends.protocol`). Database triggers prevent changes."""

    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    backend = models.CharField(max_length=30)
    level = models.CharField(max_length=12, choices=UnitLevel)
    config = models.JSONField()
    facts = models.JSONField()
    hash = models.CharField(max_length=64, help_text="SHA-256 of configuration and facts. It identifies the version.")
    note = models.CharField(max_length=300, blank=True, help_text="Preset of the version, or a remark.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        ordering = ["system_id", "number"]
        constraints = [
            models.UniqueConstraint(fields=["system", "number"], name="one_version_per_number"),
            models.UniqueConstraint(fields=["system", "hash"], name="one_version_per_hash"),
        ]

    def __str__(self) -> str:
        return f"{self.system} v{self.number} ({self.hash[:12]})"
