"""Counterfactuals as units of their own: what a second person labels without knowing the target or the kind."""

from django.db import models

from projects.models import Unit

from .counterfactual import Counterfactual


class RewrittenText(models.Model):
    """One version of a counterfactual that is to be labelled blind. Its text is the counterfactual's."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="rewritten_text")
    counterfactual = models.OneToOneField(Counterfactual, on_delete=models.PROTECT, related_name="rewritten_text")

    class Meta:
        ordering = ["id"]
