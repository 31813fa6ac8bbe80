"""A curator's word: values put in force by hand, as answers in the standing round of their kind."""

import json
import uuid as uuids
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from api.problems import FieldErrors, Refused, StaleRevision
from audit.log import record_all

from .. import kinds
from ..models import Answer, Assignment, CameBy, Decision, Member, Origin, Outcome, Project, Round, Unit
from ..rounds.submission import Submission
from ..values.in_force import contested_fields, decisions_in_force, values_in_force
from .answers import insert_answers
from .curation import curation_round, hold, take_slots
from .decisions import insert_decisions
from .staleness import stale_units


@dataclass(frozen=True)
class Correction:
    """One cell: the value that a kind is to have for a unit.

    ``shown`` and ``seen`` say what the person had before them, where the client tells: the unit's revision, and the
    newest decision about it (0: none).
    """

    unit: Unit
    kind: str
    value: kinds.Value
    shown: int | None = None
    seen: int | None = None


@dataclass
class Corrected:
    """What became of one cell: the fields that are decided anew, none where the value stands already."""

    unit: Unit
    kind: str
    decisions: list[Decision] = field(default_factory=list)


def correct(*, unit: Unit, kind: str, value: kinds.Value, reason: str, by: Member) -> list[Decision]:
    """Put one value in force. Returns the decisions made, one a field in which it differs."""
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
    """Put values in force, all or none: an answer in slot 0 of the standing round, adopted for the fields in which it
    differs. A reason is needed where a value in force is replaced.

    ``path`` names a row in the errors: ``rows.{n}.`` for a batch. ``adjudicated``: the round of which it is decided, in
    whose history the decisions stand. Raises `Refused` with every fault by row and field,
    `StaleRevision` with both versions of every cell that has changed since it was shown.
    """
    _check(corrections, path, by)
    done = [Corrected(c.unit, c.kind) for c in corrections]
    by_kind: dict[str, list[int]] = defaultdict(list)
    for n, correction in enumerate(corrections):
        by_kind[correction.kind].append(n)
    with transaction.atomic():
        hold([c.unit for c in corrections])
        work = {
            # In the order in which they are judged by one another's values.
            kind.key: _Work(project, kind.key, [corrections[n] for n in by_kind[kind.key]], by, adjudicated)
            for kind in kinds.all_kinds()
            if kind.key in by_kind
        }
        _refuse_stale(list(work.values()))
        if not reason.strip() and any(w.replaces for w in work.values()):
            raise Refused.field("reason", "Say why the value is changed.")
        for kind, one in work.items():
            for n, decisions in zip(by_kind[kind], one.write(reason.strip(), batch), strict=True):
                done[n].decisions = decisions
    return done


def _check(corrections: Sequence[Correction], path: str, by: Member) -> None:
    """Everything that is wrong with the rows in themselves."""
    errors: FieldErrors = []
    met: set[tuple[int, str]] = set()
    for n, c in enumerate(corrections):
        where = path.format(n=n)
        how = kinds.get(c.kind)
        if c.unit.type not in how.unit_types:
            message = f"{how.title} is asked of a {' or '.join(how.unit_types)}, not of a {c.unit.type}."
            errors.append({"field": f"{where}unit", "message": message})
        elif c.unit.superseded_by_id:
            errors.append({"field": f"{where}unit", "message": "Its text was corrected: label the text in force."})
        elif (c.unit.pk, c.kind) in met:
            errors.append({"field": f"{where}unit", "message": "This cell stands in an earlier row already."})
        else:
            met.add((c.unit.pk, c.kind))
            try:
                how.check(kinds.place(c.unit, c.kind, by), c.value)
            except Refused as refused:
                errors += [{"field": where + e["field"], "message": e["message"]} for e in refused.errors]
    if errors:
        raise Refused(errors[0]["message"], errors=errors)


