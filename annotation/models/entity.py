"""Answers about the populations, interventions and outcomes that an abstract names."""

from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Unit

from .cluster import Element
from .corpus import Review, Study
from .labels import said_once

#: Elements that spans of an abstract name. MS^2 has no comparators.
SPAN_ELEMENTS = (Element.P, Element.I, Element.O)
SPAN_ELEMENT_CHOICES = [(element.value, element.label) for element in SPAN_ELEMENTS]


class AbstractUnit(AppendOnly):
    """The abstract of a review or a study as a unit."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="abstract")
    review = models.OneToOneField(Review, null=True, blank=True, on_delete=models.PROTECT, related_name="abstract_unit")
    study = models.OneToOneField(Study, null=True, blank=True, on_delete=models.PROTECT, related_name="abstract_unit")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(review__isnull=False, study__isnull=True) | Q(review__isnull=True, study__isnull=False),
                name="an_abstract_is_of_one_article",
            )
        ]

    @property
    def article(self) -> Review | Study:
        article = self.review or self.study
        assert article
        return article


class EntityReading(AppendOnly):
    """One answer about the spans of an abstract."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="entity_readings")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["id"]
        constraints = [*said_once("entity_reading")]


class EntitySpan(AppendOnly):
    """One marked span: a half-open range of the abstract's code points. Spans may overlap, nest and cross."""

    class Suggestion(models.TextChoices):
        """Outcome of a suggested span. A rejected one belongs to the answer, but not to its spans."""

        ACCEPTED = "accepted"
        EDITED = "edited"
        REJECTED = "rejected"

    reading = models.ForeignKey(EntityReading, on_delete=models.PROTECT, related_name="spans")
    element = models.CharField(max_length=1, choices=SPAN_ELEMENT_CHOICES)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    suggestion = models.CharField(
        max_length=8,
        choices=Suggestion,
        blank=True,
        help_text="Empty if the person marked the span without a suggestion.",
    )

    class Meta:
        ordering = ["reading_id", "start", "-end", "element", "id"]
        constraints = [
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="an_entity_span_is_not_empty"),
            models.UniqueConstraint(
                fields=["reading", "element", "start", "end"],
                condition=~Q(suggestion="rejected"),
                name="one_entity_span_per_range",
            ),
        ]
