"""The values the project stands behind, per field. Append-only: the newest row of a field is in force."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import Leaf

from .answer import Answer
from .project import Import
from .round import Round, Unit


class Origin(models.TextChoices):
    IMPORTED = "imported"
    SINGLE = "single"
    UNANIMOUS = "unanimous"
    MAJORITY = "by majority"
    CURATED = "decided by a curator"
    # Not a value: the round left it to adjudication. What was in force before stays in force.
    CONTESTED = "contested"


class Decision(Leaf):
    """One value of one field of one unit, by pointing at the answer or the import that it adopts."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=30)
    field = models.CharField(max_length=30)
    origin = models.CharField(max_length=24, choices=Origin)
    answer = models.ForeignKey(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="a_decision_adopts_one_thing",
                condition=(
                    Q(origin="contested", answer__isnull=True, imported__isnull=True)
                    | Q(origin="imported", answer__isnull=True, imported__isnull=False)
                    | (~Q(origin__in=["contested", "imported"]) & Q(answer__isnull=False, imported__isnull=True))
                ),
            )
        ]
        indexes = [
            models.Index(fields=["unit", "kind", "field", "id"]),
            models.Index(fields=["id"], name="decision_unsealed", condition=Q(seal__isnull=True)),
        ]
