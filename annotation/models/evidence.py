"""Evidence: sentences of a study that support a target, and inputs of a target that support each proposition."""

from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Unit

from .cluster import Cluster, EnteredElement, EnteredFragment, Proposition
from .corpus import Input, Study, Target
from .labels import said_once
from .sentence import Sentence


class EvidencePair(AppendOnly):
    """A target sentence and one study of its review.

    The pair persists if the target's text is corrected. ``target`` is the text for which the pair was created; the
    current one has the same key.
    """

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="evidence_pair")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="evidence_pairs")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="evidence_pairs")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["target", "study"], name="one_evidence_pair_per_study")]


class Support(AppendOnly):
    """One answer about a pair: the sentences that support the target, or none."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="supports")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="support")
    ranked = models.JSONField(
        default=list, help_text="Numbers of the sentences shown as ranks 1, 2 and 3. Empty if none were shown."
    )

    class Meta:
        ordering = ["id"]


class SupportSentence(AppendOnly):
    """One marked sentence."""

    support = models.ForeignKey(Support, on_delete=models.PROTECT, related_name="sentences")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="supports")

    class Meta:
        ordering = ["support_id", "id"]
        constraints = [models.UniqueConstraint(fields=["support", "sentence"], name="one_mark_per_supporting_sentence")]


class AssignedEvidence(AppendOnly):
    """One answer about a cluster: for each input of its target sentence, whether it supports the proposition."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="assigned_evidence")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="assigned_evidence")

    class Meta:
        ordering = ["id"]


class AssignedInput(AppendOnly):
    """The answer about one input."""

    class Judgement(models.TextChoices):
        SUPPORTS = "supports", "Supports this proposition"
        DOES_NOT = "does not", "Does not support it"

    assigned_evidence = models.ForeignKey(AssignedEvidence, on_delete=models.PROTECT, related_name="inputs")
    input = models.ForeignKey(Input, on_delete=models.PROTECT, related_name="+")
    judgement = models.CharField(max_length=8, choices=Judgement)

    class Meta:
        ordering = ["assigned_evidence_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["assigned_evidence", "input"], name="one_judgement_per_assigned_input")
        ]


class AssignedProposition(AppendOnly):
    """The input proposition that was created from a target's input. Typed or imported propositions have no such row."""

    proposition = models.OneToOneField(Proposition, on_delete=models.PROTECT, related_name="assigned")
    input = models.ForeignKey(Input, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]


class Ranking(models.Model):
    """The sentences of one study as one ranker ranks them for one target. It is recomputed if a text changes."""

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="rankings")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="rankings")
    ranker = models.CharField(max_length=200, help_text="Name of the ranker, with its settings.")
    texts = models.CharField(max_length=64, help_text="SHA-256 of the target and the compared sentences.")
    order = models.JSONField(help_text="Numbers of the sentences, most similar first.")
    similarities = models.JSONField(help_text="Similarities of the sentences, in the order of the abstract.")
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["target_id", "study_id", "ranker"]
        constraints = [models.UniqueConstraint(fields=["target", "study", "ranker"], name="one_ranking_per_ranker")]


class PicoSplit(AppendOnly):
    """One target sentence, split into propositions by a person or a file."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="pico_splits")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="pico_split")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = said_once("pico_split")


class SplitTuple(AppendOnly):
    """The tuple of one of the propositions; ``position`` is the order of writing."""

    split = models.ForeignKey(PicoSplit, on_delete=models.PROTECT, related_name="tuples")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["split_id", "position"]
        constraints = [models.UniqueConstraint(fields=["split", "position"], name="one_split_tuple_per_position")]


class SplitElement(EnteredElement):
    """One element of the tuple."""

    split_tuple = models.ForeignKey(SplitTuple, on_delete=models.PROTECT, related_name="elements")

    class Meta:
        ordering = ["split_tuple_id", "id"]
        constraints = [
            models.UniqueConstraint(fields=["split_tuple", "element"], name="one_split_element_each"),
            models.CheckConstraint(
                condition=Q(stands_for="") | Q(element="c", text=""), name="only_a_blank_split_comparator_stands_for"
            ),
        ]


class SplitFragment(EnteredFragment):
    """A piece of the target sentence."""

    element = models.ForeignKey(SplitElement, on_delete=models.PROTECT, related_name="fragments")

    class Meta:
        ordering = ["element_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["element", "position"], name="one_split_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_split_fragment_is_not_empty"),
        ]


class SplitCluster(AppendOnly):
    """The cluster that was created from a tuple when its split became current. Typed clusters have no such row."""

    cluster = models.OneToOneField(Cluster, on_delete=models.PROTECT, related_name="made_of")
    tuple = models.ForeignKey(SplitTuple, on_delete=models.PROTECT, related_name="clusters")

    class Meta:
        ordering = ["id"]
