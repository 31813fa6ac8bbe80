"""What was said of retrieved reviews: which belong in the data set, and why the others do not."""

from django.db import models

from projects.models import Answer, Import, Unit

from .labels import said_once


class Screened(models.TextChoices):
    """A review is included, or excluded for one reason; a flow figure counts the exclusions by it."""

    INCLUDE = "include"
    NOT_RELEVANT = "not relevant", "Not relevant to the topic"
    NOT_SYSTEMATIC = "not systematic", "No systematic review"
    NOT_INTERVENTION = "no intervention", "Not about the effect of an intervention"
    SUPERSEDED = "superseded", "Superseded by a later version"
    RETRACTED = "retracted", "Retracted or withdrawn"
    NO_FULL_TEXT = "no full text", "No full text can be had"
    NO_STUDIES = "no studies", "No included studies are listed"
    OTHER = "other", "Another reason (say it in a comment)"


class Screening(models.Model):
    """Whether one review belongs in the data set, as a person said or a file brought."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="screenings")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="screening")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    screening = models.CharField(max_length=16, choices=Screened)

    class Meta:
        ordering = ["id"]
        constraints = said_once("screening")
