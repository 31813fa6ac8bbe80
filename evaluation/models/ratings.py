"""Ratings and preferences, and the stored results of a round."""

from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer

from .pages import PageText, RatingDesign


class RatingFigures(models.Model):
    """The stored results of one unblinded round, with the rule and the data that they are based on.

    Pages and tables read results only from here.
    """

    #: The kind of the job that computes the results.
    JOB = "rating_figures"

    design = models.OneToOneField(RatingDesign, on_delete=models.PROTECT, related_name="figures")
    rule = models.TextField(help_text="Rule by which the figures were computed. Figures of another rule are outdated.")
    basis = models.JSONField(
        help_text="Counts of the data behind the figures. The figures are current while they are equal."
    )
    # Text instead of JSON, because PostgreSQL would reorder the keys.
    figures = models.TextField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"figures of {self.design_id}"


class Within(models.TextChoices):
    """The text that contains a marked passage."""

    SUMMARY = "summary"
    SOURCE = "source"


class Preferred(models.TextChoices):
    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"
    NEITHER = "neither"


class Rating(AppendOnly):
    """The rating of one text by one criterion in an answer.

    ``position`` is the position of the text on the page, and ``number`` the position of the criterion. Both start at 0.
    """

    # Ratings are queried by answer and by text only, so other columns have no index.
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="ratings")
    text = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="ratings")
    position = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    criterion = models.CharField(max_length=40)
    value = models.TextField(blank=True, help_text="A value of the scale. Empty if not applicable.")
    is_na = models.BooleanField(default=False)
    is_prefilled = models.BooleanField(default=False, help_text="Suggested by an earlier answer and not changed.")
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "text", "criterion"], name="one_rating_per_criterion"),
            models.CheckConstraint(condition=Q(is_na=False) | Q(value=""), name="not_applicable_has_no_value"),
        ]


class RatingSpan(AppendOnly):
    """A passage that a rating marks or quotes. Offsets are code points of the displayed text."""

    rating = models.ForeignKey(Rating, on_delete=models.PROTECT, related_name="spans")
    is_quote = models.BooleanField(help_text="True for evidence of the rating, false for a part of the rated text.")
    within = models.CharField(max_length=7, choices=Within)
    study = models.PositiveSmallIntegerField(default=0, help_text="Index of the source, from 0.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    category = models.CharField(max_length=60, blank=True)
    severity = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=Q(end__gt=models.F("start")), name="a_span_has_a_length")]


class Preference(AppendOnly):
    """The preferred text of a pair by one criterion in an answer. Sides are those that the rater saw."""

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="preferences")
    left = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField()
    criterion = models.CharField(max_length=40)
    choice = models.CharField(max_length=7, choices=Preferred)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "criterion"], name="one_preference_per_criterion"),
            models.CheckConstraint(condition=Q(choice__in=Preferred.values), name="preference_is_known"),
        ]
