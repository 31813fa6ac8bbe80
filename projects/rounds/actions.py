"""Actions on rounds: open a round, add and remove people, close it."""

from collections.abc import Sequence
from datetime import datetime
from itertools import islice

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts.models import User
from api.problems import Conflict, Refused
from audit.log import record
from sql.expressions import LockedExists
from sql.planner import analyze_tables

from .. import kinds
from ..jobs import jobs
from ..models import Assignment, Guideline, Job, Member, Participant, Project, Round, Unit
from ..models.round import RETURNED
from ..notifications.actions import What, notify
from ..practice import actions as practice_actions
from ..queue import assignments
from ..queue import returning as queue_returning
from ..stored_figures.actions import enqueue_figures
from . import returning
from .planning import (
    BATCH,
    WORKERS,
    RoundPlan,
    build_assignment,
    checked,
    create_units,
    name_taken,
    not_open,
    plan_assignments,
    planned_units,
    refuse_empty,
    store_round,
)


def open_round(*, project: Project, plan: RoundPlan, by: User | None) -> Round:
    """Open a round: freeze the plan, create its assignments, add its people. Raise `Refused` for an invalid field."""
    plan, people, guideline = checked(project, plan, by)
    chosen = planned_units(project, plan)
    refuse_empty(chosen, plan)
    try:
        with transaction.atomic():
            round = store_round(project, plan, guideline, by, units=len(chosen), status=Round.Status.OPEN)
            units = create_units(round, chosen)
            new_assignments = (build_assignment(round, planned) for planned in plan_assignments(round, units, people))
            while batch := list(islice(new_assignments, BATCH)):
                Assignment.objects.bulk_create(batch)
            start_round(round, people, len(units), by)
    except IntegrityError as error:
        raise name_taken(plan) from error
    return round


def start_round(round: Round, people: Sequence[Member], units: int, by: User | None) -> None:
    """Add the people of a round whose assignments exist, notify them and log it.

    Call it in the transaction that opens the round.
    """
    if round.units_count != units:
        Round.objects.filter(pk=round.pk).update(units_count=units)
        round.units_count = units
    returning.store_count(round)
    kinds.get(round.kind).opened(round)
    _add_participants(round, people, units)
    notify({member.user_id for member in people if member.user_id} - {by and by.pk}, What.OPENED, round=round)
    # The stored figures of guideline changes say how many units are assigned.
    stated = Guideline.objects.filter(kind=round.kind, scope__in=(Guideline.Scope.VALUES, Guideline.Scope.ALL))
    enqueue_figures(Q(Exists(stated.filter(project=OuterRef("pk"))), pk=round.project_id))
    record(
        actor=by,
        verb="open round",
        obj=round,
        project_id=round.project_id,
        after={"name": round.name, "units": units, "people": [m.pseudonym for m in people]},
    )
    transaction.on_commit(lambda: analyze_tables(Assignment, Unit), robust=True)


