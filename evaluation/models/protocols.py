"""Protocols of human evaluation, and their versions."""

from typing import Self

from django.conf import settings
from django.db import models

from audit.models import AppendOnly
from projects.models import Project


class ProtocolKind(models.TextChoices):
    """Whether texts are judged one by one, compared in pairs, or chosen from tuples."""

    RATE = "rate"
    COMPARE = "compare"
    BEST_WORST = "best_worst"


class Protocol(models.Model):
    """A named protocol of a project. A project can have several of one kind."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="protocols")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=10, choices=ProtocolKind)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="one_protocol_per_name")]

    def __str__(self) -> str:
        return self.name


class ProtocolVersionQuerySet(models.QuerySet["ProtocolVersion"]):
    def newest_first(self) -> Self:
        return self.order_by("-number")


class ProtocolVersion(AppendOnly):
    """A version of a protocol's content (`evaluation.protocols.content`).

    Database triggers make versions immutable. An edit creates the next version.
    """

    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content's canonical JSON.")
    note = models.CharField(max_length=300, blank=True, help_text="What changed in this version, or its origin.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProtocolVersionQuerySet.as_manager()

    class Meta:
        ordering = ["protocol_id", "number"]
        constraints = [models.UniqueConstraint(fields=["protocol", "number"], name="one_protocol_version_per_number")]

    def __str__(self) -> str:
        return f"{self.protocol} v{self.number}"
