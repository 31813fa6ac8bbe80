"""PubMed searches, their records, access data and the rate limit; screenings and lists of included studies."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from projects.models import Answer, Import, Job, Project, Unit

from .corpus import Review, Study
from .labels import said_once


class Search(models.Model):
    """A request to PubMed.

    A query finds records that become reviews. PubMed ids become studies of a review. With neither, it reads studies
    that the project knows only by their ids.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        STOPPED = "stopped"
        FAILED = "failed"
        DONE = "done"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="searches")
    review = models.ForeignKey(Review, null=True, blank=True, on_delete=models.PROTECT, related_name="searches")
    topic = models.CharField(max_length=120, blank=True)
    query = models.TextField(blank=True)
    date_from = models.DateField(null=True, blank=True, help_text="Year of publication.")
    date_to = models.DateField(null=True, blank=True)
    translation = models.TextField(blank=True, help_text="Query as interpreted by PubMed.")
    found = models.PositiveIntegerField(null=True, blank=True, help_text="Null until PubMed has answered.")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    licence = models.CharField(max_length=120, blank=True, help_text="Licence of the records: an SPDX id or a name.")
    may_redistribute = models.BooleanField(null=True, blank=True, help_text="Whether it allows to redistribute texts.")
    error = models.TextField(blank=True, help_text="Reason for stopping, shown to the person who started it.")
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "searches"
        constraints = [
            models.CheckConstraint(
                condition=Q(review=None) | Q(query=""), name="a_search_is_a_query_or_the_ids_of_studies"
            )
        ]

    def __str__(self) -> str:
        return f"search {self.pk}"

    @property
    def finds_studies(self) -> bool:
        return not self.query


class Hit(models.Model):
    """One PubMed id that a search found or was given, and its outcome."""

    class Outcome(models.TextChoices):
        WAITING = "waiting"
        NEW = "new"
        KNOWN = "known"
        MISSING = "missing"
        #: PubMed has a record, but it cannot be imported.
        UNFIT = "unfit"

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="hits")
    position = models.PositiveIntegerField()
    pmid = models.CharField(max_length=10)
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.WAITING)
    why = models.TextField(blank=True, help_text="Reason why the record cannot be imported.")

    class Meta:
        ordering = ["search_id", "position"]
        constraints = [models.UniqueConstraint(fields=["search", "pmid"], name="one_hit_per_pmid")]
        indexes = [models.Index(fields=["search", "outcome", "position"], name="hits_by_outcome")]


class PubMedAccess(models.Model):
    """A person's e-mail address and API key for PubMed. The key is encrypted with the installation's secret key."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    email = models.EmailField(max_length=254)
    encrypted_key = models.TextField(blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "PubMed accesses"


class PubMedRateLimit(models.Model):
    """Time at which any worker may send the next request, per API key and for requests without a key."""

    key = models.CharField(max_length=64, primary_key=True)
    next_at = models.DateTimeField()


class Screened(models.TextChoices):
    """A review is included, or excluded for one reason. The flow figure counts exclusions by reason."""

    INCLUDE = "include"
    NOT_RELEVANT = "not relevant", "Not relevant to the topic"
    NOT_SYSTEMATIC = "not systematic", "No systematic review"
    NOT_INTERVENTION = "no intervention", "Not about the effect of an intervention"
    SUPERSEDED = "superseded", "Superseded by a later version"
    RETRACTED = "retracted", "Retracted or withdrawn"
    NO_FULL_TEXT = "no full text", "No full text available"
    NO_STUDIES = "no studies", "No included studies are listed"
    OTHER = "other", "Another reason (explain in a comment)"


class Screening(AppendOnly):
    """Whether one review belongs in the data set, from a person or a file."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="screenings")
    answer = models.OneToOneField(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="screening")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    screening = models.CharField(max_length=16, choices=Screened)

    class Meta:
        ordering = ["id"]
        constraints = said_once("screening")


class AbstractMissing(models.TextChoices):
    """Reason why a listed study has no abstract. The flow figure counts them."""

    OLD = "old", "Published before abstracts were usual"
    LANGUAGE = "other language", "Only in another language"
    NONE = "no abstract", "Published without an abstract"


class StudyList(AppendOnly):
    """The included studies of one review, as listed in one answer."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="study_lists")
    answer = models.OneToOneField(Answer, on_delete=models.PROTECT, related_name="study_list")
    without_pmid = models.PositiveSmallIntegerField(
        default=0, help_text="Number of included studies that are not in PubMed."
    )

    class Meta:
        ordering = ["id"]


class ListedStudy(AppendOnly):
    """One study of a list, whether or not the project has it yet."""

    study_list = models.ForeignKey(StudyList, on_delete=models.PROTECT, related_name="listed")
    position = models.PositiveSmallIntegerField()
    pmid = models.CharField(max_length=10)
    missing = models.CharField(
        max_length=14,
        choices=AbstractMissing,
        blank=True,
        help_text="Reason why there is no abstract. Empty if there is one.",
    )

    class Meta:
        ordering = ["study_list_id", "position"]
        constraints = [models.UniqueConstraint(fields=["study_list", "pmid"], name="one_listed_study_per_pmid")]


class DecidedLink(models.Model):
    """A link between a review and a study that a decision added (``is_linked``) or removed.

    Withdrawing the decision uses it to restore the links from files and searches.
    """

    review = models.ForeignKey(Review, on_delete=models.PROTECT, related_name="decided_links")
    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="decided_links")
    is_linked = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["review", "study"], name="one_decided_link_per_study")]
