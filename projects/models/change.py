"""What changed above a unit, or in its text: everything that was said of it before is stale until someone looks again.

Nothing is marked on the answers and decisions themselves, which never change. A *change* remembers how far they went:
an answer is stale when it was shown an earlier revision of the unit, a decision when it is not newer than the newest
one of that moment, or adopts a stale answer that no curator confirmed.
"""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from .decision import Decision, Origin
from .round import Unit


class ChangeQuerySet(models.QuerySet["Change"]):
    def newest(self) -> Self:
        """The newest change of each unit and kind; units that were superseded are left out."""
        later = Change.objects.filter(unit=OuterRef("unit"), kind=OuterRef("kind"), pk__gt=OuterRef("pk"))
        return self.filter(~Exists(later), unit__superseded_by=None)

    def unsettled(self) -> Self:
        """The newest changes after which nobody has decided anew: what is to be redone or confirmed."""
        fresh = Decision.objects.filter(
            # A curator has looked again, even where the answer that was taken is an old one.
            Q(answer=None) | Q(origin=Origin.CURATED) | Q(answer__shown__gte=OuterRef("revision")),
            unit=OuterRef("unit"), kind=OuterRef("kind"), pk__gt=OuterRef("decisions_up_to"),
        ).values_said()  # fmt: skip
        return self.newest().filter(~Exists(fresh))


class Change(models.Model):
    """One change of what a unit shows, for one task kind that had been asked of it. Never changed itself."""

    #: What changed where it is the unit's own text; else it is what a kind decides of another unit, by its key.
    TEXT = "text"
    #: Nothing changed: somebody doubts the value, and says why.
    DOUBT = "doubt"

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=30, help_text="The kind whose answers and decisions it makes stale.")
    revision = models.PositiveIntegerField(help_text="The unit's revision from then on: older ones shown are stale.")
    what = models.CharField(max_length=30, help_text="The text, or the kind by whose values the unit is judged.")
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = models.TextField()
    # Not a time: clocks go back, and a decision of the same moment must fall on one side.
    decisions_up_to = models.BigIntegerField(help_text="Id of the newest decision that had been made.")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = ChangeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "kind", "revision"], name="one_change_per_revision"),
            models.CheckConstraint(condition=~Q(reason=""), name="a_change_has_a_reason"),
        ]
        indexes = [models.Index(fields=["unit", "kind", "id"], name="change_of_unit")]

    def __str__(self) -> str:
        return f"change of {self.what}, unit {self.unit_id}"
