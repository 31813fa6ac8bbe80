"""Which sentences of a study support a target: the pairs that people are asked of, and what they said of each."""

from django.db import models

from projects.models import Answer, Unit

from .corpus import Study, Target
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
