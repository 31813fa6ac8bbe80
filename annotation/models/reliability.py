"""Reliability studies: rounds planned together to measure agreement."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer, Project, Round, Unit

from .corpus import Study, Target
from .sentence import Sentence


class ReliabilityStudy(models.Model):
    """Two reliability rounds over targets sampled with one seed: labels without cues, and matches to evidence."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reliability_studies")
    name = models.CharField(max_length=100)
    seed = models.PositiveBigIntegerField(help_text="Seed of both samples, the order and the candidates.")
    overlap = models.PositiveSmallIntegerField(help_text="Number of people who answer each target.")
    labels = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="+")
    matches = models.OneToOneField(Round, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    no_matches = models.TextField(blank=True, help_text="Reason why the study has no match round.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "reliability studies"
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="one_reliability_study_per_name"),
            models.CheckConstraint(
                condition=models.Q(matches__isnull=True) ^ models.Q(no_matches=""), name="without_matches_for_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_over(self) -> bool:
        """Return whether all rounds of the study are closed.

        Until then the seed is secret, because it determines the candidates' order.
        """
        return not any(round.is_open for round in (self.labels, self.matches) if round)


CANDIDATES = 4


class MatchItem(models.Model):
    """One target with four sentences of one study's abstract, as shown in one round.

    Created with the round, never changed.
    """

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="match_item")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="match_items")
    number = models.PositiveIntegerField(help_text="Number from 1, in the order of the questions.")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="match_items")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="match_items")
    nearest_by = models.CharField(max_length=200, help_text="Ranker that orders the sentences by similarity.")

    class Meta:
        ordering = ["round_id", "number"]
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="one_match_item_per_number")]


class MatchCandidate(models.Model):
    """A sentence that can be selected. ``rank`` is the ranker's rank among the four candidates."""

    item = models.ForeignKey(MatchItem, on_delete=models.CASCADE, related_name="candidates")
    position = models.PositiveSmallIntegerField(help_text="Number in the item, from 1. Answers use it.")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="match_candidates")
    is_gold = models.BooleanField()
    rank = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["item_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["item", "position"], name="one_match_candidate_per_position"),
            models.UniqueConstraint(fields=["item", "sentence"], name="a_sentence_is_a_candidate_once"),
            models.UniqueConstraint(fields=["item", "rank"], name="one_match_candidate_per_rank"),
            models.UniqueConstraint(fields=["item"], condition=Q(is_gold=True), name="one_gold_candidate"),
            models.CheckConstraint(
                condition=Q(position__range=(1, CANDIDATES), rank__range=(1, CANDIDATES)), name="four_match_candidates"
            ),
        ]


class Match(AppendOnly):
    """One answer: the candidate that is most relevant to the target's conclusion, by its number in the item."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="matches")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="match")
    most_relevant = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(most_relevant__range=(1, CANDIDATES)), name="a_match_is_one_of_four")
        ]
