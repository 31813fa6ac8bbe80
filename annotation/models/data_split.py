"""Splits of a data set into parts, such as training, development and test data."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Project, Unit


class SplitLevel(models.TextChoices):
    """The items that a split divides. Names and keys are those of the levels of runs."""

    PROPOSITION = "proposition", "Clusters"
    SENTENCE = "sentence", "Target sentences"
    DOCUMENT = "document", "Documents"
    REVIEW = "review", "Reviews"
    QUESTION = "question", "Questions"


class SplitMode(models.TextChoices):
    """How the parts of a split are found."""

    STRICT = "strict", "By component"
    DROP = "drop", "By component, without named reviews"
    GIVEN = "given", "As in the imported data"
    IMPORTED = "imported", "From a file"


class DataSplitQuerySet(models.QuerySet["DataSplit"]):
    def current(self) -> Self:
        """Exclude splits that were discarded."""
        return self.filter(discarded_at=None)


class DataSplit(models.Model):
    """A division of the units of one level into parts. Only ``first_release`` and ``discarded_at`` change.

    Units that are added to the project later are in no part.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="splits", db_index=False)
    name = models.SlugField(max_length=40, db_index=False)
    level = models.CharField(max_length=11, choices=SplitLevel)
    mode = models.CharField(max_length=8, choices=SplitMode)
    seed = models.PositiveBigIntegerField(help_text="Seed of the order of equal components.")
    parts = models.JSONField(help_text="Name and share of each part, in order. The share is null if none was asked.")
    options = models.JSONField(default=dict, help_text="What was asked: strata, topics, near texts, dropped reviews.")
    report = models.JSONField(help_text="Components, strata, and leakage per pair of parts, at the time of creation.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the rows of its file in a release.")
    first_release = models.CharField(max_length=40, blank=True, help_text="First release that has it. Empty if none.")
    discarded_at = models.DateTimeField(null=True, blank=True, help_text="No later release has it.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DataSplitQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            # The name of a released split never gets another content.
            models.UniqueConstraint(
                fields=["project", "name"],
                condition=Q(discarded_at=None) | ~Q(first_release=""),
                name="one_split_per_name",
            )
        ]

    def __str__(self) -> str:
        return self.name


class SplitUnit(AppendOnly):
    """A unit in a part of a split, with its key and review at that time."""

    split = models.ForeignKey(DataSplit, on_delete=models.PROTECT, related_name="units", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="split_units")
    key = models.CharField(max_length=200, help_text="Key of the unit in the files of a release.")
    review = models.CharField(max_length=60, help_text="PubMed id of the review, or key of the question.")
    part = models.CharField(max_length=40)
    component = models.PositiveIntegerField(help_text="Number of its component, from 1; the largest is 1.")

    class Meta:
        ordering = ["split_id", "id"]
        constraints = [models.UniqueConstraint(fields=["split", "unit"], name="one_part_per_unit")]

    def __str__(self) -> str:
        return f"{self.key} in {self.part}"
