"""A large round is laid out by a job before it opens: in short transactions, so that nobody waits, and seen by nobody
who is to work in it (docs/decisions/0025-large-rounds.md).

Until it opens it can be stopped, gone on with, and discarded; then nothing is left of it.
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
from audit import witness
from audit.log import REMOVE, record

from .. import kinds
from ..background import batches, jobs
from ..background.waiting import ACTIVE
from ..models import Assignment, Job, Member, Project, Round
from ..rounds import choosing
from ..rounds.slots import Shape, Slot
from . import rounds, staleness
from .rounds import RoundPlan

#: Slots of a round that opens at once, in the request: a third of a second.
AT_ONCE = 5_000
#: Slots that one transaction of the job stores: some hundredths of a second, for which nobody else can write on SQLite.
#: (Whoever waits there asks again at growing distances.)
BATCH = 250
OPEN, DISCARD = "open_round", "discard_round"
Progress = Callable[[int, int | None, str], None]


def begin_round(*, project: Project, plan: RoundPlan, by: User | None) -> Round:
    """Open a round at once, or, where it has more than `AT_ONCE` slots, have a job prepare and open it."""
    kind, plan = kinds.get(plan.kind), rounds.meant(project, plan)
    there = choosing.units(project, plan.kind, plan.filters, plan.purpose, plan.options).count()
    taken = kind.units_after_layout(project, there if plan.sample is None else min(there, plan.sample), plan.options)
    if plan.shape.count(taken) <= AT_ONCE:
        return rounds.open_round(project=project, plan=plan, by=by)
    rounds.refuse_sample(plan, there)
    choosing.refuse_unknown(plan.strata, plan.kind)
    plan, people, guideline = rounds.checked(project, plan, by)
    try:
        with transaction.atomic():
            round = rounds.frozen(project, plan, guideline, by, units=taken, status=Round.Status.PREPARING)
            _ask(OPEN, round, [member.pk for member in people], by)
    except IntegrityError as error:
        raise rounds.name_taken(plan) from error
    return round


def job_of(round: Round) -> Job | None:
    """The newest job that prepares or discards a round."""
    of_project = Job.objects.filter(project=round.project_id, kind__in=(OPEN, DISCARD))
    return of_project.filter(params__round=round.pk).order_by("-pk").first()


def go_on(*, round: Round, by: User | None) -> Job:
    """Prepare a round on whose job has ended before it was open."""
    return _next(OPEN, round, by)


def discard(*, round: Round, by: User | None) -> Job:
    """Have a job remove a round that never opened, with all that was laid out of it."""
    return _next(DISCARD, round, by)


def _next(kind: str, round: Round, by: User | None) -> Job:
    with transaction.atomic():
        # Held: who opens it comes before this, or after it.
        if not _preparing(round).update(status=Round.Status.PREPARING):
            raise Conflict("This is for a round that has not been opened yet.")
        last = job_of(round)
        if last is None:
            raise Conflict("It is no longer known who is to work in this round: open another one.")
        if last.status in ACTIVE and last.cancel_requested:
            raise Conflict("The work on this round is being stopped: try again in a moment.")
        if last.status in ACTIVE and last.kind != kind:
            doing = "prepared: stop that first" if kind == DISCARD else "discarded"
            raise Conflict(f"The round is being {doing}.")
        return _ask(kind, round, last.params["people"], by)


def _ask(kind: str, round: Round, people: Sequence[int], by: User | None) -> Job:
    params = {"round": round.pk, "people": list(people)}
    return jobs.ask(project=round.project, kind=kind, params=params, by=by)[0]


def _preparing(round: Round) -> Any:
    return Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING)


def lay_out_and_open(*, round: Round, people: Sequence[int], by: User | None, progress: Progress) -> dict[str, Any]:
    """Lay out the slots of a round that is being prepared, and open it. Done again after it broke off, it goes on where
    it was; what would now be chosen or dealt otherwise is laid out anew. Of an open round it changes nothing."""
    if round.status == Round.Status.PREPARING:
        progress(0, None, "choosing units")
        chosen = rounds.chosen_units(round.project, rounds.plan_of(round, people))
        rounds.refuse_empty(chosen, rounds.plan_of(round, people))
        with batches.batch():
            units = rounds.laid_out(round, chosen)
        members = list(round.project.members.filter(pk__in=people).order_by("pk"))
        total = Shape.of(round.overlap, round.sampling).count(len(units))
        _lay_out(round, rounds.slots_of(round, units, members), total, progress)
        with batches.batch():
            _open(round, people, len(units), by)
    with batches.harmless():
        # Sealed rows are expected in the order of their ids; these may have been made long before they are sealed.
        witness.take(Round._meta.label_lower, Round.objects.filter(pk=round.pk))
        laid_out = witness.take(Assignment._meta.label_lower, Assignment.objects.filter(round=round))
    return {"round": round.pk, "slots": laid_out}


def _lay_out(round: Round, wanted: Iterator[Slot], total: int, progress: Progress) -> None:
    columns = ("pk", "unit", "position", "number", "repeat", "person")
    in_order = Assignment.objects.filter(round=round).order_by("position", "number", "repeat", "unit")
    there = list(in_order.values_list(*columns))
    done = 0
    for slot in wanted:
        if done == len(there) or Slot(*there[done][1:]) != slot:
            wanted = chain([slot], wanted)
            break
        done += 1
    for ids in _parts((row[0] for row in there[done:]), BATCH):
        with _short_batch():
            Assignment.objects.filter(pk__in=ids).delete()
        progress(done, total, "laying out anew")
    # A unit's slots come together, so that at no time one has a few of them.
    for part in _parts(wanted, BATCH, together=attrgetter("position")):
        with _short_batch():
            Assignment.objects.bulk_create(rounds.assignment(round, slot) for slot in part)
        done += len(part)
        progress(done, total, "laying out")


def _open(round: Round, people: Sequence[int], units: int, by: User | None) -> None:
    """In one transaction: the round is open, as if it was when its units were chosen. Who left the project since, or
    became a viewer, leaves the round; a text that was corrected since is asked in its new form."""
    opened = _preparing(round).update(status=Round.Status.OPEN, opened_at=timezone.now(), units_count=units)
    if not opened:
        raise Conflict("The round was opened or discarded meanwhile.")
    round.refresh_from_db()
    # Held in order, so that who leaves the project does so before this and is seen, or after it and sees the round.
    locked = Member.objects.select_for_update(no_key=True).filter(project=round.project_id, pk__in=people)
    members = list(locked.order_by("pk"))
    rounds.begin(round, members, units, by)
    staleness.ask_anew_in(round)
    for member in members:
        if member.left_at is not None or member.role not in rounds.WORKERS:
            rounds.remove_person(round=round, member=member, by=by)


def remove(*, round: Round, by: User | None, progress: Progress) -> dict[str, Any]:
    """Remove a round that never opened. Done again after it broke off, it goes on."""
    if round.status != Round.Status.PREPARING:
        raise Conflict("The round was opened meanwhile.")
    slots = Assignment.objects.filter(round=round)
    done, total = 0, slots.count()
    while ids := list(slots.order_by("-pk").values_list("pk", flat=True)[:BATCH]):
        with _short_batch():
            Assignment.objects.filter(pk__in=ids).delete()
        done += len(ids)
        progress(done, total, "discarding")
    with batches.batch():
        kinds.get(round.kind).discarded(round)
        record(
            actor=by, verb=REMOVE, obj=round, project_id=round.project_id, reason="It never opened.",
            before={"name": round.name, "units": round.units_count},
        )  # fmt: skip
        if not _preparing(round).delete()[0]:
            raise Conflict("The round was opened meanwhile.")
    return {"slots": done}


@contextmanager
def _short_batch() -> Iterator[None]:
    """A batch, and on SQLite, where one connection writes at a time, as long a pause after it for the others."""
    began = monotonic()
    with batches.batch():
        yield
    if connection.vendor == "sqlite":
        sleep(monotonic() - began)


def _parts(rows: Iterable[Any], size: int, *, together: Callable[[Any], Any] | None = None) -> Iterator[list[Any]]:
    """Rows in parts of ``size`` at most; neighbours of which ``together`` says the same stay in one."""
    groups = ([row] for row in rows) if together is None else (list(group) for _, group in groupby(rows, together))
    part: list[Any] = []
    for group in groups:
        if part and len(part) + len(group) > size:
            yield part
            part = []
        part += group
    if part:
        yield part
