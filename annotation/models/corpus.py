"""Reviews, the studies they include, and the targets and inputs of the document and sentence levels."""

from collections.abc import Iterable
from typing import Self

from django.db import models

from projects.models import Import, Project, Unit


class RecordStatus(models.TextChoices):
    """What is known of an article from PubMed. Only what was read can lack an abstract."""

    NOT_READ = "not read"
    READ = "read"
    NO_ABSTRACT = "no abstract"
    NOT_FOUND = "not found"


class Article(models.Model):
    """What PubMed says of an article, a review's and a study's alike."""

    title = models.TextField(blank=True)
    abstract = models.TextField(blank=True)
    year = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of publication.")
    publication_types = models.JSONField(default=list, blank=True)
    sections = models.JSONField(
        default=list, blank=True,
        help_text="Of a structured abstract: label, category, start and end in code points of the abstract.",
    )  # fmt: skip
    is_retracted = models.BooleanField(default=False)
    retraction_notice = models.CharField(max_length=300, blank=True, help_text="Where it was retracted.")
    record = models.CharField(max_length=11, choices=RecordStatus, default=RecordStatus.NOT_READ)

    class Meta:
        abstract = True


class Review(Article):
    """A systematic review: the summary's source of truth."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reviews")
    pmid = models.CharField(max_length=40, help_text="PubMed id, or the id that the source file gives it.")
    topic = models.CharField(max_length=120, blank=True, help_text="What it was searched for; named by the lead.")
    references = models.JSONField(default=list, blank=True, help_text="PubMed ids of what it cites.")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="review")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "pmid"], name="one_review_per_pmid")]

    def __str__(self) -> str:
        return f"review {self.pmid}"


class Study(Article):
    """A primary study, included in one or more reviews of the project."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="studies")
    pmid = models.CharField(max_length=40)
    reviews = models.ManyToManyField(Review, related_name="studies")

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=["project", "pmid"], name="one_study_per_pmid")]

    def __str__(self) -> str:
        return f"study {self.pmid}"


class Level(models.TextChoices):
    DOCUMENT = "document"
    SENTENCE = "sentence"


class TargetQuerySet(models.QuerySet["Target"]):
    def current(self) -> Self:
        """Without the texts that a corrected one has taken the place of, and without those that were taken out."""
        return self.filter(unit__superseded_by=None)

    def in_place_of(self, targets: Iterable[int]) -> dict[int, int]:
        """By the id of each of these targets the id of the one that is in its place now. Two queries."""
        place = ("project", "level", "key")
        asked = {pk: tuple(where) for pk, *where in self.filter(pk__in=list(targets)).values_list("pk", *place)}
        there = self.current().filter(key__in={key for *_, key in asked.values()}).values_list("pk", *place)
        now = {tuple(where): pk for pk, *where in there}
        return {pk: now[where] for pk, where in asked.items() if where in now}


class Target(models.Model):
    """What a summary should say, at document level (M3 level 1) or sentence level (M3 level 2).

    A text is never changed: a correction is the next ``version`` under the same key, and the old one's unit says by
    which unit it was superseded. That of a sentence that is picked no more was superseded by its review's.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="targets")
    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="targets")
    level = models.CharField(max_length=10, choices=Level)
    key = models.CharField(max_length=60, help_text="M3's docid; no join key across levels.")
    position = models.PositiveIntegerField(help_text="Order in the published file.")
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField()
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="targets")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="target")
    # Only what was picked from an abstract in a round knows its sentence.
    sentence = models.ForeignKey("Sentence", null=True, blank=True, on_delete=models.PROTECT, related_name="targets")

    objects = TargetQuerySet.as_manager()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "level", "key", "version"], name="one_target_per_version")
        ]


class InputQuerySet(models.QuerySet["Input"]):
    def current(self) -> Self:
        """Without those in whose place something else was decided."""
        return self.filter(is_current=True)


class Input(models.Model):
    """One text that a document-level or sentence-level target must be derived from.

    It was typed, came in a file, or was made of sentences of the study that were decided to support the target
    (``numbers``). A row is never changed but for ``is_current``: what is decided of a target and a study stands in the
    place of what they had.
    """

    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="inputs")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="inputs")
    position = models.PositiveIntegerField()
    text = models.TextField()
    numbers = models.JSONField(
        default=list, blank=True, help_text="Of the study's sentences that it was made of; empty where none are known."
    )
    is_current = models.BooleanField(default=True)

    objects = InputQuerySet.as_manager()

    class Meta:
        ordering = ["target_id", "position"]
        constraints = [models.UniqueConstraint(fields=["target", "position"], name="one_input_per_position")]
