"""Plan a round: validate the plan, choose its units, and store the round with its assignments."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.utils import timezone

from accounts.models import User
from api import limits
from api.parameters import check
from api.problems import Refused

from .. import kinds, purposes
from ..answers.assignments import Chosen, PlannedAssignment, Shape, create_items
from ..answers.returning import BAR
from ..concerns.queries import change_of
from ..gates import actions as gates_actions
from ..guidelines.actions import latest_guideline
from ..models import Assignment, Guideline, Member, Project, Round, Unit
from ..models.project import MAY
from ..models.round import HELD_LIMIT
from ..suggestions.queries import checked_terms
from . import choosing, returning

BATCH = 2000


WORKERS = MAY["work in rounds"]


@dataclass(frozen=True)
class RoundPlan:
    """Everything that a round freezes when it opens."""

    name: str
    kind: str
    purpose: str
    overlap: int
    people: Sequence[int]
    guideline: int | None = None
    allocation: str = Round.Allocation.SHARED
    seed: int = 1
    #: Size of the sample, drawn by the seed. None takes all units that match the filters.
    sample: int | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)
    #: Names of the strata of a proportional sample. Empty for a simple random sample.
    strata: Sequence[str] = ()
    #: "corpus" or "shuffled" (contexts are shuffled by the seed; units of one context stay together).
    order: str = "corpus"
    #: `choosing.ORDER_RULE` when the round was planned, so that its order can be drawn again. Not part of the API.
    order_rule: int = choosing.ORDER_RULE
    #: Declared by the kind. Missing options have the kind's defaults.
    options: Mapping[str, Any] = field(default_factory=dict)
    policy: Mapping[str, Any] = field(default_factory=dict)
    lease_seconds: int = 1800
    #: Number of assignments that a person holds at a time.
    held_limit: int = HELD_LIMIT
    #: Overlap sample: share of the units, drawn by the seed, that `block_overlap` people answer.
    block_share: float = 0.0
    block_overlap: int = 0
    #: Share of each person's units that repeats after `repeat_distance` other units. Fixed allocation only.
    repeat_share: float = 0.0
    repeat_distance: int = 20
    #: Declared by the purpose. Missing terms have the purpose's defaults.
    terms: Mapping[str, Any] = field(default_factory=dict)
    #: The practice round that people must pass before they receive assignments.
    requires_practice: int | None = None
    #: Whether people must answer the guideline's questions before the first unit.
    asks_questions: bool = False
    #: Whether the round adds units that match later, while it is open (`rolling`).
    rolling: bool = False
    #: Returning gold items: their share of a person's units, the round they come from (None: any), and the bar (%).
    return_share: float = 0.0
    return_from: int | None = None
    return_bar: int = BAR
    #: Ids of the only units that the plan may contain. Not part of the API.
    only: Sequence[int] | None = None
    #: The pilot round that must meet a bar before the round opens.
    gate: gates_actions.GatePlan | None = None

    @property
    def suggestions(self) -> int | None:
        """Id of the set of suggestions that is shown instead of current values."""
        return self.terms.get(purposes.SUGGESTIONS)

    @property
    def shape(self) -> Shape:
        return Shape(self.overlap, self.block_share, self.block_overlap, self.repeat_share, self.repeat_distance)


def matching_units(project: Project, plan: RoundPlan) -> list[int]:
    """Return the ids of all units that match the plan's filters, before sampling."""
    units = choosing.units(project, plan.kind, plan.filters, plan.purpose, plan.options, plan.suggestions)
    return list(units.values_list("pk", flat=True))


def sample_units(ids: Sequence[int], plan: RoundPlan) -> Sequence[int]:
    """Return the sampled unit ids in their order; all of them if the plan has no sample, or it is too large."""
    if plan.sample is None or plan.sample >= len(ids):
        return ids
    sample = choosing.sample(ids, plan.sample, plan.seed, kind=plan.kind, strata=plan.strata)
    return [pk for pk in ids if pk in sample]


