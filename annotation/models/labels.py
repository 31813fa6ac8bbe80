"""Labels with cues, and discourse relations. Each row comes from an answer or an import, never both."""

from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Unit


class Polarity(models.TextChoices):
    """Benefit or harm of the intervention for the outcome, relative to the comparator. M3 calls it direction."""

    POSITIVE = "positive"
    NO_EFFECT = "no effect"
    NEGATIVE = "negative"
    NOT_APPLICABLE = "n/a"


class Modality(models.TextChoices):
    """Strength of the claim, strongest first."""

    STRONG = "strong"
    MODERATE = "moderate"
    WEAK = "weak"
    NO_EVIDENCE = "no evidence"


#: The values of both fields for a text that states no result. They occur only together.
NOTHING_SAID = {"polarity": Polarity.NOT_APPLICABLE.value, "modality": Modality.NO_EVIDENCE.value}


def consistent() -> Q:
    """Condition on both columns, equal to `measures.consistency.labels.is_consistent`."""
    polarity, modality = (Q(**{field: value}) for field, value in NOTHING_SAID.items())
    return Q(**NOTHING_SAID) | ~polarity & ~modality


class Relation(models.TextChoices):
    AGREEMENT = "agreement"
    CONTRADICTION = "contradiction"


def said_once(name: str) -> list[models.BaseConstraint]:
    """Return the constraints of a detail row: it has exactly one source, and one row per unit and import."""
    return [
        models.CheckConstraint(
            condition=Q(answer__isnull=False, imported__isnull=True) | Q(answer__isnull=True, imported__isnull=False),
            name=f"{name}_has_one_source",
        ),
        models.UniqueConstraint(fields=["unit", "imported"], name=f"one_{name}_per_import"),
    ]


class Label(AppendOnly):
    """Polarity and modality of one proposition. The polarity is ``n/a`` exactly if the modality is ``no evidence``."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="labels")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="label")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="labels")
    polarity = models.CharField(max_length=12, choices=Polarity)
    modality = models.CharField(max_length=12, choices=Modality)
    # Numbers of accepted, edited and rejected candidate cues; null if none were shown.
    suggestions_accepted = models.PositiveSmallIntegerField(null=True, blank=True)
    suggestions_edited = models.PositiveSmallIntegerField(null=True, blank=True)
    suggestions_rejected = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            *said_once("label"),
            models.CheckConstraint(condition=consistent(), name="not_applicable_exactly_without_evidence"),
        ]


class Cue(AppendOnly):
    """The text that shows a polarity or a modality.

    Imported cues keep the published text verbatim. ``found`` tells how it was located in the proposition: exactly,
    ignoring case, or not at all. If ``occurrences`` is above 1, the cue is ambiguous and its first occurrence was
    taken.
    """

    class Aspect(models.TextChoices):
        POLARITY = "polarity"
        MODALITY = "modality"

    class Found(models.TextChoices):
        SELECTED = "selected", "marked by a person"
        EXACT = "exact"
        CASE = "case", "ignoring case"
        ABSENT = "absent"

    label = models.ForeignKey(Label, on_delete=models.PROTECT, related_name="cues")
    aspect = models.CharField(max_length=8, choices=Aspect)
    text = models.TextField(help_text="Text as published, or the marked parts joined by ' ... '.")
    found = models.CharField(max_length=8, choices=Found)
    occurrences = models.PositiveSmallIntegerField(default=1)

    class Meta:
        ordering = ["label_id", "aspect"]
        constraints = [
            models.UniqueConstraint(fields=["label", "aspect"], name="one_cue_per_aspect"),
            models.CheckConstraint(condition=~Q(text=""), name="a_cue_is_not_empty"),
        ]


class CueFragment(AppendOnly):
    """One piece of a cue: a half-open range of Unicode code points of the proposition's text, with its quote."""

    cue = models.ForeignKey(Cue, on_delete=models.PROTECT, related_name="fragments")
    position = models.PositiveSmallIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()

    class Meta:
        ordering = ["cue_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["cue", "position"], name="one_cue_fragment_per_position"),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_cue_fragment_is_not_empty"),
        ]


class Fate(models.TextChoices):
    """Outcome of a suggestion that was shown."""

    ACCEPTED = "accepted"
    EDITED = "edited", "another value was given"


class DiscourseLabel(AppendOnly):
    """Agreement or contradiction between the inputs of one cluster."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="discourse_labels")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="discourse")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    relation = models.CharField(max_length=13, choices=Relation)
    suggestion = models.CharField(
        max_length=8,
        choices=Fate,
        blank=True,
        help_text="What the person did with the suggestion. Empty if none was shown.",
    )

    class Meta:
        ordering = ["id"]
        constraints = said_once("discourse_label")
