"""The sentences of abstracts, split once, and answers about the sentences of a review."""

from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Unit

from .corpus import Review, Study
from .labels import said_once


class Sentence(AppendOnly):
    """One sentence of the abstract of a review or a study, verbatim. Rows are insert-only.

    ``start`` and ``end`` are a half-open range of the abstract's code points. Headings of a structured abstract belong
    to no sentence. Wording is corrected in the `Target` made from a sentence, never here.
    """

    review = models.ForeignKey(Review, null=True, blank=True, on_delete=models.PROTECT, related_name="sentences")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.PROTECT, related_name="sentences")
    number = models.PositiveSmallIntegerField(help_text="Position in the abstract, from 1.")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    text = models.TextField()
    section = models.TextField(blank=True, help_text="Heading of the section. Empty if there is none.")
    category = models.CharField(max_length=20, blank=True, help_text="NLM's category of the section.")
    splitter = models.CharField(max_length=40, help_text="Rules by which the abstract was split (measures.sentences).")

    class Meta:
        ordering = ["review_id", "study_id", "number"]
        constraints = [
            models.CheckConstraint(
                condition=Q(review__isnull=False, study__isnull=True) | Q(review__isnull=True, study__isnull=False),
                name="a_sentence_is_of_one_article",
            ),
            models.CheckConstraint(condition=Q(start__lt=F("end")), name="a_sentence_is_not_empty"),
            models.UniqueConstraint(fields=["review", "number"], name="one_review_sentence_per_number"),
            models.UniqueConstraint(fields=["study", "number"], name="one_study_sentence_per_number"),
        ]


class RhetoricalClass(models.TextChoices):
    """Function of a sentence in a review's abstract: the nine classes of MS^2, under its own names."""

    BACKGROUND = "BACKGROUND", "Background"
    GOAL = "GOAL", "Goal"
    METHODS = "METHODS", "Methods"
    DETAILED_FINDINGS = "DETAILED_FINDINGS", "Detailed findings"
    EVIDENCE_QUALITY = "EVIDENCE_QUALITY", "Evidence quality"
    EFFECT = "EFFECT", "Effect"
    RECOMMENDATION = "RECOMMENDATION", "Recommendation"
    FURTHER_STUDY = "FURTHER_STUDY", "Further study"
    ETC = "ETC", "Anything else"


class EvidenceMark(models.TextChoices):
    """Whether a sentence becomes a target: selected, rejected for a reason although it bears evidence, or neither."""

    PICKED = "picked", "Bears evidence"
    OTHER_COMPARATOR = "other comparator", "Comparator differs from that of the studies"
    TABLE_DATA = "table data", "Table data: numbers by study"
    STATISTIC = "statistic", "Calculates a correlation or another statistic"
    AGGREGATION = "needs aggregation", "Holds only for all studies together"
    NO_SUPPORT = "no support", "No support in the abstracts of the studies"
    NEITHER = "neither", "Bears no evidence"


class Dropped(models.TextChoices):
    """Reason why a whole review has no evidence-bearing sentences to select from."""

    TOO_MANY_STUDIES = "too many studies", "Too many studies"


class AbstractReading(AppendOnly):
    """One answer about the sentences of a review's abstract: a class for each, or which of them bear evidence."""

    class Task(models.TextChoices):
        CLASSES = "sentence_classes", "a class for each sentence"
        EVIDENCE = "evidence_sentences", "which sentences bear evidence"

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="abstract_readings")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    task = models.CharField(max_length=20, choices=Task)
    dropped = models.CharField(max_length=16, choices=Dropped, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            *said_once("abstract_reading"),
            models.CheckConstraint(
                condition=Q(dropped="") | Q(task="evidence_sentences"), name="only_evidence_drops_a_review"
            ),
        ]


class SentenceMark(AppendOnly):
    """The value that one reading gives to one sentence: a class or an evidence mark, depending on its task."""

    reading = models.ForeignKey(AbstractReading, on_delete=models.PROTECT, related_name="marks")
    sentence = models.ForeignKey(Sentence, on_delete=models.PROTECT, related_name="marks")
    label = models.CharField(max_length=20, choices=[*RhetoricalClass.choices, *EvidenceMark.choices])

    class Meta:
        ordering = ["reading_id", "id"]
        constraints = [models.UniqueConstraint(fields=["reading", "sentence"], name="one_mark_per_sentence")]
