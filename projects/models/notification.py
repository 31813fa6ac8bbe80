"""What is new for one person: a round, a reply, a decision, a job that ended. Not part of the study's record."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from accounts.models import User

from .project import Member, Project
from .round import Participant, Round


class NotificationQuerySet(models.QuerySet["Notification"]):
    def shown_to(self, user: User) -> Self:
        """A person's own, of what that person may see now: whoever left a project or a round is told no more of it, and
        a decision only while its project tells people what was decided."""
        member = Member.objects.active().filter(project=OuterRef("project"), user=user)
        works = Participant.objects.filter(round=OuterRef("round"), member__user=user, left_at=None)
        what = Notification.What
        return self.filter(Exists(member), user=user).filter(
            Q(what__in=(what.REPLY, what.FINISHED, what.FAILED))
            | Q(Exists(works), what=what.OPENED, round__status=Round.Status.OPEN)
            | Q(what=what.DECISION, round__status=Round.Status.CLOSED, project__show_adjudication=True)
        )

    def unread(self) -> Self:
        return self.filter(read_at=None)


class Notification(models.Model):
    """One thing that happened. Rows are only added, so that nobody waits for another's."""

    class What(models.TextChoices):
        OPENED = "round opened"
        MORE = "new units"
        REPLY = "reply"
        DECISION = "decision"
        FINISHED = "finished"
        FAILED = "failed"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications")
    what = models.CharField(max_length=12, choices=What)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.CASCADE, related_name="+", db_index=False)
    # What ended: a sort of work, never the name of what it was about, which may be sealed from the person by now.
    subject = models.CharField(max_length=60, blank=True, help_text="Release, Run 12, ...")
    path = models.CharField(max_length=200, blank=True, help_text="The page that shows it.")
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    mailed_at = models.DateTimeField(null=True, blank=True, help_text="When it was in a digest.")

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
    """When a person was last sent a digest, and which worker is sending one now."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    sent_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True, help_text="A worker is at it, or it failed: until then.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"digest of user {self.user_id}"
