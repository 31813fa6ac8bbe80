"""Rolling rounds: units that come to fit what an open round asks for are taken in as they come.

What can make a unit fit (decisions, imports, reviews that a search brought) calls `due` in its transaction; the job
that it writes takes in whatever fits by then, however often it runs.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import F, Max, Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from sql.held import Held
from sql.planner import look_anew

from ..background import batches, jobs
from ..background.progress import Progress
from ..models import Assignment, Job, JobStatus, Participant, Round, Unit
from ..notifications.telling import What, tell
from . import rounds

KIND = "take_in_units"
#: What is decided one by one is taken in together.
TOGETHER = timedelta(seconds=10)
#: Units of one transaction.
BATCH = 500


def due(where: Q) -> None:
    """Have open rolling rounds look for units that fit by now. ``where``: which rounds. In the caller's transaction."""
    found = Round.objects.filter(where, status=Round.Status.OPEN, sampling__rolling=True)
    for round in found.select_related("project"):
        params = {"round": round.pk}
        # One that runs may have looked already; one that waits has not.
        if not Job.objects.filter(kind=KIND, status=JobStatus.QUEUED, project=round.project_id, params=params).exists():
            later = timezone.now() + TOGETHER
            jobs.enqueue(project=round.project, kind=KIND, params=params, by=None, not_before=later)


def ask(*, round: Round, by: User) -> Job:
    """Have a rolling round look for units now."""
    if not round.is_rolling:
        raise Refused.field("round", "This round's units were fixed when it opened.")
    if not round.is_open:
        raise Conflict(rounds.not_open(round))
    return jobs.ask(project=round.project, kind=KIND, params={"round": round.pk}, by=by)[0]


def take_in(*, round: Round, by: User | None, progress: Progress) -> dict[str, Any]:
    """Append the slots of units that fit and are not in the round yet, in short transactions. Done again it goes on;
    where nothing new fits, or the round was closed meanwhile, it changes nothing."""
    new, done = _new(round), 0
    while new:
        again = False
        for first in range(0, len(new), BATCH):
            progress(done, done + len(new) - first, "taking in units")
            with batches.batch():
                part = _append(round, new[first : first + BATCH], by)
            if part is None:
                again = False
                break
            done += len(part)
            again |= len(part) < len(new[first : first + BATCH])
        # What took the place of a text that was corrected meanwhile is asked in its words.
        new = _new(round) if again else []
    if done:
        with batches.batch():
            working = Participant.objects.filter(round=round, left_at=None, member__left_at=None)
            tell(set(working.values_list("member__user", flat=True)), What.MORE, round=round)
        look_anew(Assignment, Unit)
    return {"round": round.pk, "units": done}


def _new(round: Round) -> list[tuple[int, int]]:
    """The (unit, context) ids that fit, as the kind lays them out, and are not in the round. A text that took the place
    of one that is in it is not new: whether it is asked anew is a matter of that one's answers (`staleness`)."""
    chosen = rounds.chosen_units(round.project, rounds.plan_of(round, []))
    with batches.batch():
        units = rounds.laid_out(round, chosen)
    there = Assignment.objects.filter(round=round).order_by().values("unit")
    known = set(there.values_list("unit", flat=True))
    known.update(Unit.objects.filter(supersedes__in=there).values_list("pk", flat=True))
    return [unit for unit in units if unit[0] not in known]


def _append(round: Round, units: Sequence[tuple[int, int]], by: User | None) -> Sequence[tuple[int, int]] | None:
    """Behind the last place of the walk, but for texts that were corrected or taken out since they were found. Those
    that were appended; None where the round is not open any more."""
    # Held until the end of the transaction: a lead may be closing it.
    if not Round.objects.filter(Held(Round.objects.filter(pk=round.pk, status=Round.Status.OPEN)), pk=round.pk):
        return None
    # Whoever corrects one of these waits, and then finds it among what the round asks (`staleness.superseded`).
    held = Unit.objects.select_for_update(no_key=True).filter(pk__in=[unit for unit, _ in units]).order_by("pk")
    there = {pk for pk, gone in held.values_list("pk", "superseded_by") if gone is None}
    units = [unit for unit in units if unit[0] in there]
    if not units:
        return units
    slots = Assignment.objects.filter(round=round)
    last = slots.aggregate(last=Max("position"))["last"]
    first = 0 if last is None else last + 1
    Assignment.objects.bulk_create(
        rounds.assignment(round, slot, after=first) for slot in rounds.slots_of(round, units, [])
    )
    # Whoever has come round to the beginning of the walk goes to its new end first.
    Participant.objects.filter(round=round, wrapped=True).update(wrapped=False, cursor=first - 1)
    Round.objects.filter(pk=round.pk).update(units_count=F("units_count") + len(units))
    record(actor=by, verb="take in units", obj=round, project_id=round.project_id, after={"units": len(units)})
    return units
