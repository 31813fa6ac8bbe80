"""The design of a rating round: compared systems, sources, pages and texts."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly
from generation.models import Run, Summary
from projects.models import Round, Unit

from .protocols import ProtocolVersion


class RatingDesign(models.Model):
    """The design of one round, frozen when its pages are created.

    `evaluation.design.stored` compares the stored rows with ``digest`` before results are computed from them.
    """

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="rating_design")
    version = models.ForeignKey(ProtocolVersion, on_delete=models.PROTECT, related_name="designs")
    plan = models.JSONField(help_text="Compared systems, sources, pages and rules of the design.")
    secret = models.CharField(
        max_length=32,
        blank=True,
        default="",
        help_text="Random value, hidden until the round is unblinded. Older rounds have none.",
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of the plan and the name of its rules.")

    def __str__(self) -> str:
        return f"design of {self.round}"

    @property
    def whole(self) -> dict[str, Any]:
        """The plan together with the secret. This is what the digest covers."""
        return {**self.plan, **({"secret": self.secret} if self.secret else {})}


class Unblinding(AppendOnly):
    """A record that a closed round was unblinded. From then on, its results show which system wrote each text."""

    design = models.OneToOneField(RatingDesign, on_delete=models.PROTECT, related_name="unblinding")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()


class ComparedSystem(models.Model):
    """A system under comparison.

    Without a run, it represents the reference summaries or a system that imported ratings name.
    """

    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="systems")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120, help_text="Name in tables.")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="compared_systems")

    class Meta:
        ordering = ["design_id", "number"]
        constraints = [models.UniqueConstraint(fields=["design", "number"], name="one_system_per_number")]


class RatingSource(models.Model):
    """The source of some pages, as raters see it, and the target of their texts."""

    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="sources")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="rating_sources")
    target = models.ForeignKey(
        Unit,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Unit of the target. If its text is corrected, the ratings need review.",
    )
    number = models.PositiveIntegerField()
    review = models.CharField(
        max_length=200, blank=True, help_text="Review of the source. Sources of one review form a cluster."
    )
    material = models.JSONField(help_text="Query, title and studies, as raters see them.")
    gold = models.JSONField(null=True, blank=True, help_text="Text, tuple, polarity and modality of the target.")

    class Meta:
        ordering = ["design_id", "number"]
        constraints = [models.UniqueConstraint(fields=["design", "number"], name="one_source_per_number")]


class RatingPage(models.Model):
    """The texts that a rater sees at once: all texts of a source, one of them, or two.

    ``number`` is the page's number in the plan. The order of its texts is drawn from it.
    """

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="rating_page")
    source = models.ForeignKey(RatingSource, on_delete=models.PROTECT, related_name="pages")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]


class PageText(models.Model):
    """One distinct text on a page.

    Raters' answers refer to it by ``code``, which does not reveal the system. ``number`` is the order of the codes; in
    a pair, it is the side that the first assignment shows.
    """

    page = models.ForeignKey(RatingPage, on_delete=models.PROTECT, related_name="texts")
    code = models.CharField(max_length=8)
    number = models.PositiveSmallIntegerField()
    displayed_text = models.TextField(help_text="The text as raters see it, with normalised typography.")
    system_numbers = models.JSONField(default=list, help_text="Numbers of the systems that produced the text.")
    is_check = models.BooleanField(default=False, help_text="Whether the text is on the page of an attention check.")
    made_from = models.CharField(
        max_length=8,
        blank=True,
        help_text="For a check: code of the text that was degraded, or its own code if it was not degraded.",
    )

    class Meta:
        ordering = ["page_id", "number"]
        constraints = [models.UniqueConstraint(fields=["page", "code"], name="one_text_per_code")]


class PageTextOf(models.Model):
    """A system that wrote a text. Identical texts of several systems are stored once.

    ``exact`` is the original text. The displayed text is normalised.
    """

    text = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="entries")
    system = models.ForeignKey(ComparedSystem, on_delete=models.PROTECT, related_name="entries")
    summary = models.ForeignKey(Summary, null=True, blank=True, on_delete=models.PROTECT, related_name="entries")
    exact = models.TextField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["text", "system"], name="one_entry_per_system"),
            models.CheckConstraint(condition=~Q(exact=""), name="an_entry_has_a_text"),
        ]
