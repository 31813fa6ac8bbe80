"""Form gold from the answers of a round, field by field."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit.actions import create_checkpoints
from audit.digests import digest_of
from projects.answers.integrity import decision_content
from sql import planner

from .. import kinds
from ..answers.integrity import store_finished
from ..answers.queries import counted_answers, k_of
from ..jobs import batches
from ..models import Answer, Decision, Origin, Reference, Round, Unit
from ..stored_figures.actions import content_changed

DECISION_BATCH = 2000


def imported_decision(unit: int, kind: str, field: str, imported: int | None, decided_at: datetime) -> Decision:
    """Return a decision that makes an imported value current. ``decided_at``: the time of the import."""
    return Decision(
        unit_id=unit, kind=kind, field=field, origin=Origin.IMPORTED, imported_id=imported, decided_at=decided_at
    )


def with_digests(decisions: Iterable[Decision]) -> list[Decision]:
    """Return the decisions with their digests, ready to be inserted. ``decided_at`` must be set."""
    rows = list(decisions)
    for row in rows:
        row.digest = digest_of(decision_content(row))
    return rows


def insert_decisions(decisions: Iterable[Decision]) -> int:
    """Insert decisions in the caller's transaction and return how many. ``decided_at`` must be set."""
    rows = with_digests(decisions)
    Decision.objects.bulk_create(rows, batch_size=DECISION_BATCH)
    if rows:
        # All units of one call belong to the same project.
        content_changed(Q(units=rows[0].unit_id))
    return len(rows)


BATCH = 500
Progress = Callable[[int, int | None, str], None]


def finish_round(*, round: Round, by: User | None, progress: Progress | None = None) -> dict[str, Any]:
    """Form gold of a closed round if its purpose makes gold, and create an audit checkpoint. Idempotent.

    Raise `Conflict` if the round is open, because later answers would be missing from its gold.
    """
    if not Round.objects.filter(pk=round.pk, status=Round.Status.CLOSED).exists():
        raise Conflict("The round is still open. Close it before gold is formed.")
    counts: dict[str, int] = defaultdict(int)
    if round.meaning.makes_gold:
        done = 0
        for batch in _units_with_answers(round):
            with batches.batch():
                for origin, n in _store_decisions(round, batch, by).items():
                    counts[origin] += n
            done += len(batch)
            if progress:
                progress(done, round.units_count, "forming gold")
        incomplete = round.units_count - done
        if incomplete:
            counts["units without enough answers"] = incomplete
        planner.analyze_grown_tables(Decision)
    kinds.get(round.kind).closed(round)
    store_finished(round, by)
    with batches.idempotent():
        create_checkpoints()
    return {"decisions": dict(counts)}


Answers = list[tuple[Answer, kinds.Value]]


def _units_with_answers(round: Round) -> Iterator[list[tuple[Unit, list[Answer]]]]:
    """Yield batches of units that have all k answers. Repeats are left out."""
    wanted = k_of(round)
    firsts = (answer for answer in counted_answers(round) if not answer.assignment.repeat)
    by_unit = ((unit, list(answers)) for unit, answers in groupby(firsts, key=lambda a: a.assignment.unit))
    whole = ((unit, answers) for unit, answers in by_unit if len(answers) >= wanted(unit.pk))
    while batch := list(islice(whole, BATCH)):
        yield batch


def _store_decisions(round: Round, batch: list[tuple[Unit, list[Answer]]], by: User | None) -> dict[str, int]:
    kind = kinds.get(round.kind)
    decided = set(
        Decision.objects.filter(round=round, unit__in=[unit.pk for unit, _ in batch]).values_list("unit", "field")
    )
    values = kind.values(a.pk for _, answers in batch for a in answers)
    confirmed = _confirmed_fields(values) if round.meaning.shows_value else set()
    now = timezone.now()
    rows = [
        Decision(
            unit=unit,
            kind=kind.key,
            field=result.field,
            origin=result.origin,
            answer=result.answer,
            round=round,
            decided_by=by,
            decided_at=now,
        )
        for unit, answers in batch
        for result in kind.aggregate(unit, [(a, values[a.pk]) for a in answers], round)
        if (unit.pk, result.field) not in decided
        and (result.answer is None or (result.answer.pk, result.field) not in confirmed)
        and (result.origin != Origin.CONTESTED or round.meaning.contests)
    ]
    units = [unit for unit, _ in batch]
    kind.pre_decide(units)
    insert_decisions(rows)
    kind.post_decide(units, by=by, reason=f"The round {round.name!r} decided it.")
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row.origin] += 1
    return counts


def _confirmed_fields(answers: Iterable[UUID]) -> set[tuple[UUID, str]]:
    """Return (answer, field) of shown values that were confirmed. Their current decisions stay."""
    same = Reference.objects.filter(answer__in=answers, same=True).order_by()
    return set(same.values_list("answer", "decision__field"))


def lock_units(units: Sequence[Unit]) -> None:
    """Lock units against decisions, text corrections and removal until the caller's transaction ends.

    Wait for other transactions that hold the units. Raise `Conflict` if a text was replaced since it was read.

    SQLite needs no row locks: a transaction that writes excludes other writers from its beginning.
    """
    read = {unit.pk: unit.superseded_by_id for unit in units}
    locked = Unit.objects.select_for_update(no_key=True).filter(pk__in=read).order_by("pk")
    if dict(locked.values_list("pk", "superseded_by")) != read:
        raise Conflict("Somebody else corrected or removed a text at the same moment. Reload the page, then try again.")
