"""What was said of two texts. Each row was said by an answer."""

from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer, Unit


class TextRating(AppendOnly):
    """How clear the target and the first input of a cluster are, 1 to 5 each, with a comment."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="text_ratings")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="text_rating")
    target = models.PositiveSmallIntegerField()
    input = models.PositiveSmallIntegerField()
    remark = models.TextField(blank=True)
    passages = models.JSONField(
        default=list, help_text="Unclear passages of the target, with their quotes. They may nest."
    )
    target_first = models.BooleanField(help_text="Whether the target stood first on the person's page.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(target__range=(1, 5), input__range=(1, 5)), name="points_are_of_one_to_five"
            )
        ]
