"""Opening a round, changing who works in it, closing it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from api import limits
from api.parameters import check
from api.problems import Conflict, Refused
from audit.log import record
from measures import sampling
from sql.held import Held
from sql.planner import look_anew

from .. import kinds, purposes
from ..background import jobs
from ..models import Assignment, Guideline, Job, Member, Participant, Project, Round, Unit
from ..models.roles import MAY
from ..models.round import HAND
from ..notifications.telling import What, tell
from ..rounds import choosing
from ..rounds.slots import Chosen, Shape, Slot, lay_out
from . import practising, queue
from .guidelines import latest_guideline

BATCH = 2000
WORKERS = MAY["be put into rounds"]


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
    #: By the kind's declarations; what is left out is as the kind has it by default.
    options: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    lease_seconds: int = 1800
    #: How many slots a person holds at a time.
    hand_size: int = HAND
    #: A share of the units, drawn by the seed, that so many people are asked.
    block_share: float = 0.0
    block_overlap: int = 0
    #: A share of each person's own units that is asked again, with so many others in between. Of a dealt round.
    repeat_share: float = 0.0
    repeat_distance: int = 20
    #: By the declarations of the purpose; what is left out is as the purpose has it by default.
    terms: Mapping[str, Any] = field(default_factory=dict)
    #: The practice round that people must have passed before anything is dealt to them.
    requires_practice: int | None = None
    #: Whether the guideline's questions are asked before the first unit.
    asks_questions: bool = False
    #: Whether units that fit later are taken in while the round is open (`rolling`).
    rolling: bool = False

    @property
    def shape(self) -> Shape:
        return Shape(self.overlap, self.block_share, self.block_overlap, self.repeat_share, self.repeat_distance)


def chosen_units(project: Project, plan: RoundPlan) -> list[tuple[int, int]]:
    """The (unit, context) ids that the plan asks for, in the order in which they will be handed out."""
    units = list(
        choosing.units(project, plan.kind, plan.filters, plan.purpose, plan.options).values_list("pk", "context")
    )
    if plan.sample is not None:
        refuse_sample(plan, len(units))
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
    plan, people, guideline = checked(project, plan, by)
    chosen = chosen_units(project, plan)
    refuse_empty(chosen, plan)
    try:
        with transaction.atomic():
            round = frozen(project, plan, guideline, by, units=len(chosen), status=Round.Status.OPEN)
            units = laid_out(round, chosen)
            slots = (assignment(round, slot) for slot in slots_of(round, units, people))
            while batch := list(islice(slots, BATCH)):
                Assignment.objects.bulk_create(batch)
            begin(round, people, len(units), by)
    except IntegrityError as error:
        raise name_taken(plan) from error
    return round


def checked(project: Project, plan: RoundPlan, by: User | None) -> tuple[RoundPlan, list[Member], Guideline]:
    """The plan with what it leaves to its kind, its people, and its guideline. Raises `Refused` naming the field of
    what cannot be so, `TooMuch`."""
    if by is not None:
        limits.check("LIMIT_ROUNDS_PER_DAY", Round.objects.filter(created_by=by), at="opened_at")
    plan = meant(project, plan)
    people, guideline = _people(project, plan), _guideline(project, plan, by)
    _refuse_conditions(project, plan, guideline)
    _refuse_rolling(plan)
    return plan, people, guideline


def meant(project: Project, plan: RoundPlan) -> RoundPlan:
    """The plan with its options, policy and filters as its kind declares them. Raises `Refused` with every fault."""
    kind = kinds.get(plan.kind)
    options, faults = check(kind.options_of(project), plan.options)
    choosing.refuse("options", faults)
    policy, faults = check(kind.policy, plan.policy)
    choosing.refuse("policy", faults)
    terms, faults = check(purposes.of(plan.purpose).terms, plan.terms)
    choosing.refuse("terms", faults)
    plan = replace(plan, options=options, policy=policy, terms=terms, filters=choosing.checked(kind, plan.filters))
    if not purposes.of(plan.purpose).gives_feedback:
        return plan
    # Everyone practises with every unit.
    return replace(
        plan, overlap=max(1, len(set(plan.people))), dealing=Round.Dealing.DEALT, block_share=0.0, block_overlap=0,
        repeat_share=0.0,
    )  # fmt: skip


def laid_out(round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """The (unit, context) ids that a round asks of those that were chosen, as its kind lays them out."""
    kind = kinds.get(round.kind)
    units = kind.lay_out(round, chosen)
    if not round.is_rolling:
        refuse_empty(units)
    if round.meaning.chooses != "any":
        # What is shown, or expected, is a decision that answers can point at.
        ids = [unit for unit, _ in units]
        for first in range(0, len(ids), BATCH):
            kind.before_decisions(list(Unit.objects.filter(pk__in=ids[first : first + BATCH])))
    return units


def frozen(
    project: Project, plan: RoundPlan, guideline: Guideline, by: User | None, *, units: int, status: str
) -> Round:
    """The round of a plan, without slots and people yet."""
    return Round.objects.create(
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
        } | plan.shape.as_json() | ({"rolling": True} if plan.rolling else {}),
        policy=dict(plan.policy),
        options=dict(plan.options),
        terms=dict(plan.terms),
        requires_practice_id=plan.requires_practice,
        asks_questions=plan.asks_questions,
        lease_seconds=plan.lease_seconds,
        hand_size=plan.hand_size,
        status=status,
        units_count=units,
        created_by=by,
        opened_at=timezone.now(),
    )  # fmt: skip


def plan_of(round: Round, people: Sequence[int]) -> RoundPlan:
    """The plan that was frozen in a round (`frozen`)."""
    chosen = round.sampling
    return RoundPlan(
        name=round.name, kind=round.kind, purpose=round.purpose, overlap=round.overlap, people=people,
        guideline=round.guideline_id, dealing=round.dealing, seed=chosen["seed"], sample=chosen["sample"],
        filters=chosen["filters"], strata=chosen["strata"], order=chosen["order"], options=round.options,
        policy=round.policy, lease_seconds=round.lease_seconds,
        hand_size=round.hand_size, terms=round.terms,
        requires_practice=round.requires_practice_id, asks_questions=round.asks_questions,
        rolling=round.is_rolling, **_shape(Shape.of(round.overlap, chosen)),
    )  # fmt: skip


def _shape(shape: Shape) -> dict[str, Any]:
    fields = asdict(shape)
    del fields["overlap"]
    return fields if shape.repeat_share else fields | {"repeat_distance": RoundPlan.repeat_distance}


def begin(round: Round, people: Sequence[Member], units: int, by: User | None) -> None:
    """In the transaction in which a laid out round opens: let the people in, and write it down."""
    if round.units_count != units:
        Round.objects.filter(pk=round.pk).update(units_count=units)
        round.units_count = units
    kinds.get(round.kind).opened(round)
    _let_in(round, people, units)
    tell({member.user_id for member in people} - {by and by.pk}, What.OPENED, round=round)
    record(
        actor=by, verb="open round", obj=round, project_id=round.project_id,
        after={"name": round.name, "units": units, "people": [m.pseudonym for m in people]},
    )  # fmt: skip
    transaction.on_commit(lambda: look_anew(Assignment, Unit), robust=True)


def refuse_sample(plan: RoundPlan, there: int) -> None:
    if plan.sample is not None and not 1 <= plan.sample <= there:
        raise Refused.field("sample", f"There are {there} units to sample from.")


def refuse_empty(units: Sequence[Any], plan: RoundPlan | None = None) -> None:
    if not units and not (plan and plan.rolling):
        raise Refused.field("filters", "No unit is left by these filters, so the round would be empty.")


def name_taken(plan: RoundPlan) -> Refused:
    return Refused.field("name", f"This project has a round named {plan.name!r} already.")


def _people(project: Project, plan: RoundPlan) -> list[Member]:
    people = list(project.members.active().filter(pk__in=plan.people, role__in=WORKERS).order_by("pk"))
    if len(people) != len(set(plan.people)):
        raise Refused.field("people", "Everyone must be an active member of this project who may annotate.")
    if plan.dealing == Round.Dealing.DEALT and len(people) < plan.shape.most:
        raise Refused.field("people", f"With an overlap of {plan.shape.most} at least as many people are needed.")
    if plan.block_share and plan.block_overlap <= plan.overlap:
        raise Refused.field("block_overlap", f"The block is asked of more people than the other units: {plan.overlap}.")
    if plan.repeat_share and plan.dealing != Round.Dealing.DEALT:
        raise Refused.field("repeat_share", "People are asked again only what was dealt to them: deal the round.")
    if purposes.of(plan.purpose).standing:
        raise Refused.field("purpose", "The curation round of a kind opens by itself.")
    return people


def _refuse_conditions(project: Project, plan: RoundPlan, guideline: Guideline) -> None:
    """What people must have done before the first unit has to be there."""
    if plan.requires_practice is not None:
        practice = project.rounds.opened().filter(pk=plan.requires_practice, kind=plan.kind)
        if not practice.filter(purpose__in=purposes.which("gives_feedback")).exists():
            raise Refused.field("requires_practice", "This project has no such practice round of this task.")
    if plan.asks_questions and not guideline.questions:
        raise Refused.field("asks_questions", f"Version {guideline.number} of the guideline has no questions.")


def _refuse_rolling(plan: RoundPlan) -> None:
    """What comes later is asked as what was there: of whoever comes, as it is, of as many people."""
    if not plan.rolling:
        return
    kind, purpose = kinds.get(plan.kind), purposes.of(plan.purpose)
    if not kind.rolls or purpose.chooses != "any":
        raise Refused.field("rolling", "The units of such a round are laid out when it opens, all at once.")
    if plan.dealing != Round.Dealing.POOL:
        raise Refused.field("rolling", "Units that come later are in a pool: let people take them from it.")
    if plan.sample is not None or plan.block_share:
        raise Refused.field("rolling", "A sample, or a block, is drawn of all units at once.")
    if plan.order != "corpus":
        raise Refused.field("rolling", "Units that come later come last: take them in the order of the corpus.")


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
        kinds.get(round.kind).joined(round, member)


def slots_of(round: Round, units: Chosen, people: Sequence[Member]) -> Iterator[Slot]:
    """The slots of these (unit, context) ids, in the order of the walk. Raises `Refused` where the people that a round
    opens with cannot answer them all; whoever comes later comes to what is there."""
    kind, shape = kinds.get(round.kind), Shape.of(round.overlap, round.sampling)
    if people:
        kind.check_people(round, units, people, shape.most)
    dealt = [member.pk for member in people] if round.dealing == Round.Dealing.DEALT else None
    by_kind = kind.deal(round, units, dealt) if dealt is not None else None
    return lay_out(units, shape, dealt, round.seed, by_kind)


def assignment(round: Round, slot: Slot, after: int = 0) -> Assignment:
    """``after``: so many places of the walk come before the first of these slots."""
    return Assignment(
        round=round, unit_id=slot.unit, position=after + slot.position, number=slot.number, repeat=slot.repeat,
        person_id=slot.person,
    )  # fmt: skip


def add_person(*, round: Round, member: Member, by: User | None) -> Participant:
    """Let a late joiner work: in a pool at once; in a dealt round with an even share of what nobody has begun."""
    with transaction.atomic():
        # Both as they are now, and until the person is in: a lead may be closing the one or removing the other.
        if not Round.objects.filter(Held(Round.objects.filter(pk=round.pk, status=Round.Status.OPEN)), pk=round.pk):
            raise Conflict(not_open(round))
        there = Held(Member.objects.active().filter(pk=member.pk, project=round.project_id))
        found = Member.objects.filter(there, pk=member.pk).first()
        if found is None or not _may_work_in(round, found):
            raise Refused.field("member", "Only an active member of this project who may annotate can join.")
        participant, new = Participant.objects.get_or_create(round=round, member=member)
        if not new and participant.left_at is None:
            return participant
        participant.left_at = None
        participant.save(update_fields=["left_at"])
        kinds.get(round.kind).joined(round, member)
        if round.meaning.gives_feedback:
            practising.deal(round, member)
        elif round.dealing == Round.Dealing.DEALT:
            _share(round, member)
        record(actor=by, verb="join round", obj=round, project_id=round.project_id, after={"person": member.pseudonym})
        if by is None or by.pk != member.user_id:
            tell([member.user_id], What.OPENED, round=round)
    return participant


def not_open(round: Round, again: str = "") -> str:
    """Why nobody can work in a round that is not open."""
    preparing = Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING).exists()
    return "The round is not open yet." if preparing else f"The round is closed {again}".rstrip() + "."


def _may_work_in(round: Round, member: Member) -> bool:
    """A volunteer works in the round of the own link and in no other."""
    return member.role in WORKERS or round.participant_links.filter(member=member, revoked_at=None).exists()


def _share(round: Round, joiner: Member) -> None:
    """Move unstarted slots to the joiner, from whoever has most left, until the joiner has as many as the others."""
    there = Assignment.objects.filter(round=round)
    # What somebody is asked twice stays theirs, or the second time would be another's first.
    asked_again = set(there.filter(repeat__gt=0).counted().values_list("unit", "person"))
    unstarted = there.filter(leased_until=None, repeat=0).counted().unanswered().exclude(person=None)
    piles: dict[int, list[tuple[int, int]]] = {}
    for pk, unit, person in (
        unstarted.exclude(person=joiner).order_by("position", "pk").values_list("pk", "unit", "person")
    ):
        if (unit, person) not in asked_again:
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
        pass_on = not round.meaning.gives_feedback
        freed = len(list(queue.release_slots(left, now=now or timezone.now(), pass_on=pass_on)))
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
        closed = Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).opened_by_people()
        # A clock that was set back since does not close it before it was opened.
        if not closed.update(status=Round.Status.CLOSED, closed_at=max(timezone.now(), round.opened_at)):
            raise Conflict(not_open(round, "already"))
        record(actor=by, verb="close round", obj=round, project_id=round.project_id)
        job = jobs.enqueue(project=round.project, kind="finish_round", params={"round": round.pk}, by=by)
    round.refresh_from_db()
    return job
