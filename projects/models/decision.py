"""The values the project stands behind, per field. Append-only: the newest row of a field that is no contest counts."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, OuterRef, Q, Subquery

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
    # Not a value either: what a curator had decided was taken back, and nothing had been in force before.
    REOPENED = "reopened"


#: What says no value and waits for a curator.
WAITING = (Origin.CONTESTED, Origin.REOPENED)


class DecisionQuerySet(models.QuerySet["Decision"]):
    # Which one is newest is looked up for each row, by the index of unit, kind and field. As a join it would be left to
    # what PostgreSQL knows of the tables, and so would be a walk along the primary key: hence `id + 0`, and no order
    # of the whole (docs/decisions/0027-in-force.md).

    def values_said(self) -> Self:
        """Without contests and what was taken back, which say no value."""
        return self.exclude(origin__in=WAITING)

    def in_question(self) -> Self:
        """What the newest of says whether a value is in force, and which: a contest leaves that as it was."""
        return self.exclude(origin=Origin.CONTESTED)

    def in_force(self) -> Self:
        """The newest decision of each unit, kind and field that has a value in force, in no order."""
        return self.values_said()._newest(Decision.objects.in_question())

    def contested(self) -> Self:
        """What is the newest word on its field and says no value: it waits for a curator. In no order."""
        return self.filter(origin__in=WAITING)._newest(Decision.objects.all())

    def newest_first(self) -> Self:
        """For a subquery that takes the first."""
        return self.order_by((F("id") + 0).desc())

    def _newest(self, among: "DecisionQuerySet") -> Self:
        same = among.filter(unit=OuterRef("unit"), kind=OuterRef("kind"), field=OuterRef("field"))
        return self.filter(id=Subquery(same.newest_first().values("id")[:1])).order_by()


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

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="a_decision_adopts_one_thing",
                condition=(
                    Q(origin__in=["contested", "reopened"], answer__isnull=True, imported__isnull=True)
                    | Q(origin="imported", answer__isnull=True, imported__isnull=False)
                    | (
                        ~Q(origin__in=["contested", "reopened", "imported"])
                        & Q(answer__isnull=False, imported__isnull=True)
                    )
                ),
            )
        ]
        indexes = [
            models.Index(fields=["unit", "kind", "field", "id"]),
            models.Index(fields=["id"], name="decision_unsealed", condition=Q(seal__isnull=True)),
            # Few decisions are contests, and every unit of a corpus is asked for one.
            models.Index(fields=["unit"], name="decision_waiting", condition=Q(origin__in=["contested", "reopened"])),
        ]

    @property
    def says_a_value(self) -> bool:
        return self.origin not in WAITING
