"""Pilot gates: a round waits until the agreement of a pilot round meets a bar."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly

from .project import Project
from .round import Round


class PilotGate(models.Model):
    """The bar that the pilot of a round must meet before the round opens. It never changes."""

    class Requires(models.TextChoices):
        LOWER_BOUND = "lower bound"
        VALUE = "value"

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="gate")
    pilot = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="gated")
    measure = models.CharField(max_length=120, help_text="Name of a measure of the pilot's agreement report.")
    coefficient = models.CharField(max_length=30)
    requires = models.CharField(max_length=12, choices=Requires, help_text="What must reach the number.")
    number = models.FloatField(help_text="Least value, or least lower bound.")
    least_units = models.PositiveIntegerField(default=0, help_text="Least number of units with two ratings or more.")
    people = models.JSONField(help_text="Ids of the members who take part when the round opens.")

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"gate of round {self.round_id}"


class GateReading(AppendOnly):
    """What a gate read of its pilot, or the reason for which a lead opened the round without it.

    Rows stay after their round is discarded, so that every evaluation of a pilot is known.
    """

    class Outcome(models.TextChoices):
        MET = "met"
        NOT_MET = "not met"
        OPENED = "opened by a lead"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="gate_readings")
    # Not a foreign key: a round that never opened can be discarded.
    round = models.BigIntegerField(help_text="Id of the round that waited.")
    round_name = models.CharField(max_length=80)
    pilot = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="gate_readings")
    rule = models.JSONField(help_text="The bar.")
    figures = models.JSONField(null=True, help_text="Figures of the closed pilot; null if it was not read.")
    method = models.CharField(max_length=60, blank=True, help_text="Rule of the agreement report.")
    outcome = models.CharField(max_length=20, choices=Outcome)
    why = models.TextField(blank=True, help_text="Why the bar is not met, or the lead's reason.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of pilot, rule, figures and method.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round"], condition=~Q(outcome="opened by a lead"), name="one_reading_per_round"
            ),
            models.CheckConstraint(condition=Q(outcome="met") | ~Q(why=""), name="an_unmet_gate_has_a_reason"),
        ]
        indexes = [models.Index(fields=["round", "id"], name="gate_reading_of_round")]

    def __str__(self) -> str:
        return f"reading of the gate of round {self.round}"
