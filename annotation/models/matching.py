"""Matching: four sentences of one abstract beside a target, of which one is its evidence, and which one people pick."""

from django.db import models
from django.db.models import Q

from projects.models import Answer, Round, Unit

from .corpus import Study, Target
from .sentence import Sentence

CANDIDATES = 4


class MatchItem(models.Model):
    """One target with four sentences of one study's abstract, as one round asks it. Laid out once, with the round."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="match_item")
    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="match_items")
    number = models.PositiveIntegerField(help_text="From 1, in the order in which it is asked.")
    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="match_items")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="match_items")
    nearest_by = models.CharField(max_length=200, help_text="The ranker that says which sentences are nearest.")

    class Meta:
        ordering = ["round_id", "number"]
        constraints = [models.UniqueConstraint(fields=["round", "number"], name="one_match_item_per_number")]


class MatchCandidate(models.Model):
    """A sentence that can be picked. ``rank``: its place among the four, by the ranker."""

    item = models.ForeignKey(MatchItem, on_delete=models.CASCADE, related_name="candidates")
    position = models.PositiveSmallIntegerField(help_text="Its number in the item, from 1: what answers call it by.")
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


class Match(models.Model):
    """Which of the four one answer says is most relevant to the target's conclusion, by its number in the item."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="matches")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="match")
    most_relevant = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(most_relevant__range=(1, CANDIDATES)), name="a_match_is_one_of_four")
        ]
