"""Which units a new version of a guideline concerns, and which of them were revisited since.

Per field, a version concerns a unit in two ways (docs/decisions/0038-guideline-changes.md):

- *current*: its value from before the version is one of the stated values. "Before" is the newest decision whose answer
  followed an earlier version, whose value was imported, or that a curator made before the version was written.
- *answered*: a counted answer that followed an earlier version has one of the stated values. Practice never counts.

A field is revisited after an answer under the version, or after a later decision by a curator.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, reduce
from operator import or_
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from .. import kinds, purposes
from ..models import Assignment, Decision, Guideline, Origin, Outcome, Project, Round, Unit

#: A field that is concerned with any value, and any field of a kind whose fields differ by round.
ANY: Sequence[str] = ()


@dataclass(frozen=True)
class Concern:
    """One field that a version concerns, with some of its values; `ANY` means all values.

    ``field`` is "" if the kind has no fields of its own (they differ by round): then any answer is concerned.
    """

    field: str
    values: Sequence[str] = ANY


@dataclass(frozen=True)
class GuidelineChange:
    """The change that one version of a guideline makes. A version that is not stored yet has the next number."""

    project: Project
    kind: str
    number: int
    since: datetime
    scope: str
    concerns: Sequence[Concern]

    @classmethod
    def of(cls, guideline: Guideline) -> "GuidelineChange":
        concerns = concerns_of(guideline.kind, guideline.scope, guideline.concerns)
        project = guideline.project
        return cls(project, guideline.kind, guideline.number, guideline.created_at, guideline.scope, concerns)

    @classmethod
    def planned(
        cls, project: Project, kind: str, scope: str, concerns: Iterable[Mapping[str, Any]]
    ) -> "GuidelineChange":
        """Return the change that the next version of a guideline would make."""
        newest = project.guidelines.filter(kind=kind).order_by("-number").values_list("number", flat=True).first()
        # Nothing was revisited yet, so one condition on any field counts the same units as one for each field.
        stated = [Concern("")] if scope == Guideline.Scope.ALL else concerns_of(kind, scope, concerns)
        return cls(project, kind, (newest or 0) + 1, timezone.now(), scope, stated)

    # Rounds and versions

    @cached_property
    def _rounds(self) -> Sequence[Round]:
        """Counting rounds of the kind. Answers of the curation round count through its decisions only."""
        rounds = Round.objects.filter(project=self.project, kind=self.kind).opened().counting().opened_by_people()
        return list(rounds.only("pk", "purpose", "kind", "options", "project", "status", "guideline").order_by("pk"))

    @cached_property
    def _versions(self) -> Mapping[int, int]:
        """Number of each version of the guideline, by id."""
        return dict(Guideline.objects.filter(project=self.project, kind=self.kind).values_list("pk", "number"))

    @cached_property
    def earlier(self) -> Sequence[int]:
        return [pk for pk, number in self._versions.items() if number < self.number]

    @cached_property
    def _later(self) -> Sequence[int]:
        return [pk for pk, number in self._versions.items() if number >= self.number]

    def _asking(self, field: str, *, setting: bool = False) -> list[int]:
        """Return the rounds that ask for a field; with ``setting``, only those that set current values."""
        kind = kinds.get(self.kind)
        rounds = [r for r in self._rounds if not field or field in kind.fields_of(r)]
        return [r.pk for r in rounds if not setting or purposes.of(r.purpose).makes_gold]

    # Conditions on units, by field

    def before(self, field: str) -> QuerySet[Decision]:
        """Return the newest decision of each unit from before the version, if it has a value."""
        decisions = Decision.objects.filter(kind=self.kind, **({"field": field} if field else {}))
        return decisions.newest_among(self._is_before)

    @property
    def _is_before(self) -> Q:
        curated_since = Q(origin__in=(Origin.CURATED, Origin.REOPENED), decided_at__gte=self.since)
        return (Q(answer=None) | Q(answer__guideline__in=self.earlier)) & ~curated_since

    def since_decided(self, concern: Concern) -> QuerySet[Decision]:
        """Return the current decisions that were made under the version, on fields that it concerned."""
        decisions = Decision.objects.filter(kind=self.kind, **({"field": concern.field} if concern.field else {}))
        since = Q(answer__guideline__in=self._later) | Q(origin=Origin.CURATED, decided_at__gte=self.since)
        units = self._with_any([self._is_current(concern) | self._is_answered(concern)])
        return decisions.filter(since, unit__in=units.order_by().values("pk")).current()

    def decided_with(self, concern: Concern) -> QuerySet[Decision]:
        """Return the decisions of `before` that have a concerned value."""
        found = self.before(concern.field)
        if not concern.values:
            return found
        kind = kinds.get(self.kind)
        rows = kind.rows_with(concern.field, concern.values)
        matches = Q(Exists(rows.filter(answer=OuterRef("answer"))))
        imported = kind.imported_rows_with(concern.field, concern.values)
        if imported is not None:
            matches |= Q(Exists(imported.filter(unit=OuterRef("unit"), imported=OuterRef("imported"))))
        return found.filter(matches)

    def answered_with(self, concern: Concern) -> QuerySet[Assignment]:
        """Return the assignments with a counted answer under an earlier version that has a concerned value."""
        found = Assignment.objects.opinions().filter(
            round__in=self._asking(concern.field),
            current_answer__outcome=Outcome.ANSWERED,
            current_answer__guideline__in=self.earlier,
        )
        if not concern.values:
            return found
        rows = kinds.get(self.kind).rows_with(concern.field, concern.values)
        return found.filter(Exists(rows.filter(answer=OuterRef("current_answer"))))

    def is_answer_with(self, concern: Concern) -> Q:
        """Return the condition for answers of any version that have a concerned value."""
        kind = kinds.get(self.kind)
        if concern.values:
            return Q(Exists(kind.rows_with(concern.field, concern.values).filter(answer=OuterRef("pk"))))
        others = [r.pk for r in self._rounds if concern.field and concern.field not in kind.fields_of(r)]
        return ~Q(assignment__round__in=others)

    def _is_current(self, concern: Concern) -> Q:
        return Q(Exists(self.decided_with(concern).filter(unit=OuterRef("pk"))))

    def _is_answered(self, concern: Concern) -> Q:
        return Q(Exists(self.answered_with(concern).filter(unit=OuterRef("pk"))))

    def _is_revisited(self, field: str, *, setting: bool) -> Q:
        """Return whether the field was answered under the version, or decided by a curator since.

        With ``setting``, only by an answer that can set the current value: a reliability study leaves it as it is.
        """
        found = Q()
        rounds = self._asking(field, setting=setting)
        if self._later and rounds:
            answered = Assignment.objects.opinions().filter(
                unit=OuterRef("pk"),
                round__in=rounds,
                current_answer__outcome=Outcome.ANSWERED,
                current_answer__guideline__in=self._later,
            )
            found |= Q(Exists(answered))
        curated = Decision.objects.filter(
            unit=OuterRef("pk"), kind=self.kind, origin=Origin.CURATED, decided_at__gte=self.since
        )
        return found | Q(Exists(curated.filter(field=field) if field else curated))

    # Units

    @property
    def _units(self) -> QuerySet[Unit]:
        return Unit.objects.filter(project=self.project, superseded_by=None)

    def _with_any(self, conditions: Iterable[Q]) -> QuerySet[Unit]:
        listed = list(conditions)
        return self._units.filter(reduce(or_, listed)) if listed else self._units.none()

    def concerned(self) -> QuerySet[Unit]:
        """Return the units that had a concerned value, current or answered, whether or not they were revisited."""
        return self._with_any(self._is_current(c) | self._is_answered(c) for c in self.concerns)

    def affected(self, fields: Sequence[str] | None = None) -> QuerySet[Unit]:
        """Return the concerned units that were not revisited; only for these fields, if given."""
        return self._with_any(
            Q(self._left_current(c)) | Q(self._left_answered(c))
            for c in self.concerns
            if fields is None or not c.field or c.field in fields
        )

    def affected_current(self) -> QuerySet[Unit]:
        """Return the affected units whose current value is concerned. The others of `affected` are only answered."""
        return self._with_any(self._left_current(c) for c in self.concerns)

    def correctable(self, fields: Sequence[str] | None = None) -> QuerySet[Unit]:
        """Return the affected units whose affected field has a current value and does not wait for a curator.

        Only these can be shown for confirmation. The others wait for a curator (`waiting`), have no value yet, or
        are already assigned in an open round under the version (`assigned`).
        """
        units = self._with_any(
            (self._left_current(c) | self._left_answered(c)) & self._has(c, Decision.objects.decided())
            for c in self.concerns
            if fields is None or not c.field or c.field in fields
        )
        return units.exclude(Exists(self._open_assignments.filter(unit=OuterRef("pk"))))

    def assigned(self) -> QuerySet[Unit]:
        """Return the affected units that an open round asks about under the version."""
        return self.affected().filter(Exists(self._open_assignments.filter(unit=OuterRef("pk"))))

    @property
    def _open_assignments(self) -> QuerySet[Assignment]:
        rounds = [r.pk for r in self._rounds if r.is_open and r.guideline_id in self._later]
        return Assignment.objects.opinions().unanswered().filter(round__in=rounds)

    def waiting(self) -> QuerySet[Unit]:
        """Return the affected units whose affected field waits for a curator."""
        return self._with_any(
            (self._left_current(c) | self._left_answered(c)) & self._has(c, Decision.objects.contested())
            for c in self.concerns
        )

    def _has(self, concern: Concern, decisions: QuerySet[Decision]) -> Q:
        found = decisions.filter(unit=OuterRef("pk"), kind=self.kind)
        return Q(Exists(found.filter(field=concern.field) if concern.field else found))

    def as_json(self) -> dict[str, Any]:
        """Return the rule, for the sampling of a round."""
        concerns = [{"field": c.field, "values": list(c.values)} for c in self.concerns]
        return {"version": self.number, "scope": self.scope, "concerns": concerns}

    def _left_current(self, concern: Concern) -> Q:
        return self._is_current(concern) & ~self._is_revisited(concern.field, setting=True)

    def _left_answered(self, concern: Concern) -> Q:
        return self._is_answered(concern) & ~self._is_revisited(concern.field, setting=False)


def change_of(project: Project, kind: str, number: int) -> GuidelineChange | None:
    """Return the change of a version by its number, or None if there is no such version."""
    guideline = project.guidelines.select_related("project").filter(kind=kind, number=number).first()
    return GuidelineChange.of(guideline) if guideline else None


def concerns_of(kind: str, scope: str, stated: Iterable[Mapping[str, Any]]) -> list[Concern]:
    """Return the fields and values that a version concerns. A version that does not state them concerns nothing here.

    *Needs review* lists the answers from before a version that states nothing.
    """
    match scope:
        case Guideline.Scope.ALL:
            return [Concern(field) for field in kinds.get(kind).fields or ("",)]
        case Guideline.Scope.VALUES:
            return [Concern(one["field"], tuple(one["values"])) for one in stated]
    return []


def field_title(field: str) -> str:
    """Return the name of a field on pages: "polarity cue"."""
    return field.replace("_", " ")


def field_choices(kind: kinds.Kind) -> list[dict[str, Any]]:
    """Return the fields of a kind with their values."""
    return [
        {
            "field": field,
            "title": field_title(field),
            "values": [{"key": key, "title": str(label)} for key, label in kind.field_values.get(field, ())],
        }
        for field in kind.fields
    ]


def in_words(kind: str, scope: str, concerns: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what a version concerns, a line for each field: "modality: weak, strong"."""
    if scope != Guideline.Scope.VALUES:
        return [str(Guideline.Scope(scope).label)] if scope else []
    field_values = kinds.get(kind).field_values
    lines = []
    for one in concerns:
        labels = dict(field_values.get(one["field"], ()))
        values = ", ".join(str(labels.get(key, key)) for key in one["values"])
        lines.append(f"{field_title(one['field'])}: {values or 'any value'}")
    return lines


