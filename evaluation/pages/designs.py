"""What a lead sees of a rating round's design: before it opens, and after. Which text is whose is not in it."""

from typing import Any

from api.problems import Refused
from projects import kinds
from projects.actions.rounds import RoundPlan, chosen_units, meant
from projects.models import Member, Project, Round
from projects.permissions import Names

from ..actions.unblinding import keeps_sealed
from ..design.planning import Planned
from ..kinds.pages import PageKind
from ..models import RatingDesign


def before(project: Project, plan: RoundPlan) -> dict[str, Any]:
    """What a plan's design would be: pages, and how evenly everybody comes everywhere. Writes nothing."""
    kind = kinds.get(plan.kind)
    if not isinstance(kind, PageKind):
        raise Refused.field("kind", "Only rounds in which summaries are rated have a design.")
    plan = meant(project, plan)
    round = Round(project=project, kind=plan.kind, options=dict(plan.options), seed=plan.seed, overlap=plan.overlap)
    made = kind.plan(round, [unit for unit, _ in chosen_units(project, plan)])
    balance = made.balance(plan.shape.most)
    if plan.block_share:
        # Which pages more people are asked about is drawn too.
        balance["certain"] = None
    return _counts(made.as_json()) | {"balance": balance, "entrants": _names(made)}


def after(design: RatingDesign, member: Member) -> dict[str, Any]:
    """The design of a round that is open, or was."""
    unblinding = getattr(design, "unblinding", None)
    runs = [entrant.run for entrant in design.entrants.select_related("run") if entrant.run]
    return _counts(design.plan) | {
        "digest": design.digest,
        "protocol": {
            "id": design.version.protocol_id, "version": design.version_id, "name": design.version.protocol.name,
            "number": design.version.number,
        },
        "entrants": [entrant.name for entrant in design.entrants.all()],
        "secret": design.secret if unblinding else "",
        "unblinded_at": unblinding.at if unblinding else None,
        "unblinded_by": Names(member).of(unblinding.by) if unblinding else "",
        "sealed": sum(bool(keeps_sealed(run)) for run in runs),
    }  # fmt: skip


def _counts(plan: dict[str, Any]) -> dict[str, Any]:
    texts = [text for _, page in plan["pages"] for text in page]
    return {
        "sources": len(plan["sources"]), "pages": len(plan["pages"]), "texts": len(texts),
        "checks": sum(check for *_, check in texts), "left_out": plan["left_out"], "alike": plan["alike"],
        "lowered": plan["lowered"],
    }  # fmt: skip


def _names(made: Planned) -> list[str]:
    return [one.name for one in made.taking]
