"""From answers to gold: what a round's answers come to, field by field."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from accounts.models import User
from audit.actions import seal_pending

from .. import batches, kinds, planner
from ..models import Answer, Decision, Origin, Outcome, Purpose, Round, Unit
from ..pointers import settle
from .decisions import insert_decisions

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
            with batches.batch():
                for origin, n in _decide(round, batch, by).items():
                    counts[origin] += n
            done += len(batch)
            if progress:
                progress(done, round.units_count, "forming gold")
        incomplete = round.units_count - done
        if incomplete:
            counts["units without enough answers"] = incomplete
        planner.look_at_grown(Decision)
    settle(round, by)
    with batches.harmless():
        seal_pending()
    return {"decisions": dict(counts)}


Answers = list[tuple[Answer, kinds.Value]]


def counted(round: Round) -> QuerySet[Answer]:
    """The answers that count: the newest revision of slots 1..k, skips left out, units in the order of the walk."""
    return Answer.objects.filter(outcome=Outcome.ANSWERED, current_of__round=round, current_of__number__gte=1).order_by(
        "assignment__position", "assignment__number", "assignment__repeat"
    )


def counted_answers(round: Round) -> Iterator[Answer]:
    """The answers that count, with slot, unit and author."""
    return counted(round).select_related("assignment__unit", "author").iterator(chunk_size=2000)


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
    values = kind.values(a.pk for _, answers in batch for a in answers)
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
    units = [unit for unit, _ in batch]
    kind.before_decisions(units)
    insert_decisions(rows)
    kind.after_decisions(units, by=by, reason=f"The round {round.name!r} decided it.")
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row.origin] += 1
    return counts


def current_decisions(units: list[int], kind: str) -> dict[tuple[int, str], Decision]:
    """The decision in force by (unit id, field): the newest that is no contest. One query."""
    rows = Decision.objects.filter(unit__in=units, kind=kind).exclude(origin=Origin.CONTESTED).order_by("pk")
    return {(row.unit_id, row.field): row for row in rows}


def values_in_force(units: list[Unit], kind: str) -> dict[int, dict[str, Any]]:
    """The gold value of each unit, field by field, as far as it is decided. A fixed number of queries."""
    how = kinds.get(kind)
    decisions = current_decisions([u.pk for u in units], kind)
    answers = how.values({d.answer_id for d in decisions.values() if d.answer_id})
    imports = {d.imported_id for d in decisions.values() if d.imported_id}
    imported = how.imported_values(units, imports) if imports else {}
    gold: dict[int, dict[str, Any]] = {u.pk: {} for u in units}
    for (unit, field), decision in decisions.items():
        value = answers[decision.answer_id] if decision.answer_id else imported[unit, decision.imported_id or 0]
        for name in (field, f"{field}_text", f"{field}_found", f"{field}_occurrences"):
            if name in value:
                gold[unit][name] = value[name]
    return gold