def count_affected(change: GuidelineChange) -> dict[str, int]:
    """Count the affected units: all, those whose current value is concerned, and the others. Two queries of units."""
    units, current = change.affected().count(), change.affected_current().count()
    return {"units": units, "current": current, "answered": units - current}


def concerning_changes(unit: Unit, round: Round) -> list[dict[str, Any]]:
    """Return the later versions that concern a unit and under which it has no answer yet.

    A few queries for each version that states what it concerns.
    """
    later = Guideline.objects.filter(
        project=round.project_id,
        kind=round.kind,
        number__gt=round.guideline.number,
        scope__in=(Guideline.Scope.VALUES, Guideline.Scope.ALL),
    )
    return [
        stated_change(one)
        for one in later.select_related("project").defer("text").order_by("number")
        if GuidelineChange.of(one).affected().filter(pk=unit.pk).exists()
    ]


def revisited_change(round: Round) -> dict[str, Any] | None:
    """Return the change whose units a round revisits, or None."""
    if not (rule := round.sampling.get("guideline_change")):
        return None
    versions = Guideline.objects.filter(project=round.project_id, kind=round.kind, number=rule["version"])
    version = versions.defer("text").first()
    return stated_change(version) if version else None


def stated_change(guideline: Guideline) -> dict[str, Any]:
    """Return what a version concerns, in words, and why."""
    concerns = in_words(guideline.kind, guideline.scope, guideline.concerns)
    return {"number": guideline.number, "concerns": concerns, "reason": guideline.reason}
