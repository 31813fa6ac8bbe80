"""The figures of a round: reckoned from its rows by a worker, and read as they were stored."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet

from generation import metrics
from generation.metrics.protocol import Figure
from generation.models import Scoring, Seal
from measures.ratings import RULE
from projects.models import Member, Project, Round
from projects.rounds.counted import counted

from ..models import Entrant, RatingDesign, RatingFigures
from .said import Said, figures_of

Json = dict[str, Any]
Progress = Callable[[str], object]
ANSWERS, SCORED, RULES = (
    "answers changed since", "metrics were scored since, or scored anew", "figures are taken by another rule by now"
)  # fmt: skip


@dataclass(frozen=True)
class Stored:
    """Figures as they were stored; ``outdated``: why they would be others now."""

    figures: Json
    made_at: datetime
    outdated: tuple[str, ...]


def basis_of(design: RatingDesign) -> Json:
    """What figures rest on, counted: it is the same while this is."""
    answers = counted(design.round).order_by().aggregate(n=Count("pk"), newest=Max("received_at"))
    runs = Entrant.objects.filter(design=design, run__isnull=False).values("run")
    scorings = Scoring.objects.shown().filter(run__in=runs).order_by("pk")
    return {
        "answers": answers["n"], "newest": answers["newest"] and answers["newest"].isoformat(),
        "scorings": list(scorings.values_list("pk", flat=True)),
    }  # fmt: skip


def stored(design: RatingDesign) -> Stored | None:
    """The figures of a round as a worker left them; None where none has yet."""
    kept = RatingFigures.objects.filter(design=design).first()
    if kept is None:
        return None
    now = basis_of(design)
    why = [
        reason
        for reason, same in (
            (RULES, kept.rule == RULE),
            (ANSWERS, all(kept.basis[name] == now[name] for name in ("answers", "newest"))),
            (SCORED, kept.basis["scorings"] == now["scorings"]),
        )
        if not same
    ]
    return Stored(whole(json.loads(kept.figures)), kept.made_at, tuple(why))


def whole(figures: Json) -> Json:
    """Stored figures with what those of earlier rules had not, empty: until they are reckoned anew pages print less."""
    figures.setdefault("printed", {})
    figures.setdefault("not_compared", [])
    for way in filter(None, (figures["all"], figures["kept"])):
        way.setdefault("metrics", [])
        for criterion in way["criteria"]:
            criterion.setdefault("bounds", None)
        way.setdefault("points", {"items": 0, "of": 0, "system": [], "criteria": {}, "metrics": {}})
    return figures


def reckon(design: RatingDesign, progress: Progress = lambda step: None, **others: Any) -> Json:
    """Everything of a round: `Reading.figures`, with what criteria, systems and metrics are called."""
    progress("reading")
    said = Said(design)
    scorings = said.scorings()
    scored = {scoring.metric for scoring in scorings}
    printed = {
        name: figure for metric in metrics.every() if metric.key in scored for name, figure in figures_of(metric.key)
    }
    made = said.figures(
        scores=said.scores(scorings), bounds={name: figure.bounds for name, figure in printed.items()},
        progress=progress, **others,
    )  # fmt: skip
    return made | {
        "names": {criterion.key: criterion.name or criterion.key for criterion in said.content.criteria},
        "entrants": [said.names[n] for n in sorted(said.names)],
        "reference": said.reference,
        "printed": {name: _printed(figure) for name, figure in printed.items()},
    }


def _printed(figure: Figure) -> Json:
    """How tables and pictures print a metric."""
    return {
        "label": figure.label, "scale": figure.scale, "decimals": figure.decimals, "better": figure.better,
        "headline": figure.headline,
    }  # fmt: skip


def open_designs(project: Project, member: Member | None = None, *, published: bool = False) -> QuerySet[RatingDesign]:
    """The unblinded rounds of a project whose results a member may see: those of which no run is sealed from the
    member, who rates it blindly elsewhere; ``published``: from anybody."""
    found = RatingDesign.objects.filter(round__project=project, round__status=Round.Status.CLOSED).exclude(
        unblinding=None
    )
    if published or member:
        seals = Seal.objects.upon(member) if member and not published else Seal.objects.in_force()
        sealed = Entrant.objects.filter(run__in=seals.values("run")).values("design")
        found = found.exclude(pk__in=sealed)
    return found.select_related("round", "version__protocol", "unblinding").order_by("pk")
