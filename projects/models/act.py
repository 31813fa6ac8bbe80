"""Writes that a client named, so that a repeated request is answered, not carried out again."""

from django.db import models

from .project import Member, Project


class Act(models.Model):
    """One write on the curate page, by the identifier that the client made for it."""

    uuid = models.UUIDField(primary_key=True, help_text="Made by the client.")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="+")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="+")
    verb = models.CharField(max_length=40)
    body_digest = models.CharField(max_length=64, help_text="SHA-256 of the bytes that were sent.")
    result = models.JSONField(default=dict, help_text="What it made, by id: the answer to the same request again.")
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "uuid"]

    def __str__(self) -> str:
        return f"{self.verb} {self.uuid}"
