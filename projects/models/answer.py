"""What people said. Insert-only: triggers refuse a change other than sealing."""

import uuid

from django.db import models

from audit.models import Entry, Leaf

from .guideline import Guideline
from .project import Member
from .round import Assignment


class Outcome(models.TextChoices):
    ANSWERED = "answered"
    SKIPPED = "skipped"


class CameBy(models.TextChoices):
    """How an answer reached us."""

    BROWSER = "browser"
    TOKEN = "token", "API token"
    SHEET = "sheet"
    # Given outside Concord, by a rater who has no account.
    IMPORT = "import"
    # Written on the curate page, or carried over there from an earlier text.
    CORRECTION = "correction"


class Answer(Leaf):
    """One revision of what one person said of one unit. Each kind adds typed rows that point here."""

    uuid = models.UUIDField(primary_key=True, default=uuid.uuid4, help_text="Made by the client.")
    # Each is the first column of an index below; nothing is looked up by guideline alone.
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="answers", db_index=False)
    author = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="answers", db_index=False)
    revision = models.PositiveIntegerField()
    outcome = models.CharField(max_length=8, choices=Outcome)
    reason = models.CharField(max_length=30, blank=True, help_text="Why it was skipped: a code of the kind.")
    guideline = models.ForeignKey(Guideline, on_delete=models.PROTECT, related_name="+", db_index=False)
    body_digest = models.CharField(max_length=64, help_text="SHA-256 of the bytes that were sent.")
    shown = models.PositiveIntegerField(help_text="Revision of the unit that was shown.")
    received_at = models.DateTimeField()
    active_ms = models.PositiveIntegerField(default=0, help_text="Milliseconds of work, idle time left out.")
    comment = models.TextField(blank=True)
    flag = models.BooleanField(default=False)
    # Empty in answers from before it was recorded; by the data base's default, while that version still serves.
    came_by = models.CharField(max_length=10, choices=CameBy, blank=True, default="", db_default="")
    entry = models.ForeignKey(
        Entry, null=True, blank=True, on_delete=models.PROTECT, related_name="+", db_index=False,
        help_text="The act that brought it, where somebody else than its author did.",
    )  # fmt: skip

    class Meta:
        ordering = ["assignment_id", "revision"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "revision"], name="one_answer_per_revision"),
            models.CheckConstraint(condition=models.Q(outcome__in=Outcome.values), name="answer_outcome_is_known"),
            models.CheckConstraint(condition=models.Q(came_by__in=["", *CameBy.values]), name="answer_came_somehow"),
            models.CheckConstraint(
                condition=~models.Q(came_by__in=["sheet", "import"]) | models.Q(entry__isnull=False),
                name="an_answer_brought_by_another_has_its_entry",
            ),
        ]
        indexes = [
            models.Index(fields=["author", "received_at"]),
            models.Index(fields=["received_at"], name="answer_unsealed", condition=models.Q(seal__isnull=True)),
            models.Index(fields=["entry"], name="answer_brought", condition=models.Q(entry__isnull=False)),
        ]
