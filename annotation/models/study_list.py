"""Which primary studies a review includes, as people listed them, and the links that follow from what was decided."""

from django.db import models

from projects.models import Answer, Unit

from .corpus import Review, Study


class AbstractMissing(models.TextChoices):
    """Why no abstract of a listed study can be had; a flow figure counts these."""

    OLD = "old", "Older than abstracts are"
    LANGUAGE = "other language", "In another language only"
    NONE = "no abstract", "Published without an abstract"


class StudyList(models.Model):
    """The included studies of one review, as one answer lists them."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="study_lists")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="study_list")
    without_pmid = models.PositiveSmallIntegerField(
        default=0, help_text="How many more studies it includes that PubMed does not have."
    )

    class Meta:
        ordering = ["id"]


class ListedStudy(models.Model):
    """One study of such a list, whether or not the project has it yet."""

    of = models.ForeignKey(StudyList, on_delete=models.PROTECT, related_name="listed")
    position = models.PositiveSmallIntegerField()
    pmid = models.CharField(max_length=10)
    missing = models.CharField(
        max_length=14,
        choices=AbstractMissing,
        blank=True,
        help_text="Why its abstract cannot be had; empty where it can.",
    )

    class Meta:
        ordering = ["of_id", "position"]
        constraints = [models.UniqueConstraint(fields=["of", "pmid"], name="one_listed_study_per_pmid")]


class DecidedLink(models.Model):
    """What a decision changed of the links between reviews and studies, so that taking it back restores what files and
    searches had brought: a link that it made (``is_linked``), or one that it took away."""

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="decided_links")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="decided_links")
    is_linked = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["review", "study"], name="one_decided_link_per_study")]
