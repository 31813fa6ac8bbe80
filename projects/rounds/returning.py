"""Returning gold items of a round: which units can return, and the assignments of the round with them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, OuterRef

from api.problems import Refused
from measures import drift, sampling

from .. import kinds, purposes
from ..answers.assignments import Chosen, PlannedAssignment, Shape
from ..answers.returning import Returning, plan_fixed, plan_shared, weave
from ..models import Assignment, Decision, Member, Origin, Project, Round, Unit
from ..purposes import Purpose, which
from ..queue.returning import known_items
from . import choosing

if TYPE_CHECKING:
    from .planning import RoundPlan

#: Maximum number of items that a round stores.
MOST_ITEMS = 1_000


def returns(kind: kinds.Kind) -> bool:
    """Return whether units of a kind can return: answers are compared with gold, and units are not created."""
    own = type(kind)
    plain = own.create_items is kinds.Kind.create_items and own.deal is kinds.Kind.deal
    return plain and kind.decides and not kind.blind


def sources(project: Project) -> list[dict[str, Any]]:
    """Return the closed rounds whose decided units can return. One query."""
    rounds = project.rounds.filter(status=Round.Status.CLOSED, purpose__in=which("counts")).opened_by_people()
    return [
        {"id": round.pk, "name": round.name, "kind": round.kind, "units": round.units_count}
        for round in rounds.order_by("-pk")
        if returns(kinds.get(round.kind))
    ]


def pool(project: Project, plan: "RoundPlan") -> list[int]:
    """Return the units that can return: fully decided, not by a model, and of the source round if there is one."""
    units = choosing.units(project, plan.kind, {}, Purpose.PRACTICE, plan.options)
    if plan.return_from is not None:
        of_source = Assignment.objects.filter(round=plan.return_from, unit=OuterRef("pk"), repeat=0)
        units = units.filter(Exists(of_source))
    machine = Decision.objects.filter(unit=OuterRef("pk"), kind=plan.kind, origin=Origin.MACHINE).current()
    ids = list(units.filter(~Exists(machine)).values_list("pk", flat=True))
    return sampling.shuffled(ids, f"{plan.seed}/returned")[:MOST_ITEMS]


def refuse_faults(project: Project, plan: "RoundPlan") -> None:
    """Raise `Refused` if the plan has returning items that it cannot have."""
    if not plan.return_share:
        return
    purpose = purposes.of(plan.purpose)
    if not returns(kinds.get(plan.kind)) or not purpose.independent or purpose.keeps_all:
        raise Refused.field("return_share", "Gold items cannot return in a round of this task or purpose.")
    if plan.rolling:
        raise Refused.field("rolling", "A rolling round cannot have returning gold items, which are planned once.")
    if plan.order != "shuffled":
        raise Refused.field(
            "order", "Returning gold items need a shuffled order. In corpus order people could recognise them."
        )
    if plan.return_bar not in drift.BARS:
        raise Refused.field("return_bar", f"Choose {drift.BARS[0]} to {drift.BARS[-1]} percent.")
    if plan.return_from is not None and plan.return_from not in {
        one["id"] for one in sources(project) if one["kind"] == plan.kind
    }:
        raise Refused.field("return_from", "This project has no closed round of this task with this id.")
    if not pool(project, plan):
        raise Refused.field("return_from", "No unit of this source has a decided value in every field of this round.")


def stored(project: Project, plan: "RoundPlan") -> dict[str, Any]:
    """Return the part of a round's sampling that describes returning items. Empty without them."""
    if not plan.return_share:
        return {}
    settings = {"share": plan.return_share, "bar": plan.return_bar, "source": plan.return_from}
    return {"returned": settings | {"units": pool(project, plan), "items": 0}}


def of_plan(round: Round) -> dict[str, Any]:
    """Return the plan's fields that `stored` has stored."""
    settings = Returning.of(round.sampling)
    if settings is None:
        return {}
    return {"return_share": settings.share, "return_bar": settings.bar, "return_from": settings.source}


def with_items(
    round: Round, planned: Iterator[PlannedAssignment], chosen: Chosen, people: Sequence[Member]
) -> Iterator[PlannedAssignment]:
    """Yield the planned assignments of a round with its returning items.

    Raise `Refused` if all possible items are units of the round itself.
    """
    settings = Returning.of(round.sampling)
    if settings is None:
        return planned
    contexts = dict(chosen)
    found = Unit.objects.filter(pk__in=settings.units, superseded_by=None).values_list("pk", "context")
    contexts_of_items = {unit: context for unit, context in found if unit not in contexts}
    # Items of other contexts come first, so that few people read a context twice.
    order = sorted(
        (unit for unit in settings.units if unit in contexts_of_items),
        key=lambda unit: contexts_of_items[unit] != 0 and contexts_of_items[unit] in set(contexts.values()),
    )
    items = [(unit, contexts_of_items[unit]) for unit in order]
    if not items:
        raise Refused.field(
            "return_from", "All items that could return are units of this round. Choose other units or another source."
        )
    if round.allocation != Round.Allocation.FIXED:
        overlap = Shape.of(round.overlap, round.sampling).overlap
        shared = plan_shared(chosen, items, share=settings.share, overlap=overlap, people=len(people), seed=round.seed)
        return weave(planned, shared)
    whole = list(planned)
    barred = {one.pk: known_items(one, [unit for unit, _ in items], round.kind) for one in people}
    fixed = plan_fixed(whole, contexts, items, barred, share=settings.share, seed=round.seed)
    return weave(whole, fixed)


def store_count(round: Round) -> None:
    """Store how many different items a person can get, in the transaction that opens it."""
    if round.returns_gold:
        rows = Assignment.objects.filter(round=round).returned().order_by()
        if round.has_known_share:
            items = max((n for _, n in rows.values_list("person").annotate(n=Count("pk"))), default=0)
        else:
            items = rows.values("unit").distinct().count()
        round.sampling = round.sampling | {"returned": round.sampling["returned"] | {"items": items}}
        Round.objects.filter(pk=round.pk).update(sampling=round.sampling)
