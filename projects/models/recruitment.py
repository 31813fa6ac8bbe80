"""Recruitment of participants by a crowd platform: settings of a shared link, people, and their external ids."""

from datetime import datetime
from typing import Any

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from .participation import ParticipantLink
from .round import Round


class Recruitment(models.Model):
    """Settings of a shared participant link whose address a recruitment platform gives to its members."""

    class Platform(models.TextChoices):
        PROLIFIC = "prolific"
        MTURK = "mturk", "MTurk"
        OTHER = "other"

    link = models.OneToOneField(ParticipantLink, on_delete=models.PROTECT, related_name="recruitment")
    platform = models.CharField(max_length=10, choices=Platform)
    parameters = models.JSONField(help_text="Names of the address's parameters: id, study and session.")
    ends = models.JSONField(
        help_text="State -> completion code, or https address of the platform, shown when it is reached."
    )
    questions = models.JSONField(
        default=list, help_text="Screening questions: each has options and the indexes of the accepted ones."
    )
    units = models.PositiveIntegerField(null=True, help_text="Number of units per person; null: all that are left.")
    checks_allowed = models.PositiveSmallIntegerField(
        null=True, help_text="Number of attention checks that a person may fail; null: failed checks have no effect."
    )
    minutes = models.PositiveIntegerField(
        default=120, validators=[MinValueValidator(1)], help_text="Time limit, after which the place is returned."
    )
    pay = models.DecimalField(max_digits=8, decimal_places=2, null=True, help_text="Pay per place.")
    currency = models.CharField(max_length=3, blank=True)
    keep_days = models.PositiveIntegerField(
        default=90, help_text="Days after the round closes or the link expires at which external ids are deleted."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"recruitment {self.pk}"


class Recruit(models.Model):
    """A person who came by a recruitment link, and the state of the person's place."""

    class State(models.TextChoices):
        IN_PROGRESS = "in progress"
        COMPLETED = "completed"
        FAILED_CHECKS = "failed checks"
        SCREENED_OUT = "screened out"
        TIMED_OUT = "timed out"
        WITHDRAWN = "withdrawn"

    recruitment = models.ForeignKey(Recruitment, on_delete=models.PROTECT, related_name="recruits")
    link = models.OneToOneField(
        ParticipantLink, on_delete=models.PROTECT, related_name="recruit", help_text="The person's own link."
    )
    state = models.CharField(max_length=15, choices=State, default=State.IN_PROGRESS)
    chosen = models.JSONField(null=True, help_text="Chosen options of the screening questions; null: not answered.")
    begun_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="Time at which an unfinished place is returned.")
    ended_at = models.DateTimeField(null=True)
    checks = models.JSONField(null=True, help_text="Attention checks at the end: [passed, had].")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=["in progress", "completed", "failed checks", "screened out", "timed out", "withdrawn"]
                ),
                name="recruit_state_is_known",
            ),
            models.CheckConstraint(
                condition=Q(state="in progress", ended_at=None) | (~Q(state="in progress") & Q(ended_at__isnull=False)),
                name="a_recruit_in_progress_has_not_ended",
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="recruit_due", condition=Q(state="in progress"))]

    def __str__(self) -> str:
        return f"recruit {self.pk}"

    @property
    def holds_place(self) -> bool:
        return self.state in HOLDING

    @property
    def must_be_screened(self) -> bool:
        return self.state == self.State.IN_PROGRESS and self.chosen is None and bool(self.recruitment.questions)

    def is_late(self, now: datetime) -> bool:
        return self.state == self.State.IN_PROGRESS and self.due_at <= now

    def asked(self) -> list[dict[str, Any]]:
        """Return the screening questions without the accepted options. Empty if they are answered."""
        if not self.must_be_screened:
            return []
        return [{"question": one["question"], "options": one["options"]} for one in self.recruitment.questions]


#: States in which a person holds a place of the link.
HOLDING = (Recruit.State.IN_PROGRESS, Recruit.State.COMPLETED, Recruit.State.FAILED_CHECKS)
#: States that a person cannot leave.
FINAL = (Recruit.State.COMPLETED, Recruit.State.FAILED_CHECKS, Recruit.State.SCREENED_OUT)


class ExternalId(models.Model):
    """The ids of a person on the platform. Only leads see them.

    ``digest`` is a keyed hash of the id. When a lead deletes the ids, it stays until the set period is over, so that
    the same account cannot take a second place. The other columns are then empty.
    """

    recruit = models.OneToOneField(Recruit, on_delete=models.CASCADE, related_name="external")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="+")
    digest = models.CharField(max_length=64)
    external_id = models.CharField(max_length=100, blank=True)
    study_id = models.CharField(max_length=100, blank=True)
    session_id = models.CharField(max_length=100, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            # Also across the links of a round: nobody takes two places.
            models.UniqueConstraint(fields=["round", "digest"], name="one_person_per_external_id_and_round")
        ]

    def __str__(self) -> str:
        return f"external id of recruit {self.recruit_id}"
