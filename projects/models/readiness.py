"""What people said to the guideline's questions before a round, and whom a lead let in. Insert-only."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from .project import Member
from .round import Round


class QuestionTry(models.Model):
    """One try at all questions of a round's guideline."""

    #: How often a person may try before the lead is to be asked.
    MOST = 2

    round = models.ForeignKey(Round, on_delete=models.PROTECT, related_name="question_tries")
    member = models.ForeignKey(Member, on_delete=models.PROTECT, related_name="question_tries")
    number = models.PositiveSmallIntegerField(help_text="1 or 2.")
    chosen = models.JSONField(help_text="The index of the chosen option, question by question.")
    right = models.PositiveSmallIntegerField(help_text="How many were right.")
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


class Admission(models.Model):
    """A lead let a person into a round who had not got the questions right, or had no attempt at its practice left."""

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
