"""Answers about the effect of an intervention on an outcome, as a review or one of its studies states it."""

from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Unit

from .corpus import Study
from .labels import said_once
from .reading import Direction, EffectPair
from .sentence import Sentence

#: The answer for a text that does not state the effect. MS^2's files have no such value.
NOT_REPORTED = "not reported"
JUDGED_DIRECTIONS = [*Direction.choices, (NOT_REPORTED, "Not reported")]


class EffectUnit(AppendOnly):
    """A pair of a review and a text that may state its effect: the abstract of the review, or of one of its studies."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="effect")
    pair = models.ForeignKey(EffectPair, on_delete=models.PROTECT, related_name="units", db_index=False)
    study = models.ForeignKey(
        Study,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="effect_units",
        help_text="Null: the abstract of the review.",
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["pair", "study"], name="one_effect_unit_per_pair_and_study"),
            models.UniqueConstraint(
                fields=["pair"], condition=Q(study__isnull=True), name="one_effect_unit_per_pair_and_review"
            ),
        ]


class JudgedEffect(AppendOnly):
    """One answer: the direction, and the sentence that shows it."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="judged_effects")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    direction = models.CharField(max_length=13, choices=JUDGED_DIRECTIONS)
    sentence = models.ForeignKey(Sentence, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    suggestion = models.CharField(
        max_length=8,
        choices=[("accepted", "Accepted"), ("edited", "Another value was given")],
        blank=True,
        help_text="Outcome of the suggestion, if one was shown.",
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            *said_once("judged_effect"),
            models.CheckConstraint(
                # The evidence of a model may not be in the abstract. People then choose the sentence.
                condition=Q(direction=NOT_REPORTED, sentence__isnull=True)
                | ~Q(direction=NOT_REPORTED) & Q(Q(sentence__isnull=False) | Q(imported__isnull=False)),
                name="an_effect_is_shown_by_a_sentence",
            ),
        ]
