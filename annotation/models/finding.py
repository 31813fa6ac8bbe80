"""Findings of consistency checks, and the curators' responses."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from projects.models import Project, Unit


class ConsistencyCheck(models.Model):
    """Time of the last consistency check of a project, by a job or a command."""

    project = models.OneToOneField(Project, on_delete=models.PROTECT, related_name="consistency_check")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"consistency of {self.project_id}"


class FindingQuerySet(models.QuerySet["Finding"]):
    def of(self, project: Project) -> Self:
        """Return the findings that the newest check still reports."""
        return self.filter(project=project, is_current=True)

    def waiting(self) -> Self:
        return self.filter(STATES["waiting"])


class Finding(models.Model):
    """A possible error in the current values, reported by a rule of `measures.consistency`.

    A finding is identified by its rule, units and values, so the curator's response persists over checks. A finding
    that a later check does not report is kept but not current.
    """

    class Decision(models.TextChoices):
        DISMISSED = "dismissed"
        SENT = "sent", "sent to review"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="findings")
    rule = models.CharField(max_length=40)
    identity = models.CharField(
        max_length=64, help_text="SHA-256 of the rule, the units and the values of the finding."
    )
    reason = models.TextField(help_text="Written description.")
    weight = models.FloatField(default=0.0)
    is_information = models.BooleanField(default=False, help_text="The finding may be intended.")
    position = models.PositiveIntegerField(help_text="Position in the newest check that reported it.")
    is_current = models.BooleanField(default=True)
    found_at = models.DateTimeField()
    decision = models.CharField(max_length=9, choices=Decision, blank=True)
    decision_reason = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    objects = FindingQuerySet.as_manager()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "identity"], name="one_finding_of_the_same"),
            models.CheckConstraint(
                condition=Q(decision="", decision_reason="", decided_at=None)
                | ~Q(decision="") & ~Q(decision_reason="") & Q(decided_at__isnull=False),
                name="a_decision_on_a_finding_has_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["project", "is_current", "position"], name="findings_in_order")]

    def __str__(self) -> str:
        return f"{self.rule} of project {self.project_id}"


#: Filters of findings by the name of their state.
STATES = {
    "waiting": Q(decision=""),
    "dismissed": Q(decision=Finding.Decision.DISMISSED),
    "sent": Q(decision=Finding.Decision.SENT),
}


class FindingUnit(models.Model):
    """One unit of a finding. The units of a finding never change."""

    finding = models.ForeignKey(Finding, on_delete=models.PROTECT, related_name="named")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="findings")
    position = models.PositiveIntegerField(help_text="Position in the finding.")

    class Meta:
        ordering = ["finding_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["finding", "position"], name="one_unit_per_place_in_a_finding"),
            models.UniqueConstraint(fields=["finding", "unit"], name="a_finding_names_a_unit_once"),
        ]

    def __str__(self) -> str:
        return f"finding {self.finding_id}, unit {self.unit_id}"
