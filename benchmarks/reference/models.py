"""Two tables: tasks and annotations."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q


class Task(models.Model):
    """One text, claimed by at most one person."""

    round = models.IntegerField()
    text = models.TextField()
    claimed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT)

    class Meta:
        app_label = "reference"
        indexes: ClassVar = [
            models.Index(fields=["round", "id"], name="task_free", condition=Q(claimed_by__isnull=True))
        ]


class Annotation(models.Model):
    """One annotation, with its cues as JSON."""

    uuid = models.UUIDField(primary_key=True)
    task = models.ForeignKey(Task, on_delete=models.PROTECT)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
    polarity = models.CharField(max_length=12)
    modality = models.CharField(max_length=12)
    cues = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "reference"
