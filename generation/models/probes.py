"""How likely a version finds targets and their counterfactuals."""

from django.db import models
from django.db.models import Q

from annotation.models import Counterfactual, Proposition

from .runs import RunItem


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
