"""The stored figures of what a judge is worth."""

from django.db import models

from .judges import JudgeRun


class JudgeFigures(models.Model):
    """What one judge run is worth beside the raters of its unblinded round.

    People's results are stored in `RatingFigures`, so that no judge changes them.
    """

    class Group(models.TextChoices):
        """Group of the raters. It sets epsilon of the alternative annotator test."""

        EXPERTS = "experts"
        SKILLED = "skilled"
        CROWD = "crowd"

    run = models.OneToOneField(JudgeRun, on_delete=models.PROTECT, related_name="figures")
    group = models.CharField(max_length=7, choices=Group)
    rule = models.TextField(help_text="Rule by which the figures were computed. Figures of another rule are outdated.")
    basis = models.JSONField(help_text="Counts of the data behind the figures.")
    # Text instead of JSON, because PostgreSQL would reorder the keys.
    figures = models.TextField()
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(group__in=["experts", "skilled", "crowd"]), name="judge_figures_group_is_known"
            )
        ]

    def __str__(self) -> str:
        return f"figures of {self.run}"
