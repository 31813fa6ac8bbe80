"""Protocols of human evaluation, and their versions: what raters are asked, word for word."""

from typing import Self

from django.conf import settings
from django.db import models

from projects.models import Project


class ProtocolKind(models.TextChoices):
    """How texts are judged: each by itself, or two side by side."""

    RATE = "rate"
    COMPARE = "compare"


class Protocol(models.Model):
    """A protocol, by the name that pages and tables use. A project may have several of one kind."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="protocols")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=7, choices=ProtocolKind)
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


class ProtocolVersion(models.Model):
    """What a protocol says (`evaluation.protocols.content`). Triggers keep it as it is: an edit is the next number."""

    protocol = models.ForeignKey(Protocol, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    digest = models.CharField(max_length=64, help_text="SHA-256 of the content's canonical JSON.")
    note = models.CharField(max_length=300, blank=True, help_text="What is new in it, or where it came from.")
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
