"""Reviews, the studies they include, and the targets and inputs of the document and sentence levels."""

from django.db import models

from projects.models import Import, Project, Unit


class Review(models.Model):
    """A systematic review: the summary's source of truth."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reviews")
    pmid = models.CharField(max_length=40, help_text="PubMed id, or the id that the source file gives it.")
    title = models.TextField(blank=True)
    abstract = models.TextField(blank=True)
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="review")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "pmid"], name="one_review_per_pmid")]

    def __str__(self) -> str:
        return f"review {self.pmid}"


class Study(models.Model):
    """A primary study, included in one or more reviews of the project."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="studies")
    pmid = models.CharField(max_length=40)
    title = models.TextField(blank=True)
    abstract = models.TextField(blank=True)
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


class Target(models.Model):
    """What a summary should say, at document level (M3 level 1) or sentence level (M3 level 2)."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="targets")
    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="targets")
    level = models.CharField(max_length=10, choices=Level)
    key = models.CharField(max_length=60, help_text="M3's docid; no join key across levels.")
    position = models.PositiveIntegerField(help_text="Order in the published file.")
    text = models.TextField()
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="targets")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="target")

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["project", "level", "key"], name="one_target_per_key")]


class Input(models.Model):
    """One text that a document-level or sentence-level target must be derived from."""

    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="inputs")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="inputs")
    position = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["target_id", "position"]
        constraints = [models.UniqueConstraint(fields=["target", "position"], name="one_input_per_position")]
