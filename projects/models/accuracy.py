"""Warnings about a person's accuracy on returning gold items."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly

from .project import Member
from .round import Round


class AccuracyEvent(AppendOnly):
    """A warning about a person's accuracy in a round, the recovery, or a practice round that was offered."""

    class What(models.TextChoices):
        WARNED = "warned"
        RECOVERED = "recovered"
        PRACTICE = "practice"

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="accuracy_events")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="accuracy_events")
    what = models.CharField(max_length=10, choices=What)
    answers = models.PositiveIntegerField(help_text="Returning items that the person had answered by then.")
    window = models.PositiveSmallIntegerField(help_text="Number of the last ones that are reported.")
    right = models.PositiveSmallIntegerField(help_text="Correct ones among them.")
    score = models.PositiveIntegerField(help_text="Score of the rule, in hundredths of an item.")
    threshold = models.PositiveIntegerField(help_text="Score at which a warning is due.")
    bar = models.PositiveSmallIntegerField(help_text="Accuracy in percent below which people are warned.")
    practice = models.ForeignKey(Round, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            # Two workers that check at the same time store one warning.
            models.UniqueConstraint(
                fields=["round", "member", "what", "answers"],
                condition=~Q(what="practice"),
                name="one_accuracy_event_per_answer",
            ),
            models.CheckConstraint(
                condition=Q(what__in=["warned", "recovered"], practice=None)
                | Q(what="practice", practice__isnull=False),
                name="a_practice_event_has_its_round",
            ),
        ]
        indexes = [models.Index(fields=["member", "round", "id"], name="accuracy_of_member")]

    def __str__(self) -> str:
        return f"{self.what}: member {self.member_id} in round {self.round_id}"
