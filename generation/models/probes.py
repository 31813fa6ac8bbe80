"""How likely a version finds targets and their counterfactuals."""

from django.db import models
from django.db.models import Q

from annotation.models import Counterfactual, Proposition

from .runs import Run, RunItem


class ProbeScore(models.Model):
    """The likelihood of one text given the inputs of one item: a target's, or one of its counterfactuals'.

    Sums are of negative log-likelihoods (nats) over as many tokens; ``content`` leaves out special tokens. ``changed``
    is over the content tokens of a counterfactual that its target does not have in that place, ``replaced`` over those
    of the target that it does without; a side may have no token. Never changed: triggers keep it.
    """

    item = models.ForeignKey(RunItem, on_delete=models.PROTECT, related_name="probe_scores")
    target = models.ForeignKey(Proposition, on_delete=models.PROTECT, related_name="probe_scores")
    counterfactual = models.ForeignKey(
        Counterfactual, null=True, blank=True, on_delete=models.PROTECT, related_name="probe_scores",
        help_text="Null: this is the target itself.",
    )  # fmt: skip
    content_sum = models.FloatField()
    content_tokens = models.PositiveIntegerField()
    all_sum = models.FloatField()
    all_tokens = models.PositiveIntegerField()
    changed_sum = models.FloatField(null=True, blank=True)
    changed_tokens = models.PositiveIntegerField(null=True, blank=True)
    replaced_sum = models.FloatField(null=True, blank=True)
    replaced_tokens = models.PositiveIntegerField(null=True, blank=True)
    token_ids = models.JSONField()
    nll = models.JSONField(help_text="Of each token, in nats.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["item", "counterfactual"], condition=Q(counterfactual__isnull=False),
                name="one_likelihood_per_counterfactual",
            ),
            models.UniqueConstraint(
                fields=["item", "target"], condition=Q(counterfactual__isnull=True), name="one_likelihood_per_target"
            ),
        ]  # fmt: skip


class ProbeFigures(models.Model):
    """What tables print of a probe, reckoned by a worker when its run ended, so that no table reads likelihoods.

    ``items``: the items that were done then. A run that is resumed or tried again has more of them in the end, and
    figures of its own for these: likelihoods only come, they never go. By another ``rule`` they are other figures, and
    those that are there stay: they are witnessed.
    """

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="probe_figures")
    items = models.PositiveIntegerField()
    rule = models.CharField(max_length=300, blank=True, default="", help_text="Empty: from before it was kept here.")
    rows = models.JSONField(help_text="A row a kind, and one over all, on each basis (measures.probe).")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["run_id", "items"]
        verbose_name_plural = "probe figures"
        constraints = [
            models.UniqueConstraint(fields=["run", "items", "rule"], name="one_reckoning_per_probe_and_items")
        ]
