"""Background work: the rows are the queue; Celery, where there is one, only carries wake-ups."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .project import Project


class JobStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(models.Model):
    """One piece of background work. ``fence`` counts the takeovers: a worker that lost its lease cannot write."""

    project = models.ForeignKey(Project, null=True, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=30)
    queue = models.CharField(max_length=60, default="default", help_text="Celery queue; one a model for generation.")
    params = models.JSONField(default=dict)
    turn = models.PositiveBigIntegerField(default=0, help_text="Its place in the queue: the lowest is next.")
    weight = models.PositiveSmallIntegerField(default=8, help_text="How many turns of its project it takes.")
    asked = models.BooleanField(default=False, help_text="Somebody asked for it; false where it follows from an act.")
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    fence = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True, help_text="What it is doing, in words.")
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When a wake-up was last sent to the broker.")

    class Meta:
        ordering = ["-id"]
        indexes = [
            # Whole, not of these two states alone: SQLite sees no such condition in a statement's parameters.
            models.Index(fields=["status", "turn"], name="job_turn"),
            models.Index(fields=["kind"], name="job_active", condition=Q(status__in=["queued", "running"])),
            models.Index(fields=["leased_until"], name="job_running", condition=Q(status="running")),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.kind})"


class JobProblem(models.Model):
    """What went wrong with one item of a job, without stopping the rest."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="problems")
    item = models.CharField(max_length=200)
    message = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
