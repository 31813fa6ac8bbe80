"""What was said of a target sentence: the PICO tuples of the propositions that it makes, and the clusters of them."""

from django.db import models
from django.db.models import F, Q

from projects.models import Answer, Import, Unit

from .cluster import Cluster
from .labels import said_once
from .tuples import SaidFragment, SaidSlot


class PicoSplit(models.Model):
    """One target sentence as a person, or a file, split it into propositions."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="pico_splits")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="pico_split")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = said_once("pico_split")


class SplitTuple(models.Model):
    """The tuple of one of the propositions, in the order in which they were written."""

    split = models.ForeignKey(PicoSplit, on_delete=models.PROTECT, related_name="tuples")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["split_id", "position"]
        constraints = [models.UniqueConstraint(fields=["split", "position"], name="one_split_tuple_per_position")]


class SplitSlot(SaidSlot):
    """One slot of such a tuple."""

    of = models.ForeignKey(SplitTuple, on_delete=models.PROTECT, related_name="slots")

    class Meta:
        ordering = ["of_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["of", "slot"], name="one_split_slot_each"),
            models.CheckConstraint(
                condition=Q(stands_for="") | Q(slot="c", text=""), name="only_a_blank_split_comparator_stands_for"
            ),
        ]


class SplitFragment(SaidFragment):
    """A piece of the target sentence."""

    slot = models.ForeignKey(SplitSlot, on_delete=models.PROTECT, related_name="fragments")

    class Meta:
        ordering = ["slot_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["slot", "position"], name="one_split_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_split_fragment_is_not_empty"),
        ]


class SplitCluster(models.Model):
    """The cluster that was made of a tuple when it came into force. One that was typed by hand has no such row."""

    cluster = models.OneToOneField(Cluster, on_delete=models.PROTECT, related_name="made_of")
    tuple = models.ForeignKey(SplitTuple, on_delete=models.PROTECT, related_name="clusters")

    class Meta:
        ordering = ["id"]
