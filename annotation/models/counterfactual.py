"""Counterfactuals: a cluster's target rewritten so that one aspect of it is false; models are probed with them."""

from typing import NamedTuple, Self

from django.db import models
from django.db.models import Case, Exists, OuterRef, Q, Value, When

from measures.counterfactuals import Kind
from projects.models import Answer, Import, Project

from .cluster import Proposition

KINDS = [(kind.value, kind.value.capitalize()) for kind in Kind]


class ProbePair(NamedTuple):
    """What the probe needs of one counterfactual. ``review`` is what intervals draw by; ``unit`` is the cluster's."""

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
        """At most one a target and kind: without corrected or withdrawn ones, and those whose target was corrected or
        retired."""
        later = Counterfactual.objects.filter(
            target=OuterRef("target"), kind=OuterRef("kind"), version__gt=OuterRef("version")
        )
        return self.filter(~Exists(later), target__unit__superseded_by=None, withdrawn=False)

    def in_corpus_order(self) -> Self:
        """By cluster, then by kind as `Kind` has them."""
        rank = Case(*(When(kind=kind.value, then=Value(n)) for n, kind in enumerate(Kind)), default=Value(len(Kind)))
        return self.order_by("target__cluster__position", "target__cluster_id", rank, "version")

    def pairs(self) -> list[ProbePair]:
        """All of them with their target's text, cluster and review, in one query."""
        rows = self.values_list(
            "pk", "kind", "text", "target_id", "target__text", "target__cluster_id", "target__cluster__unit_id",
            "target__cluster__review_id",
        )  # fmt: skip
        return [ProbePair(*row) for row in rows]


class Counterfactual(models.Model):
    """One rewriting of a target (a proposition of position 0), said by an answer or come with an import, never both.

    A text is never changed: a correction is the next ``version`` of the same target and kind, and so is that there is
    none any more. What is odd about it is
    worked out when it is shown (annotation.counterfactuals): the tuple and the labels it is held against change.
    """

    target = models.ForeignKey(Proposition, on_delete=models.PROTECT, related_name="counterfactuals")
    kind = models.CharField(max_length=11, choices=KINDS)
    version = models.PositiveSmallIntegerField(default=1)
    text = models.TextField(blank=True)
    withdrawn = models.BooleanField(default=False, help_text="From this version on there is none of this kind.")
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
