"""What was said of a cluster's PICO tuple. The tuple in force stands on the cluster itself (`PicoSlot`)."""

from django.db import models
from django.db.models import F, Q

from projects.models import Answer, Import, Unit

from .cluster import Slot, StandsFor
from .labels import said_once


class PicoTuple(models.Model):
    """The four slots of a cluster's PICO tuple as one person, or an import, gave them."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="pico_tuples")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="pico_tuple")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = said_once("pico_tuple")


class SaidSlot(models.Model):
    """One slot as typed: implied text in [brackets], as M3 writes it; empty where it is blank."""

    slot = models.CharField(max_length=1, choices=Slot)
    text = models.TextField(blank=True)
    stands_for = models.CharField(max_length=10, choices=StandsFor, blank=True)

    class Meta:
        abstract = True


class SaidFragment(models.Model):
    """A piece of a text that was marked for a slot: a half-open range of Unicode code points."""

    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        abstract = True


class TupleSlot(SaidSlot):
    """One slot of a cluster's tuple."""

    pico_tuple = models.ForeignKey(PicoTuple, on_delete=models.PROTECT, related_name="slots")

    class Meta:
        ordering = ["pico_tuple_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["pico_tuple", "slot"], name="one_tuple_slot_each"),
            models.CheckConstraint(
                condition=Q(stands_for="") | Q(slot="c", text=""), name="only_a_blank_comparator_stands_for"
            ),
        ]


class TupleFragment(SaidFragment):
    """A piece of the target text of a cluster."""

    slot = models.ForeignKey(TupleSlot, on_delete=models.PROTECT, related_name="fragments")

    class Meta:
        ordering = ["slot_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "position"], name="one_tuple_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_tuple_fragment_is_not_empty"),
        ]
