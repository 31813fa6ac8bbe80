"""What raters said. Every row was said by an answer, and none is ever changed."""

from django.db import models
from django.db.models import Q

from projects.models import Answer

from .pages import PageText


class Within(models.TextChoices):
    """Where a marked passage lies."""

    SUMMARY = "summary"
    SOURCE = "source"


class Preferred(models.TextChoices):
    LEFT = "left"
    RIGHT = "right"
    TIE = "tie"
    NEITHER = "neither"


class Rating(models.Model):
    """What one answer says of one text by one criterion. ``place``: which of the page's texts it was, from 0;
    ``number``: which of its criteria."""

    # Read by answer, and by text in results: no index on the rest.
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="ratings")
    text = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="ratings")
    place = models.PositiveSmallIntegerField()
    number = models.PositiveSmallIntegerField()
    criterion = models.CharField(max_length=30)
    value = models.TextField(blank=True, help_text="As the scale has it; empty where not applicable.")
    is_na = models.BooleanField(default=False)
    is_prefilled = models.BooleanField(default=False, help_text="As an earlier answer suggested, and left so.")
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "text", "criterion"], name="one_rating_per_criterion"),
            models.CheckConstraint(condition=Q(is_na=False) | Q(value=""), name="not_applicable_has_no_value"),
        ]


class RatingSpan(models.Model):
    """A passage that a rating marks or quotes, in code points of the text as shown."""

    rating = models.ForeignKey(Rating, on_delete=models.PROTECT, related_name="spans")
    is_quote = models.BooleanField(help_text="Evidence for the rating; else a part of what is rated.")
    within = models.CharField(max_length=7, choices=Within)
    study = models.PositiveSmallIntegerField(default=0, help_text="Of the source, from 0.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    category = models.CharField(max_length=60, blank=True)
    severity = models.CharField(max_length=60, blank=True)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=Q(end__gt=models.F("start")), name="a_span_has_a_length")]


class Preference(models.Model):
    """Which of two texts one answer prefers, by one criterion; the sides as the rater saw them."""

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="preferences")
    left = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="+")
    right = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField()
    criterion = models.CharField(max_length=30)
    choice = models.CharField(max_length=7, choices=Preferred)
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "criterion"], name="one_preference_per_criterion"),
            models.CheckConstraint(condition=Q(choice__in=Preferred.values), name="preference_is_known"),
        ]
