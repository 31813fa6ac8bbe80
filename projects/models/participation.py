"""Participant links: access of volunteers without an account to one round, and their consent."""

import hashlib
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from audit.models import AppendOnly

from .project import Member
from .round import Round


def text_digest(text: str) -> str:
    """Return the SHA-256 of a consent text in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


class ParticipantLink(models.Model):
    """A link into one round. Only the hash of its token is stored.

    A link with a capacity of one is personal: each time it is opened it signs in the same person. Other links are
    shared: each browser that accepts it becomes a new volunteer with a personal link, a child of this one.
    """

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="participant_links")
    token_hash = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=80, help_text="Name that only the lead sees.")
    capacity = models.PositiveIntegerField(default=1)
    used = models.PositiveIntegerField(default=0, help_text="Number of volunteers that accepted the link.")
    consent_text = models.TextField(help_text="Markdown.")
    # Digest of the text that the person agrees to. Empty before consent and after withdrawal.
    agreed = models.CharField(max_length=64, blank=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    member = models.OneToOneField(
        Member, null=True, blank=True, on_delete=models.PROTECT, related_name="participant_link"
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True, help_text="Time at which it was first seen.")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(condition=Q(capacity__gte=1), name="link_capacity_is_positive"),
            models.CheckConstraint(condition=Q(used__lte=F("capacity")), name="link_use_is_within_capacity"),
            models.CheckConstraint(condition=Q(member=None) | Q(capacity=1), name="a_person_has_a_personal_link"),
        ]

    def __str__(self) -> str:
        return f"participant link {self.pk}"

    @property
    def is_shared(self) -> bool:
        return self.capacity > 1

    @property
    def stands(self) -> bool:
        """Whether the person agreed to the current text."""
        return self.agreed != "" and self.agreed == text_digest(self.consent_text)

    def is_open(self, now: datetime) -> bool:
        return self.revoked_at is None and self.expires_at > now


class Consent(AppendOnly):
    """A volunteer's consent to a text, or its withdrawal, with the full text. Never changed or deleted."""

    class What(models.TextChoices):
        GIVEN = "given"
        WITHDRAWN = "withdrawn"

    link = models.ForeignKey(ParticipantLink, on_delete=models.PROTECT, related_name="consents")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="consents")
    what = models.CharField(max_length=10, choices=What)
    text = models.TextField(help_text="Full text of the consent that was given or withdrawn.")
    digest = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.CheckConstraint(condition=Q(what__in=["given", "withdrawn"]), name="consent_is_known")]

    def __str__(self) -> str:
        return f"consent {self.what}"


class QuestionTry(AppendOnly):
    """One try at all questions of a round's guideline."""

    #: Tries per person; after that only a lead can admit the person.
    MOST = 2

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="question_tries")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="question_tries")
    number = models.PositiveSmallIntegerField(help_text="1 or 2.")
    chosen = models.JSONField(help_text="Index of the chosen option, by question.")
    right = models.PositiveSmallIntegerField(help_text="Number of correct answers.")
    passed = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["round", "member", "number"], name="one_try_per_number"),
            models.CheckConstraint(condition=Q(number__gte=1, number__lte=2), name="two_tries_at_most"),
        ]

    def __str__(self) -> str:
        return f"try {self.number} of member {self.member_id}"


class Admission(AppendOnly):
    """A lead's permission to work in a round despite failed guideline questions or a failed practice."""

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="admissions")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="admissions")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["round", "member"], name="one_admission_per_person")]

    def __str__(self) -> str:
        return f"admission of member {self.member_id}"
