"""Guideline versions: what annotators were told, word for word."""

from django.conf import settings
from django.db import models

from .project import Project


class Guideline(models.Model):
    """One version of the guideline of one task kind. Never changed: an edit is the next number."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="guidelines")
    kind = models.CharField(max_length=30)
    number = models.PositiveIntegerField()
    text = models.TextField(help_text="Markdown.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the text.")
    questions = models.JSONField(
        default=list, blank=True,
        help_text="Asked before a round: each with its options, the index of the right one, and an explanation.",
    )  # fmt: skip
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "-number"]
        constraints = [models.UniqueConstraint(fields=["project", "kind", "number"], name="one_guideline_per_number")]

    def __str__(self) -> str:
        return f"{self.kind} guideline {self.number}"
