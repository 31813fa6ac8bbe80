"""Reliability studies: rounds that were planned together to measure how far people agree."""

from django.conf import settings
from django.db import models

from projects.models import Project, Round


class ReliabilityStudy(models.Model):
    """Two rounds that measure only, over targets that one seed sampled: labels without cues, matches to evidence."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reliability_studies")
    name = models.CharField(max_length=100)
    seed = models.PositiveBigIntegerField(help_text="Of both samples, of the order, and of the candidates.")
    overlap = models.PositiveSmallIntegerField(help_text="How many people each target is asked of.")
    labels = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="+")
    matches = models.OneToOneField(Round, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    no_matches = models.TextField(blank=True, help_text="Why there is no round of matches.")
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
        """Whether nobody can answer any more: the seed tells in which order candidates stand."""
        return not any(round.is_open for round in (self.labels, self.matches) if round)
