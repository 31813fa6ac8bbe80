"""From answers to gold: what a round's answers come to, field by field, and a curator's word."""

import json
import uuid as uuids
from collections import defaultdict
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from accounts.problems import Refused
from audit.actions import seal_pending
from audit.log import record

from .. import kinds
from ..models import Answer, Assignment, Decision, Member, Origin, Outcome, Project, Purpose, Round, Unit
from .answers import Submission, insert_answer
from .decisions import insert_decisions
from .guidelines import latest_guideline
from .staleness import stale_units

BATCH = 500
#: Purposes whose answers become gold. A reliability study and practice never touch it.
FORMS_GOLD = (Purpose.GOLD, Purpose.REVIEW_AND_CORRECT)
Progress = Callable[[int, int | None, str], None]


def finish_round(*, round: Round, by: User | None, progress: Progress | None = None) -> dict[str, Any]:
    """Form gold of a closed round where that is its purpose, and seal. Repeating it adds nothing."""
    counts: dict[str, int] = defaultdict(int)
    if round.purpose in FORMS_GOLD:
        done = 0
        for batch in _units_with_answers(round):
            with transaction.atomic():
                for origin, n in _decide(round, batch, by).items():
                    counts[origin] += n
            done += len(batch)
            if progress:
                progress(done, round.units_count, "forming gold")
        incomplete = round.units_count - done
        if incomplete:
            counts["units without enough answers"] = incomplete
    seal_pending()
    return {"decisions": dict(counts)}


Answers = list[tuple[Answer, kinds.Value]]


def counted_answers(round: Round) -> Iterator[Answer]:
    """The answers that count: the newest revision of slots 1..k, skips left out, units in the order of the walk."""
    return (
        Answer.objects.filter(outcome=Outcome.ANSWERED, current_of__round=round, current_of__number__gte=1)
        .select_related("assignment__unit", "author")
        .order_by("assignment__position", "assignment__number", "assignment__repeat")
        .iterator(chunk_size=2000)
    )


def _units_with_answers(round: Round) -> Iterator[list[tuple[Unit, list[Answer]]]]:
    """Units that have all k answers, in batches; first answers only, where the round asks for repeats."""
    batch: list[tuple[Unit, list[Answer]]] = []
    unit: Unit | None = None
    answers: list[Answer] = []

    def complete() -> bool:
        return unit is not None and len(answers) >= round.overlap

    for answer in counted_answers(round):
        if answer.assignment.repeat:
            continue
        if unit is None or answer.assignment.unit_id != unit.pk:
            if complete() and unit is not None:
                batch.append((unit, answers))
                if len(batch) == BATCH:
                    yield batch
                    batch = []
            unit, answers = answer.assignment.unit, []
        answers.append(answer)
    if complete() and unit is not None:
        batch.append((unit, answers))
    if batch:
        yield batch


def _decide(round: Round, batch: list[tuple[Unit, list[Answer]]], by: User | None) -> dict[str, int]:
    kind = kinds.get(round.kind)
    decided = set(
        Decision.objects.filter(round=round, unit__in=[unit.pk for unit, _ in batch]).values_list("unit", "field")
    )
    values = kind.values([a for _, answers in batch for a in answers])
    now = timezone.now()
    rows = [
        Decision(
            unit=unit,
            kind=kind.key,
            field=verdict.field,
            origin=verdict.origin,
            answer=verdict.answer,
            round=round,
            decided_by=by,
            decided_at=now,
        )
        for unit, answers in batch
        for verdict in kind.adopt(unit, [(a, values[a.pk]) for a in answers], round.policy)
        if (unit.pk, verdict.field) not in decided
    ]
    insert_decisions(rows)
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row.origin] += 1
    return counts


def current_decisions(units: list[int], kind: str) -> dict[tuple[int, str], Decision]:
    """The decision in force by (unit id, field): the newest that is no contest. One query."""
    rows = Decision.objects.filter(unit__in=units, kind=kind).exclude(origin=Origin.CONTESTED).order_by("pk")
    return {(row.unit_id, row.field): row for row in rows}


