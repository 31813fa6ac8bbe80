"""Counterfactuals: a cluster's target rewritten so that one aspect becomes false. They are used to probe models."""

from typing import NamedTuple, Self

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When

from audit.models import AppendOnly
from measures.counterfactual_rules import Rule
from measures.counterfactuals import Kind
from projects.models import Answer, Import, Project, Unit

from .cluster import Proposition

KINDS = [(kind.value, kind.value.capitalize()) for kind in Kind]


class ProbePair(NamedTuple):
    """Data of one counterfactual for the probe.

    ``review`` is the resampling unit of confidence intervals; ``unit`` is the unit of the cluster.
    """

    counterfactual: int
    kind: str
    text: str
    target: int
    target_text: str
    cluster: int
    unit: int
    review: int


class CounterfactualQuerySet(models.QuerySet["Counterfactual"]):
    def of(self, project: Project) -> Self:
        return self.filter(target__cluster__project=project)

    def current(self) -> Self:
        """Return at most one counterfactual per target and kind.

        Exclude older versions, withdrawn ones, and those whose target was corrected or retired.
        """
        later = Counterfactual.objects.filter(
            target=OuterRef("target"), kind=OuterRef("kind"), version__gt=OuterRef("version")
        )
        return self.filter(~Exists(later), target__unit__superseded_by=None, withdrawn=False)

    def in_corpus_order(self) -> Self:
        """Order by cluster, then by kind in the order of `Kind`."""
        rank = Case(*(When(kind=kind.value, then=Value(n)) for n, kind in enumerate(Kind)), default=Value(len(Kind)))
        return self.order_by("target__cluster__position", "target__cluster_id", rank, "version")

    def pairs(self) -> list[ProbePair]:
        """Return all with their target's text, cluster and review. One query."""
        rows = self.values_list(
            "pk",
            "kind",
            "text",
            "target_id",
            "target__text",
            "target__cluster_id",
            "target__cluster__unit_id",
            "target__cluster__review_id",
        )
        return [ProbePair(*row) for row in rows]


class Counterfactual(AppendOnly):
    """One rewriting of a target (a proposition at position 0), from an answer or from an import, never both.

    A text never changes. A correction is the next ``version`` of the same target and kind; so is a withdrawal. Unusual
    features are computed for display (`annotation.clusters.counterfactuals`), because the tuple and labels they depend
    on change.
    """

    target = models.ForeignKey(Proposition, on_delete=models.PROTECT, related_name="counterfactuals")
    kind = models.CharField(max_length=11, choices=KINDS)
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)
    withdrawn = models.BooleanField(
        default=False, help_text="The unit has no counterfactual of this kind from this version on."
    )
    answer = models.ForeignKey(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="counterfactuals")
    imported = models.ForeignKey(
        Import, null=True, blank=True, on_delete=models.PROTECT, related_name="counterfactuals"
    )

    objects = CounterfactualQuerySet.as_manager()

    class Meta:
        ordering = ["target_id", "kind", "version"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answer__isnull=False, imported__isnull=True)
                | Q(answer__isnull=True, imported__isnull=False),
                name="counterfactual_has_one_source",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in Kind]), name="counterfactual_kind_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(text="") & Q(withdrawn=False) | Q(text="", withdrawn=True),
                name="a_counterfactual_has_a_text_or_is_withdrawn",
            ),
            models.UniqueConstraint(fields=["target", "kind", "version"], name="one_counterfactual_per_version"),
            models.UniqueConstraint(fields=["target", "kind", "imported"], name="one_counterfactual_per_import"),
        ]

    @property
    def origin(self) -> str:
        return "imported" if self.imported_id else "written"


class TextOrigin(models.TextChoices):
    """Origin of a text: an unchanged draft, an edited draft, or written from the target."""

    DRAFTED = "drafted"
    EDITED = "edited", "edited from a draft"
    WRITTEN = "written"


class NotApplicable(models.TextChoices):
    """Reason why a kind has no text for a target."""

    NO_CLAIM = "no claim", "The target already states no evidence"
    NO_OPPOSITE = "no opposite", "No word with an opposite"
    TOUCHES_PICO = "touches pico", "It would change the PICO"
    TOO_MANY_WORDS = "too many words", "It needs more than five changed words"
    OTHER = "other", "Another reason (explain in a comment)"


class Rewriting(AppendOnly):
    """One answer about one kind: a text, or the reason why the kind does not apply.

    A text has an origin and the rule of its draft. The current value is stored as a `Counterfactual`.
    """

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


class RewrittenText(AppendOnly):
    """One version of a counterfactual, as a unit for blind labelling."""

    unit = models.OneToOneField(Unit, on_delete=models.PROTECT, related_name="rewritten_text")
    counterfactual = models.OneToOneField(Counterfactual, on_delete=models.PROTECT, related_name="rewritten_text")

    class Meta:
        ordering = ["id"]
