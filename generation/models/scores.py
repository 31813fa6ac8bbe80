"""Models of scores: likelihoods and figures of probes, metric scores, and stored comparisons."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q

from annotation.models import Counterfactual, Proposition
from audit.models import AppendOnly
from projects.models import Job, Project, Unit

from .runs import Run, RunItem, Summary
from .systems import UnitLevel


class ProbeScore(AppendOnly):
    """The likelihood of one text given the inputs of one item: a target or one of its counterfactuals.

    Sums are negative log-likelihoods (nats) over the given numbers of tokens. ``content`` excludes special tokens.
    ``changed`` covers the content tokens of a counterfactual that its target lacks at that position. ``replaced``
    covers the tokens of the target that the counterfactual lacks. Either may be empty. Database triggers prevent
    changes.
    """

    item = models.ForeignKey(RunItem, on_delete=models.PROTECT, related_name="probe_scores")
    target = models.ForeignKey(Proposition, on_delete=models.PROTECT, related_name="probe_scores")
    counterfactual = models.ForeignKey(
        Counterfactual,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="probe_scores",
        help_text="Null for the target itself.",
    )
    content_sum = models.FloatField()
    content_tokens = models.PositiveIntegerField()
    all_sum = models.FloatField()
    all_tokens = models.PositiveIntegerField()
    changed_sum = models.FloatField(null=True, blank=True)
    changed_tokens = models.PositiveIntegerField(null=True, blank=True)
    replaced_sum = models.FloatField(null=True, blank=True)
    replaced_tokens = models.PositiveIntegerField(null=True, blank=True)
    token_ids = models.JSONField()
    nll = models.JSONField(help_text="Log-likelihood of each token, in nats.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "counterfactual"],
                condition=Q(counterfactual__isnull=False),
                name="one_likelihood_per_counterfactual",
            ),
            models.UniqueConstraint(
                fields=["item", "target"], condition=Q(counterfactual__isnull=True), name="one_likelihood_per_target"
            ),
        ]


class ProbeFigures(models.Model):
    """The figures of a probe for tables, computed by a worker when the run ends, so that tables read no likelihoods.

    ``items`` counts the items done at that time. A run that is resumed or retried completes more items and gets another
    row; likelihoods are never removed. A different ``rule`` also adds a row. Existing rows are kept, because integrity
    tracking covers them.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="probe_figures")
    items = models.PositiveIntegerField()
    rule = models.CharField(
        max_length=300, blank=True, default="", help_text="Empty for figures of older versions, which did not store it."
    )
    rows = models.JSONField(help_text="One row per kind and one over all kinds, on each basis (measures.probe).")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run_id", "items"]
        verbose_name_plural = "probe figures"
        constraints = [
            models.UniqueConstraint(fields=["run", "items", "rule"], name="one_reckoning_per_probe_and_items")
        ]


class ScoringQuerySet(models.QuerySet["Scoring"]):
    def complete(self) -> Self:
        return self.filter(finished_at__isnull=False)

    def latest_finished(self) -> Self:
        """Return the latest finished scoring of every run and metric, which tables use."""
        later = Scoring.objects.complete().filter(
            Q(finished_at__gt=OuterRef("finished_at")) | Q(finished_at=OuterRef("finished_at"), pk__gt=OuterRef("pk")),
            run=OuterRef("run"),
            metric=OuterRef("metric"),
        )
        return self.complete().filter(~Exists(later))


class Scoring(models.Model):
    """One metric with its parameters, applied to all summaries of a run.

    ``hash`` identifies the metric, parameters, library versions and summaries, so that equal work is not repeated.
    ``corpus`` holds corpus-level figures (corpus BLEU) with n. ``means`` holds the means for tables, computed when the
    scoring finishes (`generation.scoring.computing`), so that tables read no rows; null if not computed yet.
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
    """The scores of one summary, against one reference if the metric uses references.

    ``reference`` is the unit whose text was compared: the summary's own target or, for a document, each proposition of
    its review, in one row each. Null if the metric uses the summary, or the summary and its inputs, only. ``values``
    maps figures to numbers, or to null with the reason in ``undefined``.
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
                fields=["scoring", "summary", "reference"],
                condition=Q(reference__isnull=False),
                name="one_score_per_reference",
            ),
            models.UniqueConstraint(
                fields=["scoring", "summary"], condition=Q(reference__isnull=True), name="one_score_without_reference"
            ),
        ]


class ScoringComparison(models.Model):
    """Comparison of two scorings of one metric on their common units; ``first`` has the lower id.

    ``rows`` has one row per figure and kind of reference (`measures.comparison`).
    """

    first = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="one_comparison_of_two_scorings")]


class ProbeComparison(models.Model):
    """Comparison of two probes on their common pairs; ``first`` has the lower id.

    ``rows`` has one row per kind (and one overall) and figure.
    """

    first = models.ForeignKey(ProbeFigures, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(ProbeFigures, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="one_comparison_of_two_probes")]


class UnseenFigures(models.Model):
    """Figures without the units that the model of any system has seen, for tables (`generation.scoring.unseen`).

    ``of`` identifies the units that are left out, and the rules. ``key`` names the scorings or probes.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    key = models.CharField(max_length=60)
    of = models.CharField(max_length=64)
    content = models.JSONField()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "unseen figures"
        constraints = [models.UniqueConstraint(fields=["project", "key"], name="one_row_of_unseen_figures_per_key")]


class CommonProbe(models.Model):
    """The rows of Table 7 of all probes of a level, on the pairs that all of them judged.

    ``of`` is a digest of the probes and their numbers of items. ``rows`` maps runs to rows, as for one probe.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=20, choices=UnitLevel)
    of = models.CharField(max_length=64)
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "level", "of"], name="one_common_table_of_probes")]
