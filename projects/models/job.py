"""Background jobs and notifications. The job rows are the queue; Celery, if there is one, only sends wake-ups."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from accounts.models import User

from .project import Member, Project
from .round import Participant, Round


class JobStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(models.Model):
    """One background job. ``fence`` counts takeovers, so a worker that lost its lease cannot write."""

    project = models.ForeignKey(Project, null=True, on_delete=models.PROTECT, related_name="jobs")
    kind = models.CharField(max_length=30)
    queue = models.CharField(max_length=60, default="default", help_text="Celery queue. Generation has one per model.")
    params = models.JSONField(default=dict)
    virtual_time = models.PositiveBigIntegerField(
        default=0, help_text="Virtual time of weighted fair queueing. The lowest is next."
    )
    weight = models.PositiveSmallIntegerField(
        default=8, help_text="Virtual time that the job takes from its project: short jobs weigh less."
    )
    is_requested = models.BooleanField(
        default=False, help_text="True if a person asked for it, false if it follows from another action."
    )
    status = models.CharField(max_length=10, choices=JobStatus, default=JobStatus.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    max_attempts = models.PositiveSmallIntegerField(default=3)
    fence = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=80, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    cancel_requested = models.BooleanField(default=False)
    is_dismissed = models.BooleanField(default=False, help_text="A failed job that the overview no longer lists.")
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(null=True, blank=True)
    rate = models.FloatField(null=True, blank=True, help_text="Items per second over the last minute; null if unknown.")
    note = models.CharField(max_length=200, blank=True, help_text="Current activity of the job.")
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="Time at which the broker was last notified.")

    class Meta:
        ordering = ["-id"]
        indexes = [
            # Not a partial index: SQLite does not use one if the states are parameters of the statement.
            models.Index(fields=["status", "virtual_time"], name="job_virtual_time"),
            models.Index(fields=["kind"], name="job_active", condition=Q(status__in=["queued", "running"])),
            models.Index(fields=["leased_until"], name="job_running", condition=Q(status="running")),
        ]

    def __str__(self) -> str:
        return f"job {self.pk} ({self.kind})"


class JobProblem(models.Model):
    """Error of one item of a job. The job continues with the other items."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="problems")
    item = models.CharField(max_length=200)
    message = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class NotificationQuerySet(models.QuerySet["Notification"]):
    def shown_to(self, user: User) -> Self:
        """Return the notifications of a user that the user may see now.

        A user who left a project or a round does not see its notifications. Decisions are shown only while the project
        shows adjudication results.
        """
        member = Member.objects.active().filter(project=OuterRef("project"), user=user)
        works = Participant.objects.filter(round=OuterRef("round"), member__user=user, left_at=None)
        what = Notification.What
        of_project = (
            Q(what__in=(what.REPLY, what.FINISHED, what.FAILED, what.ACCURACY))
            | Q(Exists(works), what=what.OPENED, round__status=Round.Status.OPEN)
            | Q(what=what.DECISION, round__status=Round.Status.CLOSED, project__show_adjudication=True)
        )
        return self.filter(Q(what=what.TOKENS) | (Q(Exists(member)) & of_project), user=user)

    def unread(self) -> Self:
        return self.filter(read_at=None)


class Notification(models.Model):
    """One event for one user. Rows are only inserted, so writers never wait for each other."""

    class What(models.TextChoices):
        OPENED = "round opened"
        MORE = "new units"
        REPLY = "reply"
        DECISION = "decision"
        FINISHED = "finished"
        FAILED = "failed"
        TOKENS = "tokens"
        ACCURACY = "accuracy"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications")
    what = models.CharField(max_length=12, choices=What)
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    # Type of work that ended. Never a name of its object, which may be hidden from the person by now.
    subject = models.CharField(max_length=60, blank=True, help_text="Release, Run 12, ...")
    path = models.CharField(max_length=200, blank=True, help_text="Page that shows the notification.")
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True, help_text="Time at which a digest e-mail included it.")

    objects = NotificationQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["at"], name="notification_at"),
            models.Index(
                fields=["user"], name="notification_to_mail", condition=Q(read_at__isnull=True, mailed_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.what} for user {self.user_id}"


class Digest(models.Model):
    """When a person was last sent a digest, and until when no worker may send another."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    sent_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="Time until which a worker holds the item, or until which a failed item waits."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"digest of user {self.user_id}"
