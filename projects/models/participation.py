"""Participant links: how volunteers without an account work in one round, and what they agreed to."""

import hashlib
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from .project import Member
from .round import Round


def text_digest(text: str) -> str:
    """SHA-256 of a consent text as it was shown, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class ParticipantLink(models.Model):
    """A link into one round. Only the hash of its token is kept.

    One place: a personal link, the same person each time it is opened. More places: a shared link, each browser that
    accepts is a new volunteer with a personal link of its own, a *child* of this one.
    """

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="participant_links")
    token_hash = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=80, help_text="What the lead knows it by; volunteers never see it.")
    places = models.PositiveIntegerField(default=1)
    used = models.PositiveIntegerField(default=0, help_text="Places taken.")
    consent_text = models.TextField(help_text="Markdown.")
    # Which text the person agrees to now: its digest; empty before consent and after a withdrawal.
    agreed = models.CharField(max_length=64, blank=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    member = models.OneToOneField(
        Member, null=True, blank=True, on_delete=models.PROTECT, related_name="participant_link"
    )  # fmt: skip
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True, help_text="When somebody first looked at it.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(places__gte=1), name="a_link_has_a_place"),
            models.CheckConstraint(condition=Q(used__lte=F("places")), name="no_more_volunteers_than_places"),
            models.CheckConstraint(condition=Q(member=None) | Q(places=1), name="a_person_has_a_personal_link"),
        ]

    def __str__(self) -> str:
        return f"participant link {self.pk}"

    @property
    def is_shared(self) -> bool:
        return self.places > 1

    @property
    def stands(self) -> bool:
        """Whether the person agreed to the text as it is now."""
        return self.agreed != "" and self.agreed == text_digest(self.consent_text)

    def is_open(self, now: datetime) -> bool:
        return self.revoked_at is None and self.expires_at > now


class Consent(models.Model):
    """A volunteer agreed to a text, kept as it was shown, or withdrew. Never changed or deleted."""

    class What(models.TextChoices):
        GIVEN = "given"
        WITHDRAWN = "withdrawn"

    link = models.ForeignKey(ParticipantLink, on_delete=models.PROTECT, related_name="consents")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="consents")
    what = models.CharField(max_length=10, choices=What)
    text = models.TextField(help_text="The whole text, as it was agreed to or withdrawn from.")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=Q(what__in=["given", "withdrawn"]), name="consent_is_known")]

    def __str__(self) -> str:
        return f"consent {self.what}"
