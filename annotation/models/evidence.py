"""Which sentences of a study support a target, pair by pair; and which of its inputs support each proposition."""

from django.db import models

from projects.models import Answer, Unit

from .cluster import Proposition
from .corpus import Input, Study, Target
from .sentence import Sentence


class EvidencePair(models.Model):
    """A target sentence and one study of its review. It stays where the target's text is corrected: ``target`` is the
    text of which the pair was made, and the one in force stands under the same key."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="evidence_pair")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="evidence_pairs")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="evidence_pairs")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["target", "study"], name="one_evidence_pair_per_study")]


class Support(models.Model):
    """What a person said of one pair: the sentences that support the target, or none."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="supports")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="support")
    ranked = models.JSONField(
        default=list, help_text="The numbers of the sentences that were shown as ranks 1, 2, 3; empty where none were."
    )

    class Meta:
        ordering = ["id"]


class SupportSentence(models.Model):
    """One sentence that was marked."""

    support = models.ForeignKey(Support, on_delete=models.PROTECT, related_name="sentences")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="supports")

    class Meta:
        ordering = ["support_id", "id"]
        constraints = [models.UniqueConstraint(fields=["support", "sentence"], name="one_mark_per_supporting_sentence")]


class AssignedEvidence(models.Model):
    """What a person said of a cluster: of each input of its target sentence, whether it supports the proposition."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="assigned_evidence")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="assigned_evidence")

    class Meta:
        ordering = ["id"]


class AssignedInput(models.Model):
    """What was said of one input."""

    class Said(models.TextChoices):
        SUPPORTS = "supports", "Supports this proposition"
        DOES_NOT = "does not", "Does not support it"

    of = models.ForeignKey(AssignedEvidence, on_delete=models.PROTECT, related_name="inputs")
    input = models.ForeignKey(Input, on_delete=models.PROTECT, related_name="+")
    said = models.CharField(max_length=8, choices=Said)

    class Meta:
        ordering = ["of_id", "id"]
        constraints = [models.UniqueConstraint(fields=["of", "input"], name="one_assignment_per_input")]


class AssignedProposition(models.Model):
    """The input proposition that was made of a target's input. One that was typed, or brought by a file, has none."""

    proposition = models.OneToOneField(Proposition, on_delete=models.PROTECT, related_name="assigned")
    input = models.ForeignKey(Input, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
