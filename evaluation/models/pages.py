"""What a rating round rates: who takes part, from which sources, and the pages that people are given."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from generation.models import Run, Summary
from projects.models import Round, Unit

from .protocols import ProtocolVersion


class RatingDesign(models.Model):
    """The design of one round, frozen when it is laid out. Nothing of it changes: `evaluation.design.stored` compares
    what is there with ``digest`` before anything is computed from it."""

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="rating_design")
    version = models.ForeignKey(ProtocolVersion, on_delete=models.PROTECT, related_name="designs")
    plan = models.JSONField(help_text="Entrants, sources, pages and rules, as they were laid out.")
    secret = models.CharField(
        max_length=32, blank=True, default="",
        help_text="Drawn with the seed, told by nobody before the round is unblinded. Older rounds have none.",
    )  # fmt: skip
    digest = models.CharField(max_length=64, help_text="SHA-256 of the plan with the name of the rules that made it.")

    def __str__(self) -> str:
        return f"design of {self.round}"

    @property
    def whole(self) -> dict[str, Any]:
        """The plan with the secret that it was made by: what the digest is of."""
        return {**self.plan, **({"secret": self.secret} if self.secret else {})}


class Unblinding(models.Model):
    """From now on everybody who may read results learns which system wrote what was rated in a closed round."""

    design = models.OneToOneField(RatingDesign, on_delete=models.PROTECT, related_name="unblinding")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()


class Entrant(models.Model):
    """Who takes part in a round: a run's summaries, or, without a run, the reference summaries, or a system that an
    import of ratings names."""

    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="entrants")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=120, help_text="What tables call it.")
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.PROTECT, related_name="entrants")

    class Meta:
        ordering = ["design_id", "number"]
        constraints = [models.UniqueConstraint(fields=["design", "number"], name="one_entrant_per_number")]


class RatingSource(models.Model):
    """What the texts of some pages were made from, as raters are shown it, and the target they are held against."""

    design = models.ForeignKey(RatingDesign, on_delete=models.PROTECT, related_name="sources")
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="rating_sources")
    target = models.ForeignKey(
        Unit, null=True, blank=True, on_delete=models.PROTECT, related_name="+",
        help_text="The target's own unit: where its text is corrected, the ratings are to be looked at again.",
    )  # fmt: skip
    number = models.PositiveIntegerField()
    review = models.CharField(max_length=60, blank=True, help_text="Sources of one review are alike.")
    shown = models.JSONField(help_text="Query, title and studies.")
    gold = models.JSONField(null=True, blank=True, help_text="Text, tuple, polarity and modality of the target.")

    class Meta:
        ordering = ["design_id", "number"]
        constraints = [models.UniqueConstraint(fields=["design", "number"], name="one_source_per_number")]


class RatingPage(models.Model):
    """What a person is given at once: all texts of a source, one of them, or two. ``number``: its place in the seed's
    order, by which the order of its texts is dealt."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="rating_page")
    source = models.ForeignKey(RatingSource, on_delete=models.PROTECT, related_name="pages")
    number = models.PositiveIntegerField()

    class Meta:
        ordering = ["id"]


class PageText(models.Model):
    """One distinct text on a page, as it is shown. ``code`` is what raters' answers call it; it says nothing of whose
    text it is. ``number``: of a pair its side as place 1 sees it; else the order of the codes."""

    page = models.ForeignKey(RatingPage, on_delete=models.PROTECT, related_name="texts")
    code = models.CharField(max_length=8)
    number = models.PositiveSmallIntegerField()
    shown = models.TextField()
    entrants = models.JSONField(default=list, help_text="Numbers of those who wrote it.")
    is_check = models.BooleanField(default=False, help_text="A text made plainly bad, by which attention is seen.")
    made_from = models.CharField(max_length=8, blank=True, help_text="Code of the text that was made worse.")

    class Meta:
        ordering = ["page_id", "number"]
        constraints = [models.UniqueConstraint(fields=["page", "code"], name="one_text_per_code")]


class PageTextOf(models.Model):
    """Whose text it is: of several entrants, where they wrote the same. ``exact`` is what they wrote, letter by
    letter; what is shown has one form for all."""

    text = models.ForeignKey(PageText, on_delete=models.PROTECT, related_name="entries")
    entrant = models.ForeignKey(Entrant, on_delete=models.PROTECT, related_name="entries")
    summary = models.ForeignKey(Summary, null=True, blank=True, on_delete=models.PROTECT, related_name="entries")
    exact = models.TextField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["text", "entrant"], name="one_entry_per_entrant"),
            models.CheckConstraint(condition=~Q(exact=""), name="an_entry_has_a_text"),
        ]
