"""Corrections by curators, stored as answers in the curation round of their kind."""

import json
import uuid as uuids
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, FieldErrors, Refused, StaleRevision
from audit.log import record, record_all

from .. import kinds
from ..answers.queries import Submission
from ..gold.actions import insert_decisions, lock_units
from ..gold.queries import contested_fields, current_decisions, current_values, earlier_values
from ..guidelines.actions import latest_guideline
from ..models import Answer, Assignment, CameBy, Decision, Member, Origin, Outcome, Project, Purpose, Round, Unit
from ..queue.actions import insert_answers
from ..staleness.actions import stale_units


def curation_round(*, project: Project, kind: str, by: User | None) -> Round:
    """Return the project's curation round of a kind. Create it when it is first needed."""
    existing = Round.objects.filter(project=project, kind=kind, purpose=Purpose.CURATION).first()
    guideline = latest_guideline(project, kind, by=by)
    if existing:
        # The round is never closed, so update its guideline: new edits follow the latest one.
        if existing.guideline_id != guideline.pk:
            Round.objects.filter(pk=existing.pk).update(guideline=guideline)
            existing.guideline = guideline
        return existing
    with transaction.atomic():
        round, _ = Round.objects.get_or_create(
            project=project,
            kind=kind,
            purpose=Purpose.CURATION,
            defaults={
                "name": f"curation of {kind}",
                "overlap": 1,
                "seed": 0,
                "allocation": Round.Allocation.FIXED,
                "guideline": guideline,
                "sampling": {"units": "as edited"},
                "opened_at": timezone.now(),
            },
        )
    return round


def take_assignments(round: Round, units: Sequence[Unit], by: Member) -> dict[int, Assignment]:
    """Return the curator's assignment (number 0) of each unit, by unit id.

    Create missing assignments, and retire those of other curators, so that each assignment has one person. Raise
    `Conflict` if another curator creates one at the same moment.

    Run in the caller's transaction. Existing rows are updated, so a second curator waits until the transaction ends and
    then reads its decisions.
    """
    ids = [u.pk for u in units]
    assignments = Assignment.objects.filter(round=round, unit__in=ids)
    assignments.filter(number=0, person=by).update(number=0)
    assignments.filter(number=0).exclude(person=by).update(number=-F("pk"))
    assignments.filter(person=by).update(number=0)
    assigned_units = set(assignments.filter(person=by).values_list("unit", flat=True))
    try:
        with transaction.atomic():
            Assignment.objects.bulk_create(
                Assignment(round=round, unit=unit, number=0, position=0, person=by)
                for unit in units
                if unit.pk not in assigned_units
            )
    except IntegrityError:
        raise Conflict("Another curator is editing this at the same moment. Reload the page, then try again.") from None
    return {assignment.unit_id: assignment for assignment in assignments.filter(person=by)}


@dataclass(frozen=True)
class Correction:
    """The new value of one unit in one kind.

    ``shown`` and ``seen`` are the versions that the person saw, if the client sends them: the revision of the unit, and
    the newest decision about it (0 for none).
    """

    unit: Unit
    kind: str
    value: kinds.Value
    shown: int | None = None
    seen: int | None = None


@dataclass
class Corrected:
    """Result of one correction: the new decisions, none if the value was already current."""

    unit: Unit
    kind: str
    decisions: list[Decision] = field(default_factory=list)


def correct(*, unit: Unit, kind: str, value: kinds.Value, reason: str, by: Member) -> list[Decision]:
    """Set the current value of one unit. Return the new decisions, one per changed field."""
    return correct_all([Correction(unit, kind, value)], project=unit.project, reason=reason, by=by)[0].decisions


def correct_all(
    corrections: Sequence[Correction],
    *,
    project: Project,
    reason: str,
    by: Member,
    batch: uuids.UUID | None = None,
    path: str = "",
    adjudicated: Round | None = None,
) -> list[Corrected]:
    """Set current values, all or none.

    Store each value as an answer to assignment 0 of the curation round, and decide the fields that change. A reason is
    required if a current value is replaced.

    ``path`` is the prefix of a row in error fields, for example ``rows.{n}.`` in a batch. ``adjudicated`` is the round
    that the decisions belong to, if they are adjudications.

    Raise `Refused` with every error by row and field. Raise `StaleRevision` with both versions of each cell that has
    changed since it was shown.
    """
    _check(corrections, path, by)
    done = [Corrected(c.unit, c.kind) for c in corrections]
    by_kind: dict[str, list[int]] = defaultdict(list)
    for n, correction in enumerate(corrections):
        by_kind[correction.kind].append(n)
    with transaction.atomic():
        lock_units([c.unit for c in corrections])
        work = {
            # `all_kinds` sorts a kind after the kinds by whose values it is judged, so their values are written first.
            kind.key: _KindCorrections(project, kind.key, [corrections[n] for n in by_kind[kind.key]], by, adjudicated)
            for kind in kinds.all_kinds()
            if kind.key in by_kind
        }
        _refuse_stale(list(work.values()))
        if not reason.strip() and any(w.replaces for w in work.values()):
            raise Refused.field("reason", "Give a reason for the change.")
        for kind, one in work.items():
            for n, decisions in zip(by_kind[kind], one.write(reason.strip(), batch), strict=True):
                done[n].decisions = decisions
    return done