class _Work:
    """The cells of one kind, locked by their slots, with what is in force of them."""

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
        # The slots are taken first: from here on nobody else decides these cells by hand.
        self.slots = take_slots(self.round, self.units, by)
        self.now: datetime = timezone.now()
        self.how.before_decisions(self.units)
        self.before = values_in_force(self.units, kind)
        self.contested = contested_fields(self.units, kind)

    def _said(self, c: Correction) -> list[str]:
        """The fields that a value says something of: a kind may ask some of them at a time."""
        return [name for name in self.how.fields if self.how.part_of(name, c.value)]

    def _changes(self, c: Correction, stale: set[tuple[int, str]]) -> list[str]:
        """The fields that are to be decided: what differs or is contested, and everything where it is stale."""
        # What was decided before something above the unit changed is said anew, even where it stays the same.
        again = (c.unit.pk, self.how.key) in stale
        before = self.before[c.unit.pk]
        return [
            name
            for name in self._said(c)
            if again
            or name not in before
            or (c.unit.pk, name) in self.contested
            or not self.how.says_same(name, before, c.value)
        ]

    @property
    def replaces(self) -> bool:
        """Whether a value in force gives way to another one."""
        return any(
            name in self.before[c.unit.pk] and not self.how.says_same(name, self.before[c.unit.pk], c.value)
            for c in self.corrections
            for name in self._said(c)
        )

    def moved_on(self) -> list[dict[str, Any]]:
        """The cells that are not as they were shown, with both versions."""
        if all(c.shown is None and c.seen is None for c in self.corrections):
            return []
        revisions = dict(Unit.objects.filter(pk__in=[u.pk for u in self.units]).values_list("pk", "revision"))
        newest: dict[int, int] = defaultdict(int)
        for (unit, _), decision in decisions_in_force([u.pk for u in self.units], self.how.key).items():
            newest[unit] = max(newest[unit], decision.pk)
        return [
            {
                "unit": c.unit.pk, "kind": self.how.key, "shown": revisions[c.unit.pk], "seen": newest[c.unit.pk],
                "value": self.before[c.unit.pk] or None, "sent": c.value,
            }
            for c in self.corrections
            if (c.shown is not None and c.shown != revisions[c.unit.pk])
            or (c.seen is not None and c.seen != newest[c.unit.pk])
        ]  # fmt: skip

    def write(self, reason: str, batch: uuids.UUID | None) -> list[list[Decision]]:
        """The answers and decisions of the cells that change, in the order of the corrections."""
        # Read now, not with what is in force: a tuple that the same batch changes makes labels stale.
        stale = stale_units([u.pk for u in self.units], kind=self.how.key)
        changing = [(c, fields) for c in self.corrections if (fields := self._changes(c, stale))]
        revisions = dict(Unit.objects.filter(pk__in=[u.pk for u in self.units]).values_list("pk", "revision"))
        answers = self._answers([c for c, _ in changing], revisions, reason, batch)
        made = {
            c.unit.pk: [
                Decision(
                    unit=c.unit, kind=self.how.key, field=name, origin=Origin.CURATED, answer=answers[c.unit.pk],
                    round=self.decided_of, decided_by=self.by.user, reason=reason, decided_at=self.now,
                )
                for name in fields
            ]
            for c, fields in changing
        }  # fmt: skip
        insert_decisions(row for rows in made.values() for row in rows)
        self.how.after_decisions([c.unit for c, _ in changing], by=self.by.user, reason=reason)
        record_all(
            {
                "actor": self.by.user, "verb": "correct", "obj": c.unit, "project_id": self.project.pk,
                "reason": reason, "before": {name: self.before[c.unit.pk].get(name) for name in fields},
                "after": {name: c.value.get(name) for name in fields},
            }
            for c, fields in changing
        )  # fmt: skip
        return [made.get(c.unit.pk, []) for c in self.corrections]

    def _answers(
        self, changing: Sequence[Correction], revisions: dict[int, int], reason: str, batch: uuids.UUID | None
    ) -> dict[int, Answer]:
        given = []
        for c in changing:
            slot = self.slots[c.unit.pk]
            body = json.dumps({"unit": c.unit.pk, "value": c.value, "reason": reason}, sort_keys=True).encode()
            submission = Submission(
                uuid=uuids.uuid5(batch, f"{self.how.key}/{c.unit.pk}") if batch else uuids.uuid4(),
                digest=sha256(body).hexdigest(), assignment=slot.pk, revision=slot.revision, kind=self.how.key,
                outcome=Outcome.ANSWERED, shown=revisions[c.unit.pk], comment=reason, came_by=CameBy.CORRECTION,
            )  # fmt: skip
            given.append((slot, submission, c.value))
        answers = insert_answers(self.round, given, author=self.by, now=self.now)
        for answer in answers:
            answer.assignment.revision, answer.assignment.current_answer = answer.revision, answer
        Assignment.objects.bulk_update([a.assignment for a in answers], ["revision", "current_answer"])
        return {a.assignment.unit_id: a for a in answers}


def _refuse_stale(work: Sequence[_Work]) -> None:
    moved = [cell for one in work for cell in one.moved_on()]
    if moved:
        raise StaleRevision(
            "What you changed has changed since it was shown to you. Nothing was stored: compare the two and decide.",
            current=moved,
        )
