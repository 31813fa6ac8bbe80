"""From answers to gold: what a round's answers come to, field by field."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.db.models import Count, F, QuerySet
from django.utils import timezone

from accounts.models import User
from audit.actions import seal_pending
from sql import planner

from .. import batches, kinds
from ..models import Answer, Assignment, Decision, Origin, Outcome, Reference, Round, Unit
from ..pointers import settle
from ..slots import Shape
from .decisions import insert_decisions

#: The walk's, of answers.
ORDER = ("assignment__position", "assignment__number", "assignment__repeat")
BATCH = 500
#: Answers that are read at a time.
PART = 1_000
Progress = Callable[[int, int | None, str], None]


def finish_round(*, round: Round, by: User | None, progress: Progress | None = None) -> dict[str, Any]:
    """Form gold of a closed round where that is its purpose, and seal. Repeating it adds nothing."""
    counts: dict[str, int] = defaultdict(int)
    if round.meaning.makes_gold:
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
    kinds.get(round.kind).closed(round)
    settle(round, by)
    with batches.harmless():
        seal_pending()
    return {"decisions": dict(counts)}


Answers = list[tuple[Answer, kinds.Value]]


def counted(round: Round) -> QuerySet[Answer]:
    """The answers that count: the newest revision of slots 1..k, skips left out, units in the order of the walk."""
    # By the answer's own slot, which points back at it: one join, by keys. With two, PostgreSQL compares every answer
    # with every slot of the round where it has not looked at the tables since they grew.
    in_force = {"assignment__number__gte": 1, "assignment__current_answer": F("pk")}
    found = Answer.objects.filter(outcome=Outcome.ANSWERED, assignment__round=round, **in_force)
    return found.order_by(*ORDER)


def opinions(round: Round) -> QuerySet[Answer]:
    """The answers that are each one person's opinion of a unit: those that count, without what a person was asked
    again. (Whether a round makes gold is said by its purpose.)"""
    return counted(round).filter(assignment__repeat=0)


def counted_parts(round: Round, **which: Any) -> Iterator[QuerySet[Answer]]:
    """The answers that count, some at a time: which they are is asked once, and each part by a statement of its own.

    So whoever reads them may write in between. On SQLite a statement that is half read would keep its connection from
    it as soon as anybody else has written: "database is locked".
    """
    ids = list(counted(round).filter(**which).values_list("pk", flat=True))
    for first in range(0, len(ids), PART):
        yield Answer.objects.filter(pk__in=ids[first : first + PART]).order_by(*ORDER)


def counted_answers(round: Round) -> Iterator[Answer]:
    """The answers that count, with slot, unit and author."""
    for part in counted_parts(round):
        yield from part.select_related("assignment__unit", "author")


def _units_with_answers(round: Round) -> Iterator[list[tuple[Unit, list[Answer]]]]:
    """Units that have all k answers, in batches; first answers only, where the round asks for repeats."""
    wanted = k_of(round)
    firsts = (answer for answer in counted_answers(round) if not answer.assignment.repeat)
    by_unit = ((unit, list(answers)) for unit, answers in groupby(firsts, key=lambda a: a.assignment.unit))
    whole = ((unit, answers) for unit, answers in by_unit if len(answers) >= wanted(unit.pk))
    while batch := list(islice(whole, BATCH)):
        yield batch


def k_of(round: Round) -> Callable[[int], int]:
    """How many people each unit of a round is asked of, by unit id."""
    if len(Shape.of(round.overlap, round.sampling).overlaps()) == 1:
        return lambda unit: round.overlap
    slots = Assignment.objects.filter(round=round, repeat=0).counted().order_by().values_list("unit")
    counts = dict(slots.annotate(n=Count("pk")))
    return lambda unit: counts[unit]


def _decide(round: Round, batch: list[tuple[Unit, list[Answer]]], by: User | None) -> dict[str, int]:
    kind = kinds.get(round.kind)
    decided = set(
        Decision.objects.filter(round=round, unit__in=[unit.pk for unit, _ in batch]).values_list("unit", "field")
    )
    values = kind.values(a.pk for _, answers in batch for a in answers)
    confirmed = _confirmed(values) if round.meaning.shows_value else set()
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
        for verdict in kind.adopt(unit, [(a, values[a.pk]) for a in answers], round)
        if (unit.pk, verdict.field) not in decided
        and (verdict.answer is None or (verdict.answer.pk, verdict.field) not in confirmed)
        and (verdict.origin != Origin.CONTESTED or round.meaning.contests)
    ]
    units = [unit for unit, _ in batch]
    kind.before_decisions(units)
    insert_decisions(rows)
    kind.after_decisions(units, by=by, reason=f"The round {round.name!r} decided it.")
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row.origin] += 1
    return counts


def _confirmed(answers: Iterable[UUID]) -> set[tuple[UUID, str]]:
    """(answer, field) of what was shown and confirmed: the decision that was shown stays in force, or whatever was
    decided since."""
    same = Reference.objects.filter(answer__in=answers, same=True).order_by()
    return set(same.values_list("answer", "decision__field"))
