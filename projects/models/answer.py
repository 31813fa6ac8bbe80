"""What people said. Insert-only: triggers refuse a change other than sealing."""

import uuid

from django.db import models

from audit.models import Leaf

from .guideline import Guideline
from .project import Member
from .round import Assignment


class Outcome(models.TextChoices):
    ANSWERED = "answered"
    SKIPPED = "skipped"


class Answer(Leaf):
    """One revision of what one person said of one unit. Each kind adds typed rows that point here."""

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, help_text="Made by the client.")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers")
    author = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="answers")
    revision = models.PositiveIntegerField()
    outcome = models.CharField(max_length=8, choices=Outcome)
    reason = models.CharField(max_length=30, blank=True, help_text="Why it was skipped: a code of the kind.")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+")
    body_digest = models.CharField(max_length=64, help_text="SHA-256 of the bytes that were sent.")
    shown = models.PositiveIntegerField(help_text="Revision of the unit that was shown.")
    received_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(default=0, help_text="Milliseconds of work, idle time left out.")
    comment = models.TextField(blank=True)
    flag = models.BooleanField(default=False)

    class Meta:
        ordering = ["assignment_id", "revision"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="one_answer_per_revision"),
            models.CheckConstraint(condition=models.Q(outcome__in=Outcome.values), name="answer_outcome_is_known"),
        ]
        indexes = [
            models.Index(fields=["author", "received_at"]),
            models.Index(fields=["received_at"], name="answer_unsealed", condition=models.Q(seal__isnull=True)),
        ]