def _add_participants(round: Round, people: Sequence[Member], units: int) -> None:
    """Create the participants. They start at different positions, with `overlap` people at each.

    Each context is then read completely by few people, instead of in parts by all of them.
    """
    groups = max(1, len(people) // round.overlap)
    for i, member in enumerate(people):
        start = units * (i % groups) // groups
        Participant.objects.create(round=round, member=member, start=start, cursor=start - 1)
        kinds.get(round.kind).joined(round, member)
        _withhold_items(round, member)


def _withhold_items(round: Round, member: Member) -> None:
    """Keep returning gold items from a person who knows their answer."""
    if round.meaning.gives_feedback:
        queue_returning.withhold_practised(round, member)
    queue_returning.withhold_known(round, member)


def add_person(*, round: Round, member: Member, by: User | None) -> Participant:
    """Add a person to an open round.

    With a shared queue the person can start at once. With fixed allocation the person receives an even share of the
    assignments that nobody has started.
    """
    with transaction.atomic():
        # Lock both rows: another lead may be closing the round or removing the member.
        if not Round.objects.filter(
            LockedExists(Round.objects.filter(pk=round.pk, status=Round.Status.OPEN)), pk=round.pk
        ):
            raise Conflict(not_open(round))
        is_active = LockedExists(Member.objects.active().filter(pk=member.pk, project=round.project_id))
        active_member = Member.objects.filter(is_active, pk=member.pk).first()
        if active_member is None or not _may_work_in(round, active_member):
            raise Refused.field("member", "Choose an active member of this project who may annotate.")
        participant, is_new = Participant.objects.get_or_create(round=round, member=member)
        if not is_new and participant.left_at is None:
            return participant
        participant.left_at = None
        participant.save(update_fields=["left_at"])
        kinds.get(round.kind).joined(round, member)
        if round.meaning.gives_feedback:
            practice_actions.assign_all_units(round, member)
        _withhold_items(round, member)
        if round.allocation == Round.Allocation.FIXED and not round.meaning.gives_feedback:
            _share(round, member)
        record(actor=by, verb="join round", obj=round, project_id=round.project_id, after={"person": member.pseudonym})
        if member.user_id and (by is None or by.pk != member.user_id):
            notify([member.user_id], What.OPENED, round=round)
    return participant


def _may_work_in(round: Round, member: Member) -> bool:
    """Return whether a member may work in a round. A volunteer may only work in the round of their own link."""
    return member.role in WORKERS or round.participant_links.filter(member=member, revoked_at=None).exists()


def _share(round: Round, joiner: Member) -> None:
    """Move unstarted assignments from the people with the most to the joiner, up to an even share."""
    assignments_of_round = Assignment.objects.filter(round=round)
    # Units that repeat for a person are not moved; the repeat would be the first answer of another person.
    asked_again = set(assignments_of_round.repeats().counted().values_list("unit", "person"))
    unstarted = (
        assignments_of_round.filter(leased_until=None, repeat__in=(0, RETURNED))
        .counted()
        .unanswered()
        .exclude(person=None)
    )
    piles: dict[int, list[tuple[int, int]]] = {}
    for pk, unit, person in (
        unstarted.exclude(person=joiner).order_by("position", "pk").values_list("pk", "unit", "person")
    ):
        if (unit, person) not in asked_again:
            piles.setdefault(person, []).append((pk, unit))
    loads = {person: len(pile) for person, pile in piles.items()}
    share = sum(loads.values()) // (len(loads) + 1)
    own_units = set(Assignment.objects.filter(round=round, person=joiner).values_list("unit", flat=True))
    while share and any(piles.values()):
        giver = max((person for person in piles if piles[person]), key=lambda person: loads[person])
        pk, unit = piles[giver].pop()  # the last assignment in the giver's order
        if unit in own_units:
            continue
        if Assignment.objects.filter(pk=pk, person=giver, current_answer=None, leased_until=None).update(person=joiner):
            own_units.add(unit)
            loads[giver] -= 1
            share -= 1


def remove_person(*, round: Round, member: Member, by: User | None, now: datetime | None = None) -> int:
    """Remove a person from a round and return the number of released assignments.

    Their answers are kept. Their unanswered assignments become available to others.
    """
    with transaction.atomic():
        Participant.objects.filter(round=round, member=member, left_at=None).update(left_at=now or timezone.now())
        unanswered = Assignment.objects.filter(round=round, person=member).counted().unanswered().select_related("unit")
        pass_on = not round.meaning.gives_feedback
        freed = len(list(assignments.release_assignments(unanswered, now=now or timezone.now(), pass_on=pass_on)))
        record(
            actor=by,
            verb="leave round",
            obj=round,
            project_id=round.project_id,
            after={"person": member.pseudonym, "freed": freed},
        )
    return freed


def remove_from_open_rounds(*, member: Member, by: User | None) -> None:
    """Remove a member from all open rounds of the project."""
    for round in Round.objects.filter(project=member.project_id, status=Round.Status.OPEN, participants__member=member):
        remove_person(round=round, member=member, by=by)


def close_round(*, round: Round, by: User | None) -> Job:
    """Close a round, so that it accepts no more answers, and start the job that follows.

    The job aggregates the answers into gold standard values if that is the purpose, and creates an audit checkpoint.
    """
    with transaction.atomic():
        closed = Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).opened_by_people()
        # The closing time is never before the opening time, even if the clock was set back.
        if not closed.update(status=Round.Status.CLOSED, closed_at=max(timezone.now(), round.opened_at)):
            raise Conflict(not_open(round, "already"))
        record(actor=by, verb="close round", obj=round, project_id=round.project_id)
        job = jobs.enqueue(project=round.project, kind="finish_round", params={"round": round.pk}, by=by)
    round.refresh_from_db()
    return job