def count_asked(project: Project, plan: RoundPlan, ids: Sequence[int]) -> int:
    """Return the number of units that people answer if the plan contains these units."""
    kind = kinds.get(plan.kind)
    if purposes.of(plan.purpose).chooses != "any":
        return kind.count_valued(ids, plan.options)
    return kind.count_after_layout(project, ids, plan.options)


def planned_units(project: Project, plan: RoundPlan) -> list[tuple[int, int]]:
    """Return the (unit, context) ids of the plan, in the order in which they are assigned."""
    units = list(
        choosing.units(project, plan.kind, plan.filters, plan.purpose, plan.options, plan.suggestions).values_list(
            "pk", "context"
        )
    )
    if plan.only is not None:
        units = [unit for unit in units if unit[0] in set(plan.only)]
    refuse_sample(plan, len(units))
    sample = set(sample_units([pk for pk, _ in units], plan))
    units = [unit for unit in units if unit[0] in sample]
    if plan.order == "shuffled":
        units = choosing.shuffled(units, plan.seed, plan.order_rule)
    return units


def checked(project: Project, plan: RoundPlan, by: User | None) -> tuple[RoundPlan, list[Member], Guideline]:
    """Return the plan with the kind's defaults, its people and its guideline.

    Raise `Refused` for an invalid field, and `TooMuch` if the user has opened too many rounds today.
    """
    if by is not None:
        limits.check("LIMIT_ROUNDS_PER_DAY", Round.objects.filter(created_by=by), at="opened_at")
    plan = validated_plan(project, plan)
    people, guideline = _people(project, plan), _guideline(project, plan, by)
    _refuse_conditions(project, plan, guideline)
    _refuse_rolling(plan)
    returning.refuse_faults(project, plan)
    if plan.gate is not None:
        gates_actions.check(project, plan.gate, plan.kind)
    return plan, people, guideline


def purposes_of(kind: kinds.Kind) -> list[str]:
    """Return the purposes that a round of this kind can have."""
    return [key for key in purposes.which("planned") if purposes.of(key).keeps_all != kind.decides]


def validated_plan(project: Project, plan: RoundPlan) -> RoundPlan:
    """Return the plan with validated options, policy, terms and filters. Raise `Refused` with every error."""
    kind = kinds.get(plan.kind)
    options, faults = check(kind.options_of(project), kind.current_options(plan.options))
    choosing.refuse_faults("options", faults)
    policy, faults = check(kind.policy, plan.policy)
    choosing.refuse_faults("policy", faults)
    terms, faults = check(purposes.of(plan.purpose).terms, plan.terms)
    choosing.refuse_faults("terms", faults)
    if plan.purpose not in purposes_of(kind):
        names = ", ".join(purposes.Purpose(key).label for key in purposes_of(kind))
        raise Refused.field("purpose", f"This task cannot have this purpose. Choose one of: {names}.")
    terms = checked_terms(project, kind, terms, options)
    plan = replace(plan, options=options, policy=policy, terms=terms, filters=choosing.checked(kind, plan.filters))
    if not purposes.of(plan.purpose).gives_feedback:
        return plan
    # In practice everyone answers every unit.
    return replace(
        plan,
        overlap=max(1, len(set(plan.people))),
        allocation=Round.Allocation.FIXED,
        block_share=0.0,
        block_overlap=0,
        repeat_share=0.0,
        return_share=0.0,
    )


