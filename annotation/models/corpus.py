"""Reviews, the studies they include, and the targets and inputs of the document and sentence levels."""

from collections.abc import Iterable
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, NullIf

from audit.models import AppendOnly
from projects.models import ArrivedManager, Import, Project, Unit


class RecordStatus(models.TextChoices):
    """Status of an article's PubMed record. Only a record that was read can lack an abstract."""

    NOT_READ = "not read"
    READ = "read"
    NO_ABSTRACT = "no abstract"
    NOT_FOUND = "not found"


CREATED_BY_IMPORT = "Import that created the row; null if a search or a person did."


class Article(models.Model):
    """PubMed record of a review or a study."""

    title = models.TextField(blank=True)
    abstract = models.TextField(blank=True)
    year = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Year of publication.")
    publication_types = models.JSONField(default=list, blank=True)
    sections = models.JSONField(
        default=list,
        blank=True,
        help_text="Sections of a structured abstract: label, category, and start and end in code points.",
    )
    is_retracted = models.BooleanField(default=False)
    retraction_notice = models.CharField(
        max_length=300, blank=True, help_text="Retraction, partial retraction or expression of concern."
    )
    record = models.CharField(max_length=11, choices=RecordStatus, default=RecordStatus.NOT_READ)
    metadata = models.JSONField(
        default=dict, blank=True, help_text="Fields of the source that have no column, by format."
    )
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    class Meta:
        abstract = True


#: Reviews from PubMed, found by a search or imported from a file. Other reviews were imported with a data set.
RETRIEVED = ~Q(topic="") | ~Q(record=RecordStatus.NOT_READ)


class Review(Article):
    """A systematic review. It defines what a summary should say."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="reviews")
    pmid = models.CharField(max_length=40, help_text="PubMed id, or the id in the source file.")
    topic = models.CharField(max_length=120, blank=True, help_text="Topic of the review, named by the lead.")
    references = models.JSONField(default=list, blank=True, help_text="PubMed ids of the references.")
    citations = models.JSONField(default=dict, blank=True, help_text="How the review cites each study, by PubMed id.")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="review")

    objects = ArrivedManager["Review"]()
    with_arriving = models.Manager["Review"]()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["project", "pmid"], name="one_review_per_pmid")]
        # A large imported corpus has none. Without the index, each page of the workflow would read all its reviews.
        indexes = [models.Index(fields=["project"], name="review_retrieved", condition=RETRIEVED)]

    def __str__(self) -> str:
        return f"review {self.pmid}"

    def studies(self) -> "models.QuerySet[Study]":
        """Return the included studies in the order of the review."""
        rows = Study.objects.filter(inclusions__in=Inclusion.objects.included().filter(review=self))
        return rows.order_by("inclusions__position", "inclusions__pk")


class Study(Article):
    """A primary study, included in or cited by one or more reviews of the project (`Inclusion`)."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="studies")
    pmid = models.CharField(max_length=40)

    objects = ArrivedManager["Study"]()
    with_arriving = models.Manager["Study"]()

    class Meta:
        ordering = ["id"]
        verbose_name_plural = "studies"
        constraints = [models.UniqueConstraint(fields=["project", "pmid"], name="one_study_per_pmid")]

    def __str__(self) -> str:
        return f"study {self.pmid}"

    def reviews(self) -> models.QuerySet[Review]:
        """Return the reviews that include the study."""
        return Review.objects.filter(inclusions__in=Inclusion.objects.included().filter(study=self)).order_by("pk")


class Role(models.TextChoices):
    """Role of a study in a review."""

    INCLUDED = "included"
    #: The review cites the study, but does not include it. No summary is made from it, but its effects are input at the
    #: level of pairs.
    GENERAL = "general"


class InclusionQuerySet(models.QuerySet["Inclusion"]):
    def included(self) -> Self:
        """Exclude general references."""
        return self.filter(role=Role.INCLUDED)

    def next_positions(self, reviews: Iterable[int]) -> dict[int, int]:
        """Return the position after the last study of each review that has studies. One query."""
        rows = self.filter(review__in=list(reviews)).order_by().values_list("review")
        return dict(rows.annotate(following=models.Max("position") + 1))


class Inclusion(models.Model):
    """A study in a review: included, or a general reference."""

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="inclusions", db_index=False)
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="inclusions")
    position = models.PositiveIntegerField(help_text="Order of the study in the review, from 0.")
    role = models.CharField(max_length=8, choices=Role, default=Role.INCLUDED)
    metadata = models.JSONField(default=dict, blank=True, help_text="What this review says of the study.")
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text=CREATED_BY_IMPORT
    )

    objects = ArrivedManager.from_queryset(InclusionQuerySet)()
    with_arriving = models.Manager.from_queryset(InclusionQuerySet)()

    class Meta:
        ordering = ["review_id", "position", "id"]
        constraints = [models.UniqueConstraint(fields=["review", "study"], name="one_inclusion_per_study")]

    def __str__(self) -> str:
        return f"study {self.study_id} in review {self.review_id}"


class Level(models.TextChoices):
    DOCUMENT = "document"
    SENTENCE = "sentence"