def _check(corrections: Sequence[Correction], path: str, by: Member) -> None:
    """Raise `Refused` with every error that a row has on its own."""
    errors: FieldErrors = []
    met: set[tuple[int, str]] = set()
    for n, c in enumerate(corrections):
        where = path.format(n=n)
        how = kinds.get(c.kind)
        if c.unit.type not in how.unit_types:
            message = (
                f"The task {how.title!r} applies to {' and '.join(how.unit_types)} units, not to {c.unit.type} units."
            )
            errors.append({"field": f"{where}unit", "message": message})
        elif c.unit.superseded_by_id:
            errors.append(
                {"field": f"{where}unit", "message": "The text of this unit was corrected. Decide the corrected text."}
            )
        elif (c.unit.pk, c.kind) in met:
            errors.append(
                {"field": f"{where}unit", "message": "An earlier row has the same unit and task. Send each only once."}
            )
        else:
            met.add((c.unit.pk, c.kind))
            try:
                how.check(kinds.curator_assignment(c.unit, c.kind, by), c.value)
            except Refused as refused:
                errors += [{"field": where + e["field"], "message": e["message"]} for e in refused.errors]
    if errors:
        raise Refused(errors[0]["message"], errors=errors)


class _KindCorrections:
    """The cells of one kind, locked by their assignments, with their current values."""

    def __init__(
        self,
        project: Project,
        kind: str,
        corrections: Sequence[Correction],
        by: Member,
        adjudicated: Round | None = None,
    ) -> None:
        self.how = kinds.get(kind)
        self.project, self.corrections, self.by = project, corrections, by
        self.units = [c.unit for c in corrections]
        self.round: Round = curation_round(project=project, kind=kind, by=by.user)
        self.decided_of = adjudicated or self.round
        # Take the assignments first. They lock the cells against corrections by other curators.
        self.assignments = take_assignments(self.round, self.units, by)
        self.now: datetime = timezone.now()
        # Read this before `pre_decide` writes decisions on imported values, which nobody can have seen.
        self.newest: dict[int, int] = defaultdict(int)
        for (unit, _), decision in current_decisions([u.pk for u in self.units], kind).items():
            self.newest[unit] = max(self.newest[unit], decision.pk)
        self.how.pre_decide(self.units)
        self.before = current_values(self.units, kind)
        self.contested = contested_fields(self.units, kind)

    def _said(self, c: Correction) -> list[str]:
        """Return the fields that the value contains. A kind may ask for only some of its fields."""
        return [name for name in self.how.fields if self.how.part_of(name, c.value)]

    def _changes(self, c: Correction, stale: set[tuple[int, str]]) -> list[str]:
        """Return the fields to decide: changed or contested fields, or all fields of a stale value."""
        # A stale value needs a new decision even if it stays the same, because its inputs have changed.
        is_stale = (c.unit.pk, self.how.key) in stale
        before = self.before[c.unit.pk]
        return [
            name
            for name in self._said(c)
            if is_stale
            or name not in before
            or (c.unit.pk, name) in self.contested
            or not self.how.is_equal(name, before, c.value)
        ]

    @property
    def replaces(self) -> bool:
        """Whether a current value is replaced by a different one."""
        return any(
            name in self.before[c.unit.pk] and not self.how.is_equal(name, self.before[c.unit.pk], c.value)
            for c in self.corrections
            for name in self._said(c)
        )

    def moved_on(self) -> list[dict[str, Any]]:
        """Return the cells that have changed since they were shown, with both versions."""
        if all(c.shown is None and c.seen is None for c in self.corrections):
            return []
        revisions = dict(Unit.objects.filter(pk__in=[u.pk for u in self.units]).values_list("pk", "revision"))
        return [
            {
                "unit": c.unit.pk,
                "kind": self.how.key,
                "shown": revisions[c.unit.pk],
                "seen": self.newest[c.unit.pk],
                "value": self.before[c.unit.pk] or None,
                "sent": c.value,
            }
            for c in self.corrections
            if (c.shown is not None and c.shown != revisions[c.unit.pk])
            or (c.seen is not None and c.seen != self.newest[c.unit.pk])
        ]

    def write(self, reason: str, batch: uuids.UUID | None) -> list[list[Decision]]:
        """Store the answers and decisions of changed cells. Return the decisions in the order of the corrections."""
        # Read this now and not with the current values: a tuple that changes in the same batch makes labels stale.
        stale = stale_units([u.pk for u in self.units], kind=self.how.key)
        changing = [(c, fields) for c in self.corrections if (fields := self._changes(c, stale))]
        revisions = dict(Unit.objects.filter(pk__in=[u.pk for u in self.units]).values_list("pk", "revision"))
        answers = self._answers([c for c, _ in changing], revisions, reason, batch)
        decisions = {
            c.unit.pk: [
                Decision(
                    unit=c.unit,
                    kind=self.how.key,
                    field=name,
                    origin=Origin.CURATED,
                    answer=answers[c.unit.pk],
                    round=self.decided_of,
                    decided_by=self.by.user,
                    reason=reason,
                    decided_at=self.now,
                )
                for name in fields
            ]
            for c, fields in changing
        }
        insert_decisions(row for rows in decisions.values() for row in rows)
        self.how.post_decide([c.unit for c, _ in changing], by=self.by.user, reason=reason)
        record_all(
            {
                "actor": self.by.user,
                "verb": "correct",
                "obj": c.unit,
                "project_id": self.project.pk,
                "reason": reason,
                "before": {name: self.before[c.unit.pk].get(name) for name in fields},
                "after": {name: c.value.get(name) for name in fields},
            }
            for c, fields in changing
        )
        return [decisions.get(c.unit.pk, []) for c in self.corrections]

    def _answers(
        self, changing: Sequence[Correction], revisions: dict[int, int], reason: str, batch: uuids.UUID | None
    ) -> dict[int, Answer]:
        submissions = []
        for c in changing:
            assignment = self.assignments[c.unit.pk]
            body = json.dumps({"unit": c.unit.pk, "value": c.value, "reason": reason}, sort_keys=True).encode()
            submission = Submission(
                uuid=uuids.uuid5(batch, f"{self.how.key}/{c.unit.pk}") if batch else uuids.uuid4(),
                digest=sha256(body).hexdigest(),
                assignment=assignment.pk,
                revision=assignment.revision,
                kind=self.how.key,
                outcome=Outcome.ANSWERED,
                shown=revisions[c.unit.pk],
                comment=reason,
                came_by=CameBy.CORRECTION,
            )
            submissions.append((assignment, submission, c.value))
        answers = insert_answers(self.round, submissions, author=self.by, now=self.now)
        for answer in answers:
            answer.assignment.revision, answer.assignment.current_answer = answer.revision, answer
        Assignment.objects.bulk_update([a.assignment for a in answers], ["revision", "current_answer"])
        return {a.assignment.unit_id: a for a in answers}


