"""Projects and their people."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower


class Role(models.TextChoices):
    """What a member is in a project; what each may do is told in ``projects.models.roles``."""

    LEAD = "lead"
    CURATOR = "curator"
    ANNOTATOR = "annotator"
    EVALUATOR = "evaluator"
    VIEWER = "viewer"
    # Somebody without an account, by a participant link: at work in one round, and nothing else exists.
    VOLUNTEER = "volunteer"


class ProjectQuerySet(models.QuerySet["Project"]):
    def of(self, user: object) -> Self:
        """The projects in which ``user`` is an active member, whatever the role."""
        return self.filter(members__user=user, members__left_at__isnull=True)


class Project(models.Model):
    """One data set in the making."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=120, blank=True, help_text="Of the released data, as an SPDX id or in words.")
    citation = models.TextField(blank=True)
    publish_comments = models.BooleanField(
        default=False, help_text="Whether releases hold what annotators wrote beside their answers."
    )
    show_adjudication = models.BooleanField(
        default=True,
        help_text="Whether people see, once a round is closed, what was decided of their answers in it, and why.",
    )
    illustrative = models.BooleanField(default=False, help_text="Made up to show the product; not research data.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class MemberQuerySet(models.QuerySet["Member"]):
    def active(self) -> Self:
        return self.filter(left_at__isnull=True)


class Member(models.Model):
    """A person in a project. The pseudonym is what files and other annotators see."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=12, choices=Role)
    pseudonym = models.CharField(max_length=20)
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)

    objects = MemberQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_per_user"),
            models.UniqueConstraint(fields=["project", "pseudonym"], name="one_pseudonym_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="member_role_is_known"),
        ]

    def __str__(self) -> str:
        return f"{self.pseudonym} ({self.role})"

    @property
    def is_volunteer(self) -> bool:
        """Came by a participant link, into one round."""
        return self.role == Role.VOLUNTEER


class Invitation(models.Model):
    """A single-use, expiring way into a project for one e-mail address. Only the hash of its token is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=12, choices=Role)
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(Member, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                "project",
                Lower("email"),
                condition=Q(accepted_at__isnull=True, revoked_at__isnull=True),
                name="one_open_invitation_per_email",
            )
        ]


class Import(models.Model):
    """One file, or set of files, brought in: where rows without an author come from."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="imports")
    format = models.CharField(max_length=20)
    level = models.CharField(max_length=60, blank=True)
    file_name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    counts = models.JSONField(default=dict)
    report = models.JSONField(default=dict, help_text="What was noticed: cues not found, ambiguous ones, odd rows.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            # The same records may come in as reviews, and as studies of several.
            models.UniqueConstraint(
                fields=["project", "format", "sha256", "level"], name="one_import_per_file_content_and_level"
            )
        ]
