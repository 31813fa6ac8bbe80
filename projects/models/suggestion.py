"""Values that a model suggests for units, and what people made of them (docs/decisions/0037-suggestions.md)."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from audit.models import AppendOnly

from .answer import Answer
from .project import Project
from .round import Unit


class SuggestionFate(models.TextChoices):
    """What became of a suggestion that a person saw, over all fields of the answer."""

    ACCEPTED = "accepted", "accepted"
    EDITED = "edited", "edited"
    REJECTED = "rejected", "rejected"


class SuggestionSource(models.TextChoices):
    """Where the values of a set come from."""

    READINGS = "readings", "machine readings"
    CHAT = "chat", "chat model"
    FILE = "file", "file"


class SuggestionSet(models.Model):
    """The suggestions of one version of a model for the units of one task.

    ``version`` is the hash of everything that changes the suggestions: prompt, decoding, weights or endpoint; or of the
    file. Only the name of the job and the counts change after the set is created.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="suggestion_sets")
    kind = models.CharField(max_length=30)
    name = models.CharField(max_length=80)
    source = models.CharField(max_length=10, choices=SuggestionSource)
    model = models.CharField(max_length=200, help_text="Name of the model.")
    version = models.CharField(max_length=64, help_text="SHA-256 of what determines the suggestions.")
    details = models.JSONField(
        default=dict, help_text="What the version covers: prompt, decoding, weights or endpoint."
    )
    options = models.JSONField(default=dict, help_text="Settings of the page with which the units were shown.")
    job_id = models.BigIntegerField(null=True, blank=True, help_text="The newest job that asks the model.")
    report = models.JSONField(default=dict, help_text="Counts: units, valid, invalid and failed answers, tokens.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["project", "kind", "name"], name="one_suggestion_set_per_name"),
            models.CheckConstraint(condition=Q(source__in=SuggestionSource.values), name="suggestion_source_is_known"),
        ]

    def __str__(self) -> str:
        return self.name


class Suggestion(AppendOnly):
    """What a model suggests for one unit, as the kind's value; or why it suggests nothing.

    It is never a decision: nothing becomes current without a person's answer.
    """

    of = models.ForeignKey(SuggestionSet, on_delete=models.PROTECT, related_name="suggestions", db_index=False)
    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="+")
    shown = models.PositiveIntegerField(help_text="Revision of the unit that the model read.")
    value = models.JSONField(
        null=True, help_text="As the task's serializer takes it. Null if there is no valid answer."
    )
    fault = models.TextField(blank=True, help_text="Why the last answer of the model is invalid.")
    attempts = models.PositiveSmallIntegerField(default=1, help_text="Answers of the model, with invalid ones.")
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["of", "unit"], name="one_suggestion_per_unit"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, fault="") | Q(value__isnull=True) & ~Q(fault=""),
                name="a_suggestion_is_valid_or_has_a_fault",
            ),
        ]

    @property
    def suggested(self) -> dict[str, Any]:
        """The value of a valid suggestion."""
        assert self.value is not None
        content: dict[str, Any] = self.value
        return content

    def __str__(self) -> str:
        return f"suggestion {self.pk} for unit {self.unit_id}"


class SuggestionOutcome(AppendOnly):
    """What an answer made of the suggestion for its unit, in one field.

    It is stored with each answer of a round with suggestions. In the blind part the person did not see the suggestion;
    ``same`` then measures how often the model and an unassisted person agree.
    """

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="suggestion_outcomes", db_index=False)
    suggestion = models.ForeignKey(Suggestion, on_delete=models.PROTECT, related_name="+", db_index=False)
    field = models.CharField(max_length=30)
    was_shown = models.BooleanField()
    same = models.BooleanField(help_text="Whether the answer equals the suggestion in the field.")
    rejected = models.BooleanField(help_text="Whether the person cleared the suggestion and began anew.")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["answer", "field"], name="one_suggestion_outcome_per_field"),
            models.CheckConstraint(
                condition=Q(rejected=False) | Q(was_shown=True), name="only_a_shown_suggestion_is_rejected"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.field} of answer {self.answer_id}"
