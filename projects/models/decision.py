"""Decisions, the references of answers to them, changes of units, and stored agreement reports."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q, Subquery

from audit.models import AppendOnly, Leaf
from sql.unindexed import Unindexed

from .answer import Answer
from .project import Import, Project, has_arrived
from .round import Round, Unit


class Origin(models.TextChoices):
    IMPORTED = "imported"
    #: A model's value from an import, which no person has decided. Written when a round first needs it.
    MACHINE = "machine"
    SINGLE = "single"
    UNANIMOUS = "unanimous"
    MAJORITY = "by majority"
    CURATED = "decided by a curator"
    # No value: the answers disagree and wait for adjudication. The current value does not change.
    CONTESTED = "contested"
    # No value: a curator's decision was withdrawn, and there was no earlier value.
    REOPENED = "reopened"


#: Origins without a value: the field waits for a curator.
WAITING = (Origin.CONTESTED, Origin.REOPENED)


class DecisionQuerySet(models.QuerySet["Decision"]):
    def of_project(self, project: Project) -> Self:
        """Return the decisions on the units of a project, without those of an import that is still arriving."""
        return self.filter(has_arrived("unit__imported"), unit__project=project)

    # The newest decision is looked up for each row, by the index of unit, kind and field. PostgreSQL plans a join by
    # its table statistics, and may scan along the primary key. `Unindexed` and the missing overall order prevent both
    # (docs/decisions/0008-query-speed.md).

    def with_value(self) -> Self:
        """Exclude contested and reopened decisions, which have no value."""
        return self.exclude(origin__in=WAITING)

    def in_question(self) -> Self:
        """Exclude contests, which do not change the current value."""
        return self.exclude(origin=Origin.CONTESTED)

    def current(self) -> Self:
        """Return the newest decision of each unit, kind and field with a current value, unordered."""
        return self.with_value()._newest(Decision.objects.in_question())

    def decided(self) -> Self:
        """Return the current decision of each field that does not wait for a curator, unordered."""
        return self.with_value()._newest(Decision.objects.all())

    def contested(self) -> Self:
        """Return the newest decisions of fields that wait for a curator, unordered."""
        return self.filter(origin__in=WAITING)._newest(Decision.objects.all())

    def newest_among(self, condition: Q) -> Self:
        """Return the newest decision of each unit, kind and field among those that satisfy a condition, unordered.

        As in `current`, contests are ignored, and a decision without a value is left out.
        """
        return self.filter(condition).with_value()._newest(Decision.objects.filter(condition).in_question())

    def newest_first(self) -> Self:
        """Order by newest first, for a subquery that takes the first row."""
        return self.order_by(Unindexed("id").desc())

    def _newest(self, among: "DecisionQuerySet") -> Self:
        same = among.filter(unit=OuterRef("unit"), kind=OuterRef("kind"), field=OuterRef("field"))
        return self.filter(id=Subquery(same.newest_first().values("id")[:1])).order_by()


class Decision(Leaf):
    """The value of one field of one unit: a reference to the adopted answer or import."""

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=30)
    field = models.CharField(max_length=30)
    origin = models.CharField(max_length=24, choices=Origin)
    answer = models.ForeignKey(Answer, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    imported = models.ForeignKey(Import, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    round = models.ForeignKey(Round, null=True, blank=True, on_delete=models.PROTECT, related_name="decisions")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(blank=True)
    decided_at = models.DateTimeField()

    objects = DecisionQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="a_decision_adopts_one_thing",
                condition=(
                    Q(origin__in=["contested", "reopened"], answer__isnull=True, imported__isnull=True)
                    | Q(origin__in=["imported", "machine"], answer__isnull=True, imported__isnull=False)
                    | (
                        ~Q(origin__in=["contested", "reopened", "imported", "machine"])
                        & Q(answer__isnull=False, imported__isnull=True)
                    )
                ),
            )
        ]
        indexes = [
            models.Index(fields=["unit", "kind", "field", "id"]),
            models.Index(fields=["id"], name="decision_no_checkpoint", condition=Q(checkpoint__isnull=True)),
            # Few decisions are contests, but every unit of a corpus is checked for one.
            models.Index(fields=["unit"], name="decision_waiting", condition=Q(origin__in=["contested", "reopened"])),
        ]

    @property
    def has_value(self) -> bool:
        return self.origin not in WAITING


class Reference(AppendOnly):
    """A decision that was shown with an answer's unit (correction) or compared with the answer (practice).

    ``same`` is whether the answer equals the decision in the decision's field, computed when the answer is stored.
    Later decisions do not change it.
    """

    answer = models.ForeignKey(Answer, on_delete=models.PROTECT, related_name="references", db_index=False)
    decision = models.ForeignKey(Decision, on_delete=models.PROTECT, related_name="+", db_index=False)
    same = models.BooleanField()

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["answer", "decision"], name="one_reference_per_decision")]

    def __str__(self) -> str:
        return f"decision {self.decision_id} of answer {self.answer_id}"


class ChangeQuerySet(models.QuerySet["Change"]):
    def newest(self) -> Self:
        """Return the newest change of each unit and kind, without superseded units."""
        later = Change.objects.filter(unit=OuterRef("unit"), kind=OuterRef("kind"), pk__gt=OuterRef("pk"))
        return self.filter(~Exists(later), unit__superseded_by=None)

    def unsettled(self) -> Self:
        """Return the newest changes without a later decision. Their units must be redone or confirmed."""
        fresh = Decision.objects.filter(
            # A curator has decided again, even if the adopted answer is an old one.
            Q(answer=None) | Q(origin=Origin.CURATED) | Q(answer__shown__gte=OuterRef("revision")),
            unit=OuterRef("unit"),
            kind=OuterRef("kind"),
            pk__gt=OuterRef("decisions_up_to"),
        ).with_value()
        return self.newest().filter(~Exists(fresh))


class Change(AppendOnly):
    """One change of what a unit shows, for one kind that had been asked of the unit. Never changed itself."""

    #: The unit's own text changed. Otherwise `what` is the key of the kind whose value of another unit changed.
    TEXT = "text"
    #: Nothing changed: somebody doubts the value and gives a reason.
    DOUBT = "doubt"

    unit = models.ForeignKey(Unit, on_delete=models.PROTECT, related_name="changes")
    kind = models.CharField(max_length=30, help_text="Task kind whose answers and decisions become stale.")
    revision = models.PositiveIntegerField(
        help_text="Revision of the unit after the change. Answers to older revisions are stale."
    )
    what = models.CharField(max_length=30, help_text="The text, or the task kind whose values judge the unit.")
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    reason = models.TextField()
    # Not a time: clocks can go back, and decisions of the same moment must be ordered.
    decisions_up_to = models.BigIntegerField(help_text="Id of the newest decision at that time.")
    changed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    changed_at = models.DateTimeField()

    objects = ChangeQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["unit", "kind", "revision"], name="one_change_per_revision"),
            models.CheckConstraint(condition=~Q(reason=""), name="a_change_has_a_reason"),
        ]
        indexes = [models.Index(fields=["unit", "kind", "id"], name="change_of_unit")]

    def __str__(self) -> str:
        return f"change of {self.what}, unit {self.unit_id}"


class StoredAgreement(models.Model):
    """Agreement report of a round, stored by the last job that computed it, with its method and basis."""

    round = models.OneToOneField(Round, on_delete=models.PROTECT, related_name="stored_agreement")
    method = models.CharField(max_length=60, help_text="Name of the rule. It changes when the figures change.")
    basis = models.JSONField(
        help_text="Counts of the data behind the report. The report is current while they are equal."
    )
    # Text, not JSON: PostgreSQL would reorder the coefficients.
    report = models.TextField()
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"agreement of round {self.round_id}"
