"""Prepare a large round in a background job before it opens.

The job creates the assignments in short transactions, so that other requests do not wait. The round is invisible to
its people until it opens (docs/decisions/0011-large-and-rolling-rounds.md). Until then the preparation can be stopped
and continued, and the round can be discarded completely.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, groupby
from operator import attrgetter
from time import monotonic, sleep
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit import row_digests
from audit.log import REMOVE, record

from .. import kinds
from ..answers.assignments import PlannedAssignment, Shape
from ..gates import actions as gates_actions
from ..gates import queries as gates_queries
from ..jobs import batches, jobs
from ..jobs.queries import ACTIVE
from ..models import Assignment, GateReading, Job, Member, PilotGate, Project, Round
from ..staleness import actions as staleness_actions
from . import actions as rounds_actions
from . import choosing
from .planning import (
    WORKERS,
    RoundPlan,
    build_assignment,
    checked,
    count_asked,
    create_units,
    matching_units,
    name_taken,
    plan_assignments,
    plan_of,
    planned_units,
    refuse_empty,
    refuse_sample,
    sample_units,
    store_round,
    validated_plan,
)

#: Maximum number of assignments of a round that opens in the request, which takes a third of a second.
AT_ONCE = 5_000
#: Number of assignments that one transaction of the job stores, in some hundredths of a second. SQLite allows no other
#: writer during that time; waiting connections retry at growing intervals.
BATCH = 250
OPEN, DISCARD = "open_round", "discard_round"
#: Reads the closed pilot of a waiting round (`waiting`).
READ_PILOT = "read_pilot"
Progress = Callable[[int, int | None, str], None]


def begin_round(*, project: Project, plan: RoundPlan, by: User | None) -> Round:
    """Open a round, or start a job that prepares and opens it if it has more than `AT_ONCE` assignments.

    A round with a gate waits for its pilot (`waiting`), however small it is.
    """
    plan = validated_plan(project, plan)
    ids = matching_units(project, plan)
    unit_count = count_asked(project, plan, sample_units(ids, plan))
    if plan.gate is None and plan.shape.count(unit_count) <= AT_ONCE:
        return rounds_actions.open_round(project=project, plan=plan, by=by)
    refuse_sample(plan, len(ids))
    refuse_empty(ids, plan)
    choosing.refuse_unknown(plan.strata, plan.kind)
    plan, people, guideline = checked(project, plan, by)
    try:
        with transaction.atomic():
            round = store_round(project, plan, guideline, by, units=unit_count, status=Round.Status.PREPARING)
            members = [member.pk for member in people]
            if plan.gate is None:
                _ask(OPEN, round, members, by)
            elif gates_actions.store(round, plan.gate, members):
                jobs.enqueue(project=project, kind=READ_PILOT, params={"round": round.pk}, by=by)
    except IntegrityError as error:
        raise name_taken(plan) from error
    return round


def job_of(round: Round) -> Job | None:
    """Return the newest job that prepares or discards a round."""
    of_project = Job.objects.filter(project=round.project_id, kind__in=(OPEN, DISCARD))
    return of_project.filter(params__round=round.pk).order_by("-pk").first()


def resume(*, round: Round, by: User | None) -> Job:
    """Continue the preparation of a round whose job ended before it was open.

    If the round still waits for a closed pilot that was not read, read it.
    """
    gate = PilotGate.objects.filter(round=round).select_related("pilot").first()
    if gate and not gate.pilot.is_open and not GateReading.objects.filter(round=round.pk).exists():
        return jobs.request_job(project=round.project, kind=READ_PILOT, params={"round": round.pk}, by=by)[0]
    return _next(OPEN, round, by)


def discard(*, round: Round, by: User | None) -> Job:
    """Start a job that removes a round that never opened, with its assignments."""
    return _next(DISCARD, round, by)


def _next(kind: str, round: Round, by: User | None) -> Job:
    with transaction.atomic():
        # The update locks the row, so that the round cannot open at the same time.
        if not _preparing(round).update(status=Round.Status.PREPARING):
            raise Conflict("The round was already opened or discarded.")
        last = job_of(round)
        if last is None:
            if kind == OPEN and gates_queries.is_waiting(round):
                raise Conflict("The round waits for its pilot. Open it with a reason instead.")
            return first_job(kind, round, by)
        if last.status in ACTIVE and last.cancel_requested:
            raise Conflict("The job of this round is being cancelled. Try again in a moment.")
        if last.status in ACTIVE and last.kind != kind:
            doing = "prepared. Stop the preparation first" if kind == DISCARD else "discarded"
            raise Conflict(f"The round is being {doing}.")
        return _ask(kind, round, last.params["people"], by)


def first_job(kind: str, round: Round, by: User | None) -> Job:
    """Start the first job of a round with a gate: open it or discard it."""
    gate = PilotGate.objects.filter(round=round).first()
    if gate is None:
        raise Conflict("The people of this round are no longer stored. Open a new round.")
    return _ask(kind, round, gate.people, by)


def _ask(kind: str, round: Round, people: Sequence[int], by: User | None) -> Job:
    params = {"round": round.pk, "people": list(people)}
    return jobs.request_job(project=round.project, kind=kind, params=params, by=by)[0]


def _preparing(round: Round) -> Any:
    return Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING)


def lay_out_and_open(*, round: Round, people: Sequence[int], by: User | None, progress: Progress) -> dict[str, Any]:
    """Create the assignments of a round in preparation and open it.

    A repeated call continues an interrupted preparation and replaces assignments that would now differ. It does not
    change an open round.
    """
    if round.status == Round.Status.PREPARING:
        if gates_queries.is_waiting(round):
            raise Conflict("The round waits for its pilot.")
        progress(0, None, "choosing units")
        chosen = planned_units(round.project, plan_of(round, people))
        refuse_empty(chosen, plan_of(round, people))
        with batches.batch():
            units = create_units(round, chosen)
        members = list(round.project.members.filter(pk__in=people).order_by("pk"))
        total = Shape.of(round.overlap, round.sampling).count(len(units))
        _lay_out(round, plan_assignments(round, units, members), total, progress)
        with batches.batch():
            _open(round, people, len(units), by)
    with batches.idempotent():
        # Integrity tracking expects rows in the order of their ids, but these may be much older than their digest.
        row_digests.store_digests(Round._meta.label_lower, Round.objects.filter(pk=round.pk))
        items = row_digests.store_digests(Assignment._meta.label_lower, Assignment.objects.filter(round=round))
    return {"round": round.pk, "assignments": items}


def _lay_out(round: Round, wanted: Iterator[PlannedAssignment], total: int, progress: Progress) -> None:
    columns = ("pk", "unit", "position", "number", "repeat", "person")
    in_order = Assignment.objects.filter(round=round).order_by("position", "number", "repeat", "unit")
    existing = list(in_order.values_list(*columns))
    done = 0
    for planned in wanted:
        if done == len(existing) or PlannedAssignment(*existing[done][1:]) != planned:
            wanted = chain([planned], wanted)
            break
        done += 1
    for ids in _parts((row[0] for row in existing[done:]), BATCH):
        with _short_batch():
            Assignment.objects.filter(pk__in=ids).delete()
        progress(done, total, "replacing assignments")
    # Store all assignments of a unit together, so that no unit ever has only some of them.
    for part in _parts(wanted, BATCH, together=attrgetter("position")):
        with _short_batch():
            Assignment.objects.bulk_create(build_assignment(round, planned) for planned in part)
        done += len(part)
        progress(done, total, "creating assignments")


def _open(round: Round, people: Sequence[int], units: int, by: User | None) -> None:
    """Open the round, in one transaction.

    Members who left the project or became viewers are removed from the round. Units whose text was corrected since the
    selection are replaced by the new version.
    """
    opened = _preparing(round).update(status=Round.Status.OPEN, opened_at=timezone.now(), units_count=units)
    if not opened:
        raise Conflict("The round was opened or discarded in the meantime.")
    round.refresh_from_db()
    # Lock members in order. A member who leaves the project at the same time is seen here or sees the open round.
    locked = Member.objects.select_for_update(no_key=True).filter(project=round.project_id, pk__in=people)
    members = list(locked.order_by("pk"))
    rounds_actions.start_round(round, members, units, by)
    staleness_actions.reassign_corrected_units(round)
    for member in members:
        if member.left_at is not None or member.role not in WORKERS:
            rounds_actions.remove_person(round=round, member=member, by=by)


def remove(*, round: Round, by: User | None, progress: Progress) -> dict[str, Any]:
    """Remove a round that never opened. A repeated call continues an interrupted removal."""
    if round.status != Round.Status.PREPARING:
        raise Conflict("The round was opened in the meantime, so it cannot be discarded.")
    assignments = Assignment.objects.filter(round=round)
    done, total = 0, assignments.count()
    while ids := list(assignments.order_by("-pk").values_list("pk", flat=True)[:BATCH]):
        with _short_batch():
            Assignment.objects.filter(pk__in=ids).delete()
        done += len(ids)
        progress(done, total, "discarding")
    with batches.batch():
        kinds.get(round.kind).discarded(round)
        gates_actions.remove(round, by)
        record(
            actor=by,
            verb=REMOVE,
            obj=round,
            project_id=round.project_id,
            reason="It never opened.",
            before={"name": round.name, "units": round.units_count},
        )
        if not _preparing(round).delete()[0]:
            raise Conflict("The round was opened in the meantime, so it cannot be discarded.")
    return {"assignments": done}


@contextmanager
def _short_batch() -> Iterator[None]:
    """Run a batch. On SQLite, pause as long afterwards, because only one connection can write at a time."""
    began = monotonic()
    with batches.batch():
        yield
    if connection.vendor == "sqlite":
        sleep(monotonic() - began)


def _parts(rows: Iterable[Any], size: int, *, together: Callable[[Any], Any] | None = None) -> Iterator[list[Any]]:
    """Yield rows in parts of about ``size``. Adjacent rows with the same ``together`` key stay in one part."""
    groups = ([row] for row in rows) if together is None else (list(group) for _, group in groupby(rows, together))
    part: list[Any] = []
    for group in groups:
        if part and len(part) + len(group) > size:
            yield part
            part = []
        part += group
    if part:
        yield part