class TargetQuerySet(models.QuerySet["Target"]):
    def current(self) -> Self:
        """Exclude texts that were superseded by a correction or removed."""
        return self.filter(unit__superseded_by=None)

    def stated(self) -> Self:
        """Exclude withheld targets, whose text is not known."""
        return self.filter(is_withheld=False)

    def in_place_of(self, targets: Iterable[int]) -> dict[int, int]:
        """Map the ids of these targets to the ids of the targets that replaced them. Two queries."""
        columns = ("project", "level", "key")
        keys = {pk: tuple(key) for pk, *key in self.filter(pk__in=list(targets)).values_list("pk", *columns)}
        rows = self.current().filter(key__in={key for *_, key in keys.values()}).values_list("pk", *columns)
        current_ids = {tuple(key): pk for pk, *key in rows}
        return {pk: current_ids[key] for pk, key in keys.items() if key in current_ids}


class Target(models.Model):
    """Text that a summary should contain, at document level (M3 level 1) or sentence level (M3 level 2).

    A text never changes. A correction is the next ``version`` under the same key, and the unit of the old text names
    its successor. The unit of a sentence that is no longer selected is superseded by the unit of its review.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="targets")
    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="targets")
    level = models.CharField(max_length=10, choices=Level)
    key = models.CharField(max_length=60, help_text="M3's docid. It does not join levels.")
    position = models.PositiveIntegerField(help_text="Order in the published file.")
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField()
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="targets")
    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="target")
    # Only targets selected from an abstract in a round know their sentence.
    sentence = models.ForeignKey("Sentence", null=True, blank=True, on_delete=models.PROTECT, related_name="targets")
    is_withheld = models.BooleanField(
        default=False, help_text="The text is kept secret, as in MSLR's test set. It is not stored."
    )

    objects = ArrivedManager.from_queryset(TargetQuerySet)()
    with_arriving = models.Manager["Target"]()

    class Meta:
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "level", "key", "version"], name="one_target_per_version"),
            models.CheckConstraint(condition=Q(is_withheld=False) | Q(text=""), name="a_withheld_target_has_no_text"),
        ]
        indexes = [models.Index(fields=["project", "level", "position"], name="target_in_order")]


class InputQuerySet(models.QuerySet["Input"]):
    def current(self) -> Self:
        """Exclude inputs that were replaced by a decision."""
        return self.filter(is_current=True)

    def with_source_text(self) -> "models.QuerySet[Any]":
        """Add ``source_text``: the input's own text, or else the abstract of its study. Read it, never ``text``.

        The abstract is looked up per input. For a join, PostgreSQL may read all studies, even for a few inputs.
        """
        own_text = NullIf("text", models.Value("", models.TextField()))
        abstract = Study.with_arriving.filter(pk=models.OuterRef("study")).order_by().values("abstract")
        return self.annotate(source_text=Coalesce(own_text, models.Subquery(abstract)))  # type: ignore[no-redef]


class _InputManager(ArrivedManager["Input"]):
    path = "target__imported"


class Input(models.Model):
    """One text that a document-level or sentence-level target must be derived from.

    It was typed, imported, composed of the study's sentences that support the target (``numbers``), or is the study's
    abstract (without a text of its own; see ``with_source_text``). A row changes only in ``is_current``. A decision on
    a target and a study replaces their earlier inputs.
    """

    target = models.ForeignKey(Target, on_delete=models.PROTECT, related_name="inputs")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="inputs")
    position = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Empty if it is the abstract of the study, which never changes.")
    numbers = models.JSONField(
        default=list,
        blank=True,
        help_text="Positions of the study's sentences that it was made from. Empty if unknown.",
    )
    is_current = models.BooleanField(default=True)
    source_text: str  #: Added by `InputQuerySet.with_source_text`.

    objects = _InputManager.from_queryset(InputQuerySet)()
    with_arriving = models.Manager["Input"]()

    class Meta:
        ordering = ["target_id", "position"]
        constraints = [models.UniqueConstraint(fields=["target", "position"], name="one_input_per_position")]


class FullText(AppendOnly):
    """Full text of a review from a file (JATS, the format of PubMed Central), with its source and licence.

    It is never released.
    """

    review = models.OneToOneField(Review, on_delete=models.PROTECT, related_name="full_text")
    imported = models.ForeignKey(Import, on_delete=models.PROTECT, related_name="full_texts")
    pmcid = models.CharField(max_length=20, blank=True, help_text="PubMed Central id.")
    doi = models.CharField(max_length=200, blank=True)
    licence = models.TextField(blank=True, help_text="Licence text of the file.")
    licence_url = models.CharField(max_length=300, blank=True)
    copyright = models.TextField(blank=True)
    sections = models.JSONField(
        help_text="Sections in order: title, text, and whether the title is about the included studies."
    )
    references = models.JSONField(
        help_text="References in order: text, PMID and DOI if given, and whether marked as an included study."
    )

    class Meta:
        ordering = ["review_id"]

    @property
    def source(self) -> str:
        """Return the URL of the article, or the name of the file if there is none."""
        if self.pmcid:
            return f"https://pmc.ncbi.nlm.nih.gov/articles/{self.pmcid}/"
        return f"https://doi.org/{self.doi}" if self.doi else self.imported.file_name