def _refuse_stale(work: Sequence[_KindCorrections]) -> None:
    moved = [cell for one in work for cell in one.moved_on()]
    if moved:
        raise StaleRevision(
            "The values have changed since they were shown to you. Nothing was stored. Compare both versions.",
            current=moved,
        )


def confirm(*, unit: Unit, kind: str, reason: str, by: Member) -> list[Decision]:
    """Confirm the stale values of a unit by new decisions with the same values.

    For a corrected text, carry the values over from the earlier text. Raise `Refused` by field if a value cannot be
    carried over. Raise `Conflict` if no value waits for confirmation.
    """
    with transaction.atomic():
        lock_units([unit])
        if not stale_units([unit.pk], kind=kind):
            raise Conflict("No value of this unit needs confirmation: it was already confirmed or replaced.")
        kinds.get(kind).pre_decide([unit])
        current = current_decisions([unit.pk], kind)
        decisions = (
            _repeat_decisions(list(current.values()), reason, by) if current else _carry_over(unit, kind, reason, by)
        )
        record(
            actor=by.user,
            verb="confirm",
            obj=unit,
            project_id=unit.project_id,
            reason=reason,
            after=current_values([unit], kind)[unit.pk],
        )
    return decisions


def _repeat_decisions(decisions: list[Decision], reason: str, by: Member) -> list[Decision]:
    """Decide the same values again, from the same sources. Imported values keep their origin; others become curated."""
    now = timezone.now()
    rows = [
        Decision(
            unit_id=d.unit_id,
            kind=d.kind,
            field=d.field,
            answer_id=d.answer_id,
            imported_id=d.imported_id,
            origin=d.origin if d.imported_id else Origin.CURATED,
            round_id=d.round_id,
            decided_by=by.user,
            reason=reason,
            decided_at=now,
        )
        for d in decisions
    ]
    insert_decisions(rows)
    return rows


def _carry_over(unit: Unit, kind: str, reason: str, by: Member) -> list[Decision]:
    before = earlier_values([unit], kind).get(unit.pk, {})
    how = kinds.get(kind)
    missing = [field for field in how.fields if field not in before]
    if missing:
        raise Refused.field(missing[0], "The earlier text has no value of this field to confirm. Enter a new value.")
    return correct(
        unit=unit,
        kind=kind,
        value=how.migrate(before, unit),
        reason=reason or "Confirmed on the corrected text.",
        by=by,
    )