def curation_round(*, project: Project, kind: str, by: User | None) -> Round:
    """The project's standing round for what is edited by hand in one kind; made when first needed."""
    found = Round.objects.filter(project=project, kind=kind, purpose=Purpose.CURATION).first()
    guideline = latest_guideline(project, kind, by=by)
    if found:
        # It stands for as long as the project does: what is edited today is edited under today's guideline.
        if found.guideline_id != guideline.pk:
            Round.objects.filter(pk=found.pk).update(guideline=guideline)
            found.guideline = guideline
        return found
    with transaction.atomic():
        round, _ = Round.objects.get_or_create(
            project=project,
            kind=kind,
            purpose=Purpose.CURATION,
            defaults={
                "name": f"curation of {kind}", "overlap": 1, "seed": 0, "dealing": Round.Dealing.DEALT,
                "guideline": guideline, "sampling": {"units": "as edited"}, "opened_at": timezone.now(),
            },
        )  # fmt: skip
    return round


def correct(*, unit: Unit, kind: str, value: kinds.Value, reason: str, by: Member) -> list[Decision]:
    """Put a curator's value in the place of the gold one, with a reason: an answer in slot 0 of the standing round,
    adopted for the fields in which it differs. Returns the decisions made."""
    if not reason.strip():
        raise Refused.field("reason", "Say why the value is changed.")
    how = kinds.get(kind)
    if unit.type != how.unit_type:
        raise Refused.field("unit", f"{how.title} is asked of a {how.unit_type}, not of a {unit.type}.")
    how.check(unit, value)
    round = curation_round(project=unit.project, kind=kind, by=by.user)
    now = timezone.now()
    with transaction.atomic():
        slot = _curators_slot(round, unit, by)
        body = json.dumps({"unit": unit.pk, "value": value, "reason": reason}, sort_keys=True).encode()
        submission = Submission(
            uuid=uuids.uuid4(),
            digest=sha256(body).hexdigest(),
            assignment=slot.pk,
            revision=slot.revision,
            kind=kind,
            outcome=Outcome.ANSWERED,
            shown=unit.revision,
            comment=reason,
        )
        answer = insert_answer(slot, submission, value, author=by.pk, now=now)
        Assignment.objects.filter(pk=slot.pk).update(revision=answer.revision, current_answer=answer)
        before = values_in_force([unit], kind)[unit.pk]
        # What was decided before something above the unit changed is said anew, even where it stays the same.
        stale = bool(stale_units([unit.pk], kind=kind))
        rows = [
            Decision(
                unit=unit, kind=kind, field=field, origin=Origin.CURATED, answer=answer, round=round,
                decided_by=by.user, reason=reason, decided_at=now,
            )
            for field in how.fields
            if stale or before.get(field) != value.get(field)
        ]  # fmt: skip
        insert_decisions(rows)
        record(
            actor=by.user, verb="correct", obj=unit, project_id=unit.project_id, reason=reason,
            before={row.field: before.get(row.field) for row in rows},
            after={row.field: value.get(row.field) for row in rows},
        )  # fmt: skip
    return rows


def _curators_slot(round: Round, unit: Unit, by: Member) -> Assignment:
    """Slot 0 of the unit; another curator's is retired, so that each slot has one person."""
    slot = Assignment.objects.filter(round=round, unit=unit, number=0).first()
    if slot and slot.person_id == by.pk:
        return slot
    if slot:
        Assignment.objects.filter(pk=slot.pk).update(number=-slot.pk)
    mine = Assignment.objects.filter(round=round, unit=unit, person=by).first()
    if mine:
        Assignment.objects.filter(pk=mine.pk).update(number=0)
        mine.number = 0
        return mine
    return Assignment.objects.create(round=round, unit=unit, number=0, position=0, person=by)


def values_in_force(units: list[Unit], kind: str) -> dict[int, dict[str, Any]]:
    """The gold value of each unit, field by field, as far as it is decided. A fixed number of queries."""
    how = kinds.get(kind)
    decisions = current_decisions([u.pk for u in units], kind)
    answers = how.values(
        list({d.answer_id: Answer(uuid=d.answer_id) for d in decisions.values() if d.answer_id}.values())
    )
    imports = {d.imported_id for d in decisions.values() if d.imported_id}
    imported = how.imported_values(units, imports) if imports else {}
    gold: dict[int, dict[str, Any]] = {u.pk: {} for u in units}
    for (unit, field), decision in decisions.items():
        value = answers[decision.answer_id] if decision.answer_id else imported[unit, decision.imported_id or 0]
        for name in (field, f"{field}_text", f"{field}_found", f"{field}_occurrences"):
            if name in value:
                gold[unit][name] = value[name]
    return gold