def create_units(round: Round, chosen: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the (unit, context) ids of a round that its kind creates from the chosen ones."""
    kind = kinds.get(round.kind)
    units = kind.create_items(round, chosen)
    if not round.is_rolling:
        refuse_empty(units)
    if round.meaning.chooses != "any" and not round.suggestions:
        # The shown or expected values must be stored as decisions, so that answers can refer to them.
        ids = [unit for unit, _ in units]
        for first in range(0, len(ids), BATCH):
            kind.pre_decide(list(Unit.objects.filter(pk__in=ids[first : first + BATCH])))
    return units


def store_round(
    project: Project, plan: RoundPlan, guideline: Guideline, by: User | None, *, units: int, status: str
) -> Round:
    """Store the round of a plan, without assignments and people.

    Raise `Refused` if its answers could not be aggregated.
    """
    if plan.gate is not None and status != Round.Status.PREPARING:
        raise ValueError("A round with a gate cannot open at once. Use `preparing.begin_round`.")
    round = Round(
        project=project,
        name=plan.name,
        kind=plan.kind,
        purpose=plan.purpose,
        overlap=plan.overlap,
        seed=plan.seed,
        allocation=plan.allocation,
        guideline=guideline,
        sampling={
            "filters": dict(plan.filters),
            "sample": plan.sample,
            "strata": list(plan.strata),
            "seed": plan.seed,
            "order": plan.order,
        }
        | ({"order_rule": plan.order_rule} if plan.order == "shuffled" else {})
        | plan.shape.as_json()
        | returning.stored(project, plan)
        | ({"rolling": True} if plan.rolling else {})
        | _guideline_change(project, plan),
        policy=dict(plan.policy),
        options=dict(plan.options),
        terms=dict(plan.terms),
        requires_practice_id=plan.requires_practice,
        asks_questions=plan.asks_questions,
        lease_seconds=max(plan.lease_seconds, kinds.get(plan.kind).lease_seconds),
        held_limit=plan.held_limit,
        status=status,
        units_count=units,
        created_by=by,
        opened_at=timezone.now(),
    )
    if round.meaning.makes_gold:
        kinds.get(round.kind).check_aggregation(round)
    round.save(force_insert=True)
    return round


def _guideline_change(project: Project, plan: RoundPlan) -> dict[str, Any]:
    """Return the rule of the filter by guideline, so that the sampling says what the version concerns."""
    number = plan.filters.get(choosing.GUIDELINE_VERSION)
    change = change_of(project, plan.kind, number) if number else None
    return {"guideline_change": change.as_json()} if change else {}


def plan_of(round: Round, people: Sequence[int]) -> RoundPlan:
    """Return the plan that was stored in a round by `store_round`."""
    chosen = round.sampling
    return RoundPlan(
        name=round.name,
        kind=round.kind,
        purpose=round.purpose,
        overlap=round.overlap,
        people=people,
        guideline=round.guideline_id,
        allocation=round.allocation,
        seed=chosen["seed"],
        sample=chosen["sample"],
        filters=chosen["filters"],
        strata=chosen["strata"],
        order=chosen["order"],
        # Shuffled rounds without a rule are older than rule 2.
        order_rule=chosen.get("order_rule", 1 if chosen["order"] == "shuffled" else choosing.ORDER_RULE),
        options=round.options,
        policy=round.policy,
        lease_seconds=round.lease_seconds,
        held_limit=round.held_limit,
        terms=round.terms,
        requires_practice=round.requires_practice_id,
        asks_questions=round.asks_questions,
        rolling=round.is_rolling,
        **_shape(Shape.of(round.overlap, chosen)),
        **returning.of_plan(round),
    )


def _shape(shape: Shape) -> dict[str, Any]:
    fields = asdict(shape)
    del fields["overlap"]
    return fields if shape.repeat_share else fields | {"repeat_distance": RoundPlan.repeat_distance}


def refuse_sample(plan: RoundPlan, available: int) -> None:
    if plan.sample is not None and not 1 <= plan.sample <= available:
        raise Refused.field("sample", "Only 1 unit matches." if available == 1 else f"Only {available} units match.")


def refuse_empty(units: Sequence[Any], plan: RoundPlan | None = None) -> None:
    if not units and not (plan and plan.rolling):
        raise Refused.field(
            "filters", "No unit matches these filters, so the round would be empty. Change the filters."
        )


def name_taken(plan: RoundPlan) -> Refused:
    return Refused.field("name", f"This project already has a round named {plan.name!r}. Choose another name.")


def _people(project: Project, plan: RoundPlan) -> list[Member]:
    people = list(project.members.active().filter(pk__in=plan.people, role__in=WORKERS).order_by("pk"))
    if len(people) != len(set(plan.people)):
        raise Refused.field("people", "Choose only active members of this project who may annotate.")
    if plan.allocation == Round.Allocation.FIXED and len(people) < plan.shape.most:
        raise Refused.field(
            "people", f"Select at least {plan.shape.most} people, because the overlap is {plan.shape.most}."
        )
    if plan.block_share and plan.block_overlap <= plan.overlap:
        raise Refused.field(
            "block_overlap",
            f"The overlap sample needs more people per unit than the other units: more than {plan.overlap}.",
        )
    if plan.repeat_share and plan.allocation != Round.Allocation.FIXED:
        raise Refused.field("repeat_share", "Repeats need a fixed allocation. Choose fixed allocation, or no repeats.")
    if purposes.of(plan.purpose).holds_edits:
        raise Refused.field("purpose", "Curation rounds are created automatically. Choose another purpose.")
    return people


def _refuse_conditions(project: Project, plan: RoundPlan, guideline: Guideline) -> None:
    """Raise `Refused` if the required practice round or the guideline's questions do not exist."""
    if plan.requires_practice is not None:
        practice = project.rounds.opened().filter(pk=plan.requires_practice, kind=plan.kind)
        if not practice.filter(purpose__in=purposes.which("gives_feedback")).exists():
            raise Refused.field("requires_practice", "This project has no practice round of this task with this id.")
    if plan.asks_questions and not guideline.questions:
        raise Refused.field("asks_questions", f"Version {guideline.number} of the guideline has no questions.")


def _refuse_rolling(plan: RoundPlan) -> None:
    """Raise `Refused` if a rolling round has settings that need all units when it opens."""
    if not plan.rolling:
        return
    kind, purpose = kinds.get(plan.kind), purposes.of(plan.purpose)
    if not kind.rolls or purpose.chooses != "any":
        raise Refused.field(
            "rolling", "The units of this kind or purpose are created all at once, so the round cannot be rolling."
        )
    if plan.allocation != Round.Allocation.SHARED:
        raise Refused.field("rolling", "A rolling round needs a shared queue.")
    if plan.sample is not None or plan.block_share:
        raise Refused.field(
            "rolling",
            "A rolling round cannot have a sample or an overlap sample, because both are drawn once from all units.",
        )
    if plan.order != "corpus":
        raise Refused.field("rolling", "A rolling round needs corpus order, because later units are added at the end.")


def _guideline(project: Project, plan: RoundPlan, by: User | None) -> Guideline:
    if plan.guideline is None:
        return latest_guideline(project, plan.kind, by=by)
    guideline = project.guidelines.filter(pk=plan.guideline, kind=plan.kind).first()
    if guideline is None:
        raise Refused.field("guideline", "This project has no guideline of this kind with this id.")
    return guideline


def plan_assignments(round: Round, units: Chosen, people: Sequence[Member]) -> Iterator[PlannedAssignment]:
    """Yield the planned assignments of these (unit, context) ids, in order.

    Raise `Refused` if the people that the round opens with cannot answer all of them. People who join later are not
    checked.
    """
    kind, shape = kinds.get(round.kind), Shape.of(round.overlap, round.sampling)
    if people:
        kind.check_people(round, units, people, shape.most)
    allocated = [member.pk for member in people] if round.allocation == Round.Allocation.FIXED else None
    by_kind = kind.deal(round, units, allocated) if allocated is not None else None
    together = kind.drawn_together(round) if shape.block_share else {}
    planned = create_items(units, shape, allocated, round.seed, by_kind, together)
    return returning.with_items(round, planned, units, people)


def build_assignment(round: Round, planned: PlannedAssignment, after: int = 0) -> Assignment:
    """Build an assignment. ``after`` is the position of the first planned assignment."""
    return Assignment(
        round=round,
        unit_id=planned.unit,
        position=after + planned.position,
        number=planned.number,
        repeat=planned.repeat,
        person_id=planned.person,
    )


def not_open(round: Round, again: str = "") -> str:
    """Return the message that explains why a round is not open."""
    preparing = Round.objects.filter(pk=round.pk, status=Round.Status.PREPARING).exists()
    return "The round is not open yet." if preparing else f"The round is closed {again}".rstrip() + "."
