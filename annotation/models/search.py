"""Searches of PubMed, what they found, and how PubMed is asked."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from projects.models import Job, Project

from .corpus import Review


class Search(models.Model):
    """What was asked of PubMed: a query whose records become reviews, or PubMed ids that become studies of a review;
    with neither, studies that the project has by their ids alone."""

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
    date_from = models.DateField(null=True, blank=True, help_text="Of publication.")
    date_to = models.DateField(null=True, blank=True)
    translation = models.TextField(blank=True, help_text="The query as PubMed understood it.")
    found = models.PositiveIntegerField(null=True, blank=True, help_text="Null until PubMed has been asked.")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    error = models.TextField(blank=True, help_text="Why it stopped; in words for whoever asked.")
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
    """One PubMed id that a search found or was given, and what became of it."""

    class Outcome(models.TextChoices):
        WAITING = "waiting"
        NEW = "new"
        KNOWN = "known"
        MISSING = "missing"
        #: PubMed has a record of it that cannot be taken.
        UNFIT = "unfit"

    search = models.ForeignKey(Search, on_delete=models.CASCADE, related_name="hits")
    position = models.PositiveIntegerField()
    pmid = models.CharField(max_length=10)
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.WAITING)
    why = models.TextField(blank=True, help_text="Why its record cannot be taken.")

    class Meta:
        ordering = ["search_id", "position"]
        constraints = [models.UniqueConstraint(fields=["search", "pmid"], name="one_hit_per_pmid")]
        indexes = [models.Index(fields=["search", "outcome", "position"], name="hits_by_outcome")]


class PubMedAccess(models.Model):
    """By what address and key a person asks PubMed. The key is sealed with the installation's secret key."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    email = models.EmailField(max_length=254)
    sealed_key = models.TextField(blank=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "PubMed accesses"


class PubMedTurn(models.Model):
    """When the next request may be sent, by all workers together: without a key, and with each key."""

    key = models.CharField(max_length=64, primary_key=True)
    next_at = models.DateTimeField()
