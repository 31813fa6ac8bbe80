"""What was reckoned of several systems together, by whoever came last: tables only read it
(`generation.scoring.comparing`).

All of it can be reckoned anew from scores and likelihoods. ``rule``: how it was; by another one it counts as missing.
"""

from django.db import models

from projects.models import Project

from .probes import ProbeFigures
from .scores import Scoring
from .systems import UnitLevel


class ScoringComparison(models.Model):
    """Two scorings of one metric on the units that both have summaries of; ``first`` is the one with the lower id.

    ``rows``: a row a figure and kind of reference (`measures.comparison`).
    """

    first = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Scoring, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="one_comparison_of_two_scorings")]


class ProbeComparison(models.Model):
    """Two probes on the pairs that both have judged; ``first`` is the one with the lower id.

    ``rows``: a row a kind (and one over all) and figure.
    """

    first = models.ForeignKey(ProbeFigures, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(ProbeFigures, on_delete=models.CASCADE, related_name="+")
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["first", "second"], name="one_comparison_of_two_probes")]


class CommonProbe(models.Model):
    """The rows of Table 7 of all probes of a level, on the pairs that every one of them has judged.

    ``of``: digest of which probes these are, and of how many items each. ``rows``: run -> rows, as of one probe.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    level = models.CharField(max_length=20, choices=UnitLevel)
    of = models.CharField(max_length=64)
    rule = models.CharField(max_length=300)
    rows = models.JSONField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "level", "of"], name="one_common_table_of_probes")]
