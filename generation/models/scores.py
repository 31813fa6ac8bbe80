"""What metrics say of summaries."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from projects.models import Job, Unit

from .runs import Run, Summary


class ScoringQuerySet(models.QuerySet["Scoring"]):
    def complete(self) -> Self:
        return self.filter(finished_at__isnull=False)

    def shown(self) -> Self:
        """Of every run and metric the finished one that was asked for last: what tables are made of."""
        later = Scoring.objects.complete().filter(
            Q(finished_at__gt=OuterRef("finished_at")) | Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk")),
            run=OuterRef("run"), metric=OuterRef("metric"),
        )  # fmt: skip
        return self.complete().filter(~Exists(later))


class Scoring(models.Model):
    """One metric with its parameters, applied to all summaries of a run.

    ``hash`` names metric, parameters, versions of libraries and the summaries it saw: the same again is not done twice.
    ``corpus``: what exists for all of them together only (corpus BLEU), with n. ``means``: what tables print of the
    rows, reckoned by whoever finished it (`generation.scoring.reckoning`), so that no table reads rows; null where that
    is still to be done.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="scorings")
    metric = models.CharField(max_length=30)
    params = models.JSONField(default=dict)
    libraries = models.JSONField(default=dict)
    hash = models.CharField(max_length=64)
    corpus = models.JSONField(default=dict)
    means = models.JSONField(null=True, blank=True)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = ScoringQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["run", "hash"], name="one_scoring_per_hash")]


class Score(models.Model):
    """What a metric says of one summary, against one reference where it compares.

    ``reference`` is the unit whose text it was compared with: the summary's own target, or, for a document, each of the
    propositions of its review, every one in a row of its own. Null where the metric looks at the summary (or at it and
    its inputs) alone. ``values``: figure -> number, or null with the reason in ``undefined``.
    """

    scoring = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="scores")
    summary = models.ForeignKey(Summary, on_delete=models.PROTECT, related_name="scores")
    reference = models.ForeignKey(Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    values = models.JSONField()
    undefined = models.JSONField(default=dict)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["scoring", "summary", "reference"], condition=Q(reference__isnull=False),
                name="one_score_per_reference",
            ),
            models.UniqueConstraint(
                fields=["scoring", "summary"], condition=Q(reference__isnull=True), name="one_score_without_reference"
            ),
        ]  # fmt: skip
