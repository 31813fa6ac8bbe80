"""Clusters: a PICO tuple, its target proposition and the input propositions that share the tuple (M3 level 3)."""

from typing import Self

from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Answer, ArrivedManager, Import, Project, Unit
from sql.expressions import fold_case

from .corpus import Review, Study, Target
from .labels import said_once


class ClusterQuerySet(models.QuerySet["Cluster"]):
    def current(self) -> Self:
        """Exclude retired clusters."""
        return self.filter(unit__superseded_by=None)

    def found_by(self, words: str) -> Self:
        """Filter clusters whose id, tuple or texts contain the words in this order, ignoring case."""
        return self.filter(search__contains=fold_case(words.strip())) if words.strip() else self


class Cluster(models.Model):
    """A target proposition and the input propositions that share its PICO tuple."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="clusters")
    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="clusters")
    key = models.CharField(max_length=60, help_text="M3's docid, PMID_n.")
    position = models.PositiveIntegerField(help_text="Order in the published file and in a release.")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="clusters")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="cluster")
    # The levels of an imported data set share no key, so only clusters created in Concord know their sentence.
    sentence = models.ForeignKey(Target, null=True, blank=True, on_delete=models.PROTECT, related_name="clusters")
    # Key, tuple, texts and study ids in one casefolded column, because databases differ on case beyond ASCII.
    search = models.TextField(blank=True, editable=False, help_text="Text that the search uses, folded.")

    objects = ArrivedManager.from_queryset(ClusterQuerySet)()
    with_arriving = models.Manager["Cluster"]()

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_cluster_per_key")]
        indexes = [models.Index(fields=["project", "position"])]

    def __str__(self) -> str:
        return f"cluster {self.key}"


class Element(models.TextChoices):
    """The four PICO elements."""

    P = "p", "Population"
    I = "i", "Intervention"  # noqa: E741 - the field's own letter
    C = "c", "Comparator"
    O = "o", "Outcome"  # noqa: E741


class PicoForm(models.TextChoices):
    """How an element's text relates to the target text."""

    EXPLICIT = "explicit"
    REWORDED = "reworded"
    IMPLIED = "implied"
    PARTLY_IMPLIED = "partly implied"
    BLANK = "blank"


class StandsFor(models.TextChoices):
    """Meaning of a blank comparator. M3's files do not distinguish them."""

    PLACEBO = "placebo"
    NONE = "none"
    NOT_STATED = "not stated"


class PicoElement(models.Model):
    """One element of a cluster's PICO tuple, its text exactly as given. M3 writes implied text in [brackets]."""

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="pico")
    element = models.CharField(max_length=1, choices=Element)
    form = models.CharField(max_length=14, choices=PicoForm)
    text = models.TextField(blank=True)
    stands_for = models.CharField(max_length=10, choices=StandsFor, blank=True)

    class Meta:
        ordering = ["cluster_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["cluster", "element"], name="one_pico_element_each"),
            models.CheckConstraint(
                condition=Q(form="blank", text="") | ~Q(form="blank") & ~Q(text=""), name="a_blank_element_has_no_text"
            ),
        ]


class PicoFragment(models.Model):
    """Position of an explicit element in the target text: a half-open range of Unicode code points."""

    element = models.ForeignKey(PicoElement, on_delete=models.CASCADE, related_name="fragments")
    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()

    class Meta:
        ordering = ["element_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["element", "position"], name="one_pico_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_pico_fragment_is_not_empty"),
        ]


class PropositionQuerySet(models.QuerySet["Proposition"]):
    def current(self) -> Self:
        """Exclude texts that were superseded by a correction."""
        return self.filter(unit__superseded_by=None)

    def in_corpus_order(self) -> Self:
        return self.order_by("cluster__position", "cluster_id", "position")


class _PropositionManager(ArrivedManager["Proposition"]):
    path = "cluster__imported"


class Proposition(models.Model):
    """One claim. ``position`` 0 is the cluster's target; its inputs follow from 1 in file order.

    A text never changes. A correction is the next ``version`` at the same position, and the unit of the old text names
    its successor.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="propositions")
    position = models.PositiveIntegerField()
    version = models.PositiveSmallIntegerField(default=1)
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.PROTECT, related_name="propositions")
    text = models.TextField()
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="proposition")

    objects = _PropositionManager.from_queryset(PropositionQuerySet)()
    with_arriving = models.Manager["Proposition"]()

    class Meta:
        ordering = ["cluster_id", "position", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "position", "version"], name="one_proposition_per_position_and_version"
            ),
            models.CheckConstraint(
                condition=Q(position=0, study__isnull=True) | Q(position__gte=1, study__isnull=False),
                name="inputs_have_a_study_and_targets_none",
            ),
        ]

    @property
    def is_target(self) -> bool:
        return self.position == 0


class PicoTuple(AppendOnly):
    """The four elements of a cluster's PICO tuple, as one person or one import gave them."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="pico_tuples")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="pico_tuple")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = said_once("pico_tuple")


class EnteredElement(AppendOnly):
    """One element as typed: implied text in [brackets], as M3 writes it; empty if it is blank."""

    element = models.CharField(max_length=1, choices=Element)
    text = models.TextField(blank=True)
    stands_for = models.CharField(max_length=10, choices=StandsFor, blank=True)

    class Meta:
        abstract = True


class EnteredFragment(AppendOnly):
    """A piece of a text that was marked for an element: a half-open range of Unicode code points."""

    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        abstract = True


class TupleElement(EnteredElement):
    """One element of a cluster's tuple."""

    pico_tuple = models.ForeignKey(PicoTuple, on_delete=models.PROTECT, related_name="elements")

    class Meta:
        ordering = ["pico_tuple_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["pico_tuple", "element"], name="one_tuple_element_each"),
            models.CheckConstraint(
                condition=Q(stands_for="") | Q(element="c", text=""), name="only_a_blank_comparator_stands_for"
            ),
        ]


class TupleFragment(EnteredFragment):
    """A piece of the target text of a cluster."""

    element = models.ForeignKey(TupleElement, on_delete=models.PROTECT, related_name="fragments")

    class Meta:
        ordering = ["element_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["element", "position"], name="one_tuple_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_tuple_fragment_is_not_empty"),
        ]
