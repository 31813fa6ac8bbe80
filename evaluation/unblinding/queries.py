"""The design of a rating round as leads see it, before and after opening. It never shows which system wrote a text."""

from typing import Any

from api.problems import Refused
from generation.models import Embargo
from projects import kinds
from projects.models import Member, Project, Round
from projects.permissions import Names
from projects.rounds.planning import RoundPlan, planned_units, validated_plan

from ..design.plan import Planned
from ..design.systems import selected_runs
from ..kinds.pages import PageKind
from ..models import RatingDesign
from .actions import blind_rating_reason

EMBARGOED = "Hidden, because you rate texts of these systems blindly in another round."


def before(project: Project, plan: RoundPlan, member: Member) -> dict[str, Any]:
    """Return the design of a planned round: page counts and the balance of positions. Writes nothing.

    Raise `Refused` if the member rates one of the systems blindly. The counts of a small plan reveal which texts are
    equal.
    """
    kind = kinds.get(plan.kind)
    if not isinstance(kind, PageKind):
        raise Refused.field("kind", "Only rating rounds have a design.")
    plan = validated_plan(project, plan)
    round = Round(project=project, kind=plan.kind, options=dict(plan.options), seed=plan.seed, overlap=plan.overlap)
    if Embargo.objects.for_member(member).filter(run__in=selected_runs(plan.options)).exists():
        raise Refused(EMBARGOED)
    made = kind.plan(round, [unit for unit, _ in planned_units(project, plan)])
    balance = made.balance(plan.shape.most)
    if plan.block_share:
        # The pages that get more raters are drawn too, so there are no bounds that hold for every draw.
        balance["certain"] = None
    return _counts(made.as_json()) | {"balance": balance, "systems": _names(made)}


def after(design: RatingDesign, member: Member) -> dict[str, Any]:
    """Return the stored design of a round.

    Counts that reveal which texts are equal are hidden from a member who rates one of its systems blindly.
    """
    unblinding = getattr(design, "unblinding", None)
    runs = [system.run for system in design.systems.select_related("run") if system.run]
    hidden = not unblinding and Embargo.objects.for_member(member).filter(run__in=runs).exists()
    return (
        _counts(design.plan)
        | ({"texts": None, "alike": None} if hidden else {})
        | {
            "digest": design.digest,
            "protocol": {
                "id": design.version.protocol_id,
                "version": design.version_id,
                "name": design.version.protocol.name,
                "number": design.version.number,
            },
            "systems": [system.name for system in design.systems.all()],
            "secret": design.secret if unblinding else "",
            "unblinded_at": unblinding.at if unblinding else None,
            "unblinded_by": Names(member).of(unblinding.by) if unblinding else "",
            "embargoed_runs": sum(bool(blind_rating_reason(run)) for run in runs),
        }
    )


def _counts(plan: dict[str, Any]) -> dict[str, Any]:
    texts = sum(not check for _, page in plan["pages"] for *_, check in page)
    return {
        "sources": len(plan["sources"]),
        "pages": len(plan["pages"]),
        "texts": texts,
        "checks": sum(any(check for *_, check in page) for _, page in plan["pages"]),
        "left_out": plan["left_out"],
        "alike": plan["alike"],
        "lowered": plan["lowered"],
    }


def _names(made: Planned) -> list[str]:
    return [one.name for one in made.systems]
