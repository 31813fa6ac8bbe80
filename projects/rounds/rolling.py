"""Rolling rounds: add new units that match the plan of an open round.

Code that can make a unit match (decisions, imports, reviews from a search) calls `due` in its transaction. The job that
`due` enqueues adds all units that match by then, and is idempotent.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import F, Max

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from projects.jobs.batches import KIND
from sql.expressions import LockedExists
from sql.planner import analyze_tables

from ..jobs import batches, jobs
from ..jobs.batches import Progress
from ..models import Assignment, Job, Participant, Round, Unit
from ..notifications.actions import What, notify
from .planning import build_assignment, create_units, not_open, plan_assignments, plan_of, planned_units

#: Number of units in one transaction.
BATCH = 500


def ask(*, round: Round, by: User) -> Job:
    """Start a job that adds matching units to a rolling round now."""
    if not round.is_rolling:
        raise Refused.field("round", "This round is not rolling: its units were fixed when it opened.")
    if not round.is_open:
        raise Conflict(not_open(round))
    return jobs.request_job(project=round.project, kind=KIND, params={"round": round.pk}, by=by)[0]


def add_matching_units(*, round: Round, by: User | None, progress: Progress) -> dict[str, Any]:
    """Add assignments for matching units that are not in the round yet, in short transactions.

    Idempotent. Nothing changes if no new unit matches, or if the round was closed in the meantime.
    """
    new, done = _new(round), 0
    while new:
        again = False
        for first in range(0, len(new), BATCH):
            progress(done, done + len(new) - first, "adding units")
            with batches.batch():
                part = _append(round, new[first : first + BATCH], by)
            if part is None:
                again = False
                break
            done += len(part)
            again |= len(part) < len(new[first : first + BATCH])
        # Look again for the new versions of units whose text was corrected in the meantime.
        new = _new(round) if again else []
    if done:
        with batches.batch():
            working = Participant.objects.filter(round=round, left_at=None, member__left_at=None)
            notify(set(working.values_list("member__user", flat=True)), What.MORE, round=round)
        analyze_tables(Assignment, Unit)
    return {"round": round.pk, "units": done}


def _new(round: Round) -> list[tuple[int, int]]:
    """Return the matching (unit, context) ids that are not in the round.

    The new version of a unit that is in the round is not new. Whether it is assigned depends on the answers to the old
    version (`staleness`).
    """
    chosen = planned_units(round.project, plan_of(round, []))
    with batches.batch():
        units = create_units(round, chosen)
    current_ids = Assignment.objects.filter(round=round).order_by().values("unit")
    known = set(current_ids.values_list("unit", flat=True))
    known.update(Unit.objects.filter(supersedes__in=current_ids).values_list("pk", flat=True))
    return [unit for unit in units if unit[0] not in known]


def _append(round: Round, units: Sequence[tuple[int, int]], by: User | None) -> Sequence[tuple[int, int]] | None:
    """Append units to the round and return them, or None if the round is no longer open.

    Units that were corrected or removed since the query are left out.
    """
    # Lock the round until the end of the transaction: a lead may be closing it.
    if not Round.objects.filter(LockedExists(Round.objects.filter(pk=round.pk, status=Round.Status.OPEN)), pk=round.pk):
        return None
    # A correction of one of these units waits for the lock and then finds its assignments (`staleness.superseded`).
    locked_units = Unit.objects.select_for_update(no_key=True).filter(pk__in=[unit for unit, _ in units]).order_by("pk")
    current_ids = {pk for pk, gone in locked_units.values_list("pk", "superseded_by") if gone is None}
    units = [unit for unit in units if unit[0] in current_ids]
    if not units:
        return units
    assignments = Assignment.objects.filter(round=round)
    last = assignments.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    Assignment.objects.bulk_create(
        build_assignment(round, planned, after=first) for planned in plan_assignments(round, units, [])
    )
    # Participants who have wrapped to the first position continue at the new units first.
    Participant.objects.filter(round=round, wrapped=True).update(wrapped=False, cursor=first - 1)
    Round.objects.filter(pk=round.pk).update(units_count=F("units_count") + len(units))
    record(actor=by, verb="take in units", obj=round, project_id=round.project_id, after={"units": len(units)})
    return units
