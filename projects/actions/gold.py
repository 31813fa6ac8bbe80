"""From answers to gold: what a round's answers come to, field by field."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.models import User
from audit.actions import seal_pending
from sql import planner

from .. import kinds
from ..background import batches
from ..models import Answer, Decision, Origin, Reference, Round, Unit
from ..rounds.counted import counted_answers, k_of
from ..rounds.pointers import settle
from .decisions import insert_decisions

BATCH = 500
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


def _units_with_answers(round: Round) -> Iterator[list[tuple[Unit, list[Answer]]]]:
    """Units that have all k answers, in batches; first answers only, where the round asks for repeats."""
    wanted = k_of(round)
    firsts = (answer for answer in counted_answers(round) if not answer.assignment.repeat)
    by_unit = ((unit, list(answers)) for unit, answers in groupby(firsts, key=lambda a: a.assignment.unit))
    whole = ((unit, answers) for unit, answers in by_unit if len(answers) >= wanted(unit.pk))
    while batch := list(islice(whole, BATCH)):
        yield batch


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
