"""What people said of targets that are to be rewritten so that one aspect of them is false, kind by kind."""

from django.db import models
from django.db.models import Q

from measures.counterfactual_rules import Rule
from measures.counterfactuals import Kind
from projects.models import Answer, Unit

from .counterfactual import KINDS


class TextOrigin(models.TextChoices):
    """How a text came to be: a draft as it was offered, one that was edited, or written from the target."""

    DRAFTED = "drafted"
    EDITED = "edited", "edited from a draft"
    WRITTEN = "written"


class NotApplicable(models.TextChoices):
    """Why a kind has no text for a target."""

    NO_CLAIM = "no claim", "The target already is no evidence"
    NO_OPPOSITE = "no opposite", "No word with an opposite"
    TOUCHES_PICO = "touches pico", "It would change the PICO"
    TOO_MANY_WORDS = "too many words", "Not in five words"
    OTHER = "other", "Another reason (say it in a comment)"


class Rewriting(models.Model):
    """What one answer says of one kind: a text with its origin and the rule of the draft that it began from, or why the
    kind does not apply. What is in force of it is a `Counterfactual`."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="rewritings")
    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="rewritings")
    kind = models.CharField(max_length=11, choices=KINDS)
    text = models.TextField(blank=True)
    origin = models.CharField(max_length=7, choices=TextOrigin, blank=True)
    rule = models.CharField(max_length=20, choices=[(rule.value, rule.value) for rule in Rule], blank=True)
    reason = models.CharField(max_length=14, choices=NotApplicable, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(text="") & ~Q(origin="") & Q(reason="") | Q(text="", origin="", rule="") & ~Q(reason=""),
                name="a_rewriting_has_a_text_or_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(origin="") | Q(origin="written", rule="") | ~Q(origin="written") & ~Q(rule=""),
                name="a_rewriting_has_a_rule_where_it_was_drafted",
            ),
            models.CheckConstraint(condition=Q(kind__in=[kind.value for kind in Kind]), name="rewriting_kind_is_known"),
            models.UniqueConstraint(fields=["answer", "kind"], name="one_rewriting_per_kind"),
        ]
