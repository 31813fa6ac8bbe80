"""What models say about texts: readings, and the effects of interventions on outcomes.

A reading is no answer and no decision. It is shown as *machine*, and is current only where no person has decided.
Unlike answers, readings can be deleted while their import is arriving.
"""

from django.db import models
from django.db.models import Q

from projects.models import ArrivedManager, Import

from .corpus import CREATED_BY_IMPORT, Inclusion, Review, Study

#: The classes of sentences in the order of MS^2's files.
SENTENCE_CLASSES = (
    "EFFECT", "RECOMMENDATION", "BACKGROUND", "METHODS", "ETC", "EVIDENCE_QUALITY", "GOAL", "FURTHER_STUDY",
    "DETAILED_FINDINGS",
)  # fmt: skip


class ReadingTask(models.TextChoices):
    """What a model was asked about a text. The values of a reading depend on it."""

    #: ``{"sentences": [{"end", "class", "probabilities"}]}`` of an abstract, in order. ``end`` is an offset in code
    #: points; a sentence begins after the blank that follows the sentence before it. ``probabilities`` has the order of
    #: `SENTENCE_CLASSES`. ``tags``, if present, is the number of tags at ``end`` that belong to this sentence. If the
    #: sentences are not those of the abstract, each has its tagged ``text`` instead of ``end``.
    SENTENCES = "sentences", "Classes of sentences"
    #: ``{"tags": [[offset, characters]]}``: MS^2's tags, removed from the text (`measures.pio.untag`).
    PIO = "pio", "Populations, interventions and outcomes"
    #: ``{}``: the values are rows (`Effect`).
    EFFECTS = "effects", "Effects of interventions on outcomes"
    #: ``{"probability"}``: that the text is a review that is fit for the data set.
    SUITABILITY = "suitability", "Fitness of reviews"


class MachineReading(models.Model):
    """What one model says about one text: the abstract of a review or a study, or a study as included in a review.

    The values come from the files of an import, and ``weights`` is empty; or from a model that was run here, whose
    folder is the import. Readings of one text by different models are kept beside each other;
    `annotation.readings.current` chooses.
    """

    task = models.CharField(max_length=11, choices=ReadingTask)
    review = models.ForeignKey(
        Review, null=True, blank=True, on_delete=models.PROTECT, related_name="readings", db_index=False
    )
    study = models.ForeignKey(
        Study, null=True, blank=True, on_delete=models.PROTECT, related_name="readings", db_index=False
    )
    inclusion = models.ForeignKey(
        Inclusion, null=True, blank=True, on_delete=models.PROTECT, related_name="readings", db_index=False
    )
    values = models.JSONField(default=dict, blank=True, help_text="See `ReadingTask`.")
    model = models.CharField(max_length=200, blank=True, help_text="Name of the model, if it was run here.")
    weights = models.CharField(max_length=64, blank=True, help_text="SHA-256 of the model's files, if it was run here.")
    imported = models.ForeignKey(
        Import, on_delete=models.PROTECT, related_name="+", help_text="Import of the values, or of the model's folder."
    )

    objects = ArrivedManager["MachineReading"]()
    with_arriving = models.Manager["MachineReading"]()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(review__isnull=False, study__isnull=True, inclusion__isnull=True)
                | Q(review__isnull=True, study__isnull=False, inclusion__isnull=True)
                | Q(review__isnull=True, study__isnull=True, inclusion__isnull=False),
                name="a_reading_is_of_one_text",
            ),
            # MS^2 asks every study about the pairs of the review, so two reviews ask one study different questions.
            models.CheckConstraint(
                condition=~Q(task=ReadingTask.EFFECTS) | Q(study__isnull=True), name="effects_are_not_of_a_study"
            ),
            *(
                models.UniqueConstraint(
                    fields=[of, "task", "weights"],
                    condition=Q(**{f"{of}__isnull": False}),
                    name=f"one_reading_per_{of}_and_model",
                )
                for of in ("review", "study", "inclusion")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task} by {self.model or 'an import'}"


class EffectPair(models.Model):
    """An intervention and an outcome of a review. MS^2 asks the review and each of its studies about the pair."""

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="effect_pairs", db_index=False)
    position = models.PositiveIntegerField(help_text="Order in the review, from 0.")
    intervention = models.TextField()
    outcome = models.TextField()
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    objects = ArrivedManager["EffectPair"]()
    with_arriving = models.Manager["EffectPair"]()

    class Meta:
        ordering = ["review_id", "position"]
        constraints = [models.UniqueConstraint(fields=["review", "position"], name="one_effect_pair_per_position")]

    def __str__(self) -> str:
        return f"pair {self.position} of review {self.review_id}"


class Direction(models.TextChoices):
    """Rise or fall of an outcome under an intervention (`measures.direction.MS2_CLASSES`, in this order)."""

    DECREASED = "decreased", "Significantly decreased"
    NO_DIFFERENCE = "no difference", "No significant difference"
    INCREASED = "increased", "Significantly increased"


class _EffectManager(ArrivedManager["Effect"]):
    path = "reading__imported"


class Effect(models.Model):
    """What a model says about one pair: the probability of each direction, and the sentence that shows it.

    It belongs to a review or to an inclusion, through its reading. The evidence is a range of the abstract in code
    points. ``evidence`` is set only if the published sentence is spaced differently or does not occur in the abstract.
    """

    reading = models.ForeignKey(MachineReading, on_delete=models.PROTECT, related_name="effects", db_index=False)
    position = models.PositiveIntegerField(help_text="Order in the reading, from 0.")
    pair = models.ForeignKey(EffectPair, on_delete=models.PROTECT, related_name="effects")
    direction = models.CharField(max_length=13, choices=Direction, help_text="The most probable direction.")
    decreased = models.FloatField(help_text="Probability that the outcome decreases significantly.")
    no_difference = models.FloatField(help_text="Probability that there is no significant difference.")
    increased = models.FloatField(help_text="Probability that the outcome increases significantly.")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    evidence = models.TextField(blank=True)
    score = models.FloatField(help_text="Score of the evidence sentence, from 0 to 1. Low: the text may say nothing.")

    objects = _EffectManager()
    with_arriving = models.Manager["Effect"]()

    class Meta:
        ordering = ["reading_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["reading", "position"], name="one_effect_per_position"),
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lt=models.F("end")),
                name="evidence_of_an_effect_is_a_range",
            ),
        ]

    def __str__(self) -> str:
        return f"effect {self.position} of reading {self.reading_id}"
