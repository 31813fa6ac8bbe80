"""Opening a round, changing who works in it, closing it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import limits
from accounts.held import Held
from accounts.models import User
from accounts.problems import Conflict, Refused
from audit.log import record
from measures import sampling

from .. import choosing, jobs
from ..models import Assignment, Guideline, Job, Member, Participant, Project, Purpose, Role, Round, Unit
from ..planner import look_anew
from . import queue
from .guidelines import latest_guideline

BATCH = 2000
CUE_POLICIES = ("exact", "overlap", "ignore")
WORKERS = (Role.LEAD, Role.CURATOR, Role.ANNOTATOR, Role.EVALUATOR)


@dataclass(frozen=True)
class RoundPlan:
    """Everything that a round freezes when it opens."""

    name: str
    kind: str
    purpose: str
    overlap: int
    people: Sequence[int]
    guideline: int | None = None
    dealing: str = Round.Dealing.POOL
    seed: int = 1
    #: None takes all units that the filters leave; a number takes a sample of that size, by the seed.
    sample: int | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    #: Names by which the sample is stratified, in proportion; none draws from all alike.
    strata: Sequence[str] = ()
    #: "corpus" or "shuffled" (contexts in an order by the seed; units of one context stay together).
    order: str = "corpus"
    cues: str = "overlap"
    suggestions: bool = False
    lease_seconds: int = 1800


def chosen_units(project: Project, plan: RoundPlan) -> list[tuple[int, int]]:
    """The (unit, context) ids that the plan asks for, in the order in which they will be handed out."""
    units = list(choosing.units(project, plan.kind, plan.filters).values_list("pk", "context"))
    if plan.sample is not None:
        if not 1 <= plan.sample <= len(units):
            raise Refused.field("sample", f"There are {len(units)} units to sample from.")
        ids = [pk for pk, _ in units]
        taken = choosing.sample(ids, plan.sample, plan.seed, kind=plan.kind, strata=plan.strata)
        units = [unit for unit in units if unit[0] in taken]
    if plan.order == "shuffled":
        contexts = sampling.shuffled(list(dict.fromkeys(context for _, context in units)), plan.seed)
        place = {context: i for i, context in enumerate(contexts)}
        units.sort(key=lambda unit: place[unit[1]])
    return units


def open_round(*, project: Project, plan: RoundPlan, by: User | None) -> Round:
    """Freeze the plan, deal or lay out its slots, and let people work. Raises `Refused` naming the field."""
    if by is not None:
        limits.check("LIMIT_ROUNDS_PER_DAY", Round.objects.filter(created_by=by), at="opened_at")
    people = _people(project, plan)
    guideline = _guideline(project, plan, by)
    units = chosen_units(project, plan)
    if not units:
        raise Refused.field("filters", "No unit is left by these filters, so the round would be empty.")
    try:
        with transaction.atomic():
            round = Round.objects.create(
                project=project,
                name=plan.name,
                kind=plan.kind,
                purpose=plan.purpose,
                overlap=plan.overlap,
                seed=plan.seed,
                dealing=plan.dealing,
                guideline=guideline,
                sampling={
                    "filters": dict(plan.filters), "sample": plan.sample, "strata": list(plan.strata),
                    "seed": plan.seed, "order": plan.order,
                },
                policy={"cues": plan.cues},
                options={"suggestions": plan.suggestions},
                lease_seconds=plan.lease_seconds,
                units_count=len(units),
                created_by=by,
                opened_at=timezone.now(),
            )  # fmt: skip
            _let_in(round, people, len(units))
            slots = _dealt(round, units, people) if plan.dealing == Round.Dealing.DEALT else _pool(round, units)
            for batch in _batches(slots):
                Assignment.objects.bulk_create(batch)
            record(
                actor=by, verb="open round", obj=round, project_id=project.pk,
                after={"name": round.name, "units": len(units), "people": [m.pseudonym for m in people]},
            )  # fmt: skip
            transaction.on_commit(lambda: look_anew(Assignment, Unit))
    except IntegrityError as error:
        raise Refused.field("name", f"This project has a round named {plan.name!r} already.") from error
    return round


def _people(project: Project, plan: RoundPlan) -> list[Member]:
    people = list(project.members.active().filter(pk__in=plan.people, role__in=WORKERS).order_by("pk"))
    if len(people) != len(set(plan.people)):
        raise Refused.field("people", "Everyone must be an active member of this project who may annotate.")
    if plan.dealing == Round.Dealing.DEALT and len(people) < plan.overlap:
        raise Refused.field("people", f"With an overlap of {plan.overlap} at least as many people are needed.")
    if plan.cues not in CUE_POLICIES:
        raise Refused.field("cues", f"One of {', '.join(CUE_POLICIES)}.")
    if plan.purpose == Purpose.CURATION:
        raise Refused.field("purpose", "The curation round of a kind opens by itself.")
    return people


def _guideline(project: Project, plan: RoundPlan, by: User | None) -> Guideline:
    if plan.guideline is None:
        return latest_guideline(project, plan.kind, by=by)
    found = project.guidelines.filter(pk=plan.guideline, kind=plan.kind).first()
    if found is None:
        raise Refused.field("guideline", "This project has no such guideline for this kind.")
    return found


def _let_in(round: Round, people: Sequence[Member], units: int) -> None:
    """Where overlap leaves a choice, people start their walk at different places, `overlap` of them at each, so that
    contexts are read whole by few rather than in pieces by all."""
    groups = max(1, len(people) // round.overlap)
    for i, member in enumerate(people):
        start = units * (i % groups) // groups
        Participant.objects.create(round=round, member=member, start=start, cursor=start - 1)


def _pool(round: Round, units: Iterable[tuple[int, int]]) -> Iterator[Assignment]:
    for position, (unit, _) in enumerate(units):
        for number in range(1, round.overlap + 1):
            yield Assignment(round=round, unit_id=unit, number=number, position=position)


def _dealt(round: Round, units: Sequence[tuple[int, int]], people: Sequence[Member]) -> Iterator[Assignment]:
    contexts = dict(units)
    dealt = sampling.deal(list(contexts), [m.pk for m in people], round.overlap, round.seed, groups=contexts)
    for position, (unit, _) in enumerate(units):
        for number, person in enumerate(dealt[unit], start=1):
            yield Assignment(round=round, unit_id=unit, number=number, position=position, person_id=person)


def _batches(slots: Iterator[Assignment]) -> Iterator[list[Assignment]]:
    batch: list[Assignment] = []
    for slot in slots:
        batch.append(slot)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def add_person(*, round: Round, member: Member, by: User | None) -> Participant:
    """Let a late joiner work: in a pool at once; in a dealt round with an even share of what nobody has begun."""
    with transaction.atomic():
        # Both as they are now, and until the person is in: a lead may be closing the one or removing the other.
        if not Round.objects.filter(Held(Round.objects.filter(pk=round.pk, status=Round.Status.OPEN)), pk=round.pk):
            raise Conflict("The round is closed.")
        there = Held(Member.objects.active().filter(pk=member.pk, project=round.project_id))
        found = Member.objects.filter(there, pk=member.pk).first()
        if found is None or not _may_work_in(round, found):
            raise Refused.field("member", "Only an active member of this project who may annotate can join.")
        participant, new = Participant.objects.get_or_create(round=round, member=member)
        if not new and participant.left_at is None:
            return participant
        participant.left_at = None
        participant.save(update_fields=["left_at"])
        if round.dealing == Round.Dealing.DEALT:
            _share(round, member)
        record(actor=by, verb="join round", obj=round, project_id=round.project_id, after={"person": member.pseudonym})
    return participant


def _may_work_in(round: Round, member: Member) -> bool:
    """A volunteer works in the round of the own link and in no other."""
    return member.role in WORKERS or round.participant_links.filter(member=member, revoked_at=None).exists()


def _share(round: Round, joiner: Member) -> None:
    """Move unstarted slots to the joiner, from whoever has most left, until the joiner has as many as the others."""
    unstarted = Assignment.objects.filter(round=round, leased_until=None).counted().unanswered().exclude(person=None)
    piles: dict[int, list[tuple[int, int]]] = {}
    for pk, unit, person in (
        unstarted.exclude(person=joiner).order_by("position", "pk").values_list("pk", "unit", "person")
    ):
        piles.setdefault(person, []).append((pk, unit))
    loads = {person: len(pile) for person, pile in piles.items()}
    share = sum(loads.values()) // (len(loads) + 1)
    mine = set(Assignment.objects.filter(round=round, person=joiner).values_list("unit", flat=True))
    while share and any(piles.values()):
        giver = max((person for person in piles if piles[person]), key=lambda person: loads[person])
        pk, unit = piles[giver].pop()  # from the end of the walk: the giver is furthest from it
        if unit in mine:
            continue
        if Assignment.objects.filter(pk=pk, person=giver, current_answer=None, leased_until=None).update(person=joiner):
            mine.add(unit)
            loads[giver] -= 1
            share -= 1


def remove_person(*, round: Round, member: Member, by: User | None, now: datetime | None = None) -> int:
    """Take a person out of a round; what they answered stays, what they had not is free for others. How many."""
    with transaction.atomic():
        Participant.objects.filter(round=round, member=member, left_at=None).update(left_at=now or timezone.now())
        left = Assignment.objects.filter(round=round, person=member).counted().unanswered().select_related("unit")
        freed = len(list(queue.release_slots(left, now=now or timezone.now())))
        record(
            actor=by, verb="leave round", obj=round, project_id=round.project_id,
            after={"person": member.pseudonym, "freed": freed},
        )  # fmt: skip
    return freed


def remove_from_open_rounds(*, member: Member, by: User | None) -> None:
    """What leaving a project means for its rounds."""
    for round in Round.objects.filter(project=member.project_id, status=Round.Status.OPEN, participants__member=member):
        remove_person(round=round, member=member, by=by)


def close_round(*, round: Round, by: User | None) -> Job:
    """Close a round: no answer is taken any more. The job forms gold where that is the purpose, and seals."""
    with transaction.atomic():
        closed = Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).exclude(purpose=Purpose.CURATION)
        # A clock that was set back since does not close it before it was opened.
        if not closed.update(status=Round.Status.CLOSED, closed_at=max(timezone.now(), round.opened_at)):
            raise Conflict("The round is closed already.")
        record(actor=by, verb="close round", obj=round, project_id=round.project_id)
        job = jobs.enqueue(project=round.project, kind="finish_round", params={"round": round.pk}, by=by)
    round.refresh_from_db()
    return job
