"""Compute the results of a round from its rows, and read stored results."""

import json
from collections.abc import Callable, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, QuerySet

from generation import metrics
from generation.metrics.protocol import Figure
from generation.models import Embargo, Scoring
from measures.ratings import ADDED, RULE
from projects.answers.queries import counted
from projects.models import Member, Project, Round

from ..models import ComparedSystem, RatingDesign, RatingFigures
from .rating_rows import RoundRatings, figures_of
from .seen import seen_by_any

Json = dict[str, Any]
#: Key of the compared systems, and its name in results stored before it was renamed.
SYSTEMS, FIRST_SYSTEMS = "systems", "entrants"
Progress = Callable[[str], object]
#: Key of the results without the sources that a system's model has seen in trainings.
UNSEEN = "unseen"
ANSWERS, SCORED, TRAINED, RULES = (
    "answers have changed since",
    "metrics have been computed since",
    "models have been trained on its sources since",
    "the method has changed since",
)


@dataclass(frozen=True)
class Stored:
    """Stored results. ``outdated`` lists the reasons why a new computation would differ."""

    figures: Json
    made_at: datetime
    outdated: tuple[str, ...]


def basis_of(design: RatingDesign, seen: Set[int]) -> Json:
    """Return a summary of the data that the results depend on: it changes with them. ``seen``: see `seen_by_any`."""
    answers = counted(design.round).order_by().aggregate(n=Count("pk"), newest=Max("received_at"))
    runs = ComparedSystem.objects.filter(design=design, run__isnull=False).values("run")
    scorings = Scoring.objects.latest_finished().filter(run__in=runs).order_by("pk")
    return {
        "answers": answers["n"],
        "newest": answers["newest"] and answers["newest"].isoformat(),
        "scorings": list(scorings.values_list("pk", flat=True)),
        **({"seen": sorted(seen)} if seen else {}),
    }


def stored(design: RatingDesign) -> Stored | None:
    """Return the stored results of a round with all its sources, or None if there are none yet.

    ``outdated`` is about these: trainings since do not change them.
    """
    return compared(design, basis_of(design, frozenset()))


def compared(design: RatingDesign, now: Json, *, unseen: bool = False) -> Stored | None:
    """Return `stored`, given the present `basis_of`. ``unseen``: see `read_figures`."""
    kept = RatingFigures.objects.filter(design=design).first()
    if kept is None:
        return None
    why = [
        reason
        for reason, same in (
            (RULES, kept.rule == RULE),
            (ANSWERS, all(kept.basis[name] == now[name] for name in ("answers", "newest"))),
            (SCORED, kept.basis["scorings"] == now["scorings"]),
            (TRAINED, kept.basis.get("seen") == now.get("seen")),
        )
        if not same
    ]
    return Stored(read_figures(kept.figures, unseen=unseen), kept.made_at, tuple(why))


def read_figures(text: str, *, unseen: bool = False) -> Json:
    """Return stored results.

    With ``unseen``, without the sources that the model of any system has seen in trainings, for all systems.
    """
    figures: Json = json.loads(text)
    without_seen = figures.pop(UNSEEN, None)
    return whole(without_seen if unseen and without_seen else figures)


def whole(figures: Json) -> Json:
    """Give keys their current names, and add those that results stored by earlier rules lack, with empty values.

    Pages show less until the results are recomputed.
    """
    if FIRST_SYSTEMS in figures:
        figures[SYSTEMS] = figures.pop(FIRST_SYSTEMS)
    figures.setdefault("printed", {})
    figures.setdefault("not_compared", [])
    for way in filter(None, (figures["all"], figures["kept"])):
        for name in ("metrics", *ADDED):
            way.setdefault(name, [])
        for criterion in way["criteria"]:
            criterion.setdefault("bounds", None)
        way.setdefault("points", {"items": 0, "of": 0, "system": [], "criteria": {}, "metrics": {}})
    return figures


def compute_figures(design: RatingDesign, progress: Progress = lambda step: None, **others: Any) -> Json:
    """Return all results of a round: `Reading.figures`, and the names of criteria, systems and metrics."""
    made = _compute(RoundRatings(design), progress, **others)
    if seen := seen_by_any(design):
        progress("without sources of trainings")
        made[UNSEEN] = _compute(RoundRatings(design, without=seen), progress, **others)
    return made


def _compute(ratings: RoundRatings, progress: Progress, **others: Any) -> Json:
    progress("reading")
    scorings = ratings.scorings()
    scored = {scoring.metric for scoring in scorings}
    printed = {
        name: figure for metric in metrics.every() if metric.key in scored for name, figure in figures_of(metric.key)
    }
    made = ratings.figures(
        scores=ratings.scores(scorings),
        bounds={name: figure.bounds for name, figure in printed.items()},
        progress=progress,
        **others,
    )
    return made | {
        "names": {criterion.key: criterion.name or criterion.key for criterion in ratings.content.criteria},
        SYSTEMS: [ratings.names[n] for n in sorted(ratings.names)],
        "reference": ratings.reference,
        "printed": {name: _printed(figure) for name, figure in printed.items()},
    }


def _printed(figure: Figure) -> Json:
    """Return how tables and plots print a metric."""
    return {
        "label": figure.label,
        "scale": figure.scale,
        "decimals": figure.decimals,
        "better": figure.better,
        "headline": figure.headline,
    }


def open_designs(project: Project, member: Member | None = None, *, published: bool = False) -> QuerySet[RatingDesign]:
    """Return the unblinded rounds of a project whose results the member may see.

    Rounds with a run that is embargoed for the member are left out, because the member rates it blindly elsewhere. With
    ``published``, rounds with any embargoed run are left out.
    """
    found = RatingDesign.objects.filter(round__project=project, round__status=Round.Status.CLOSED).exclude(
        unblinding=None
    )
    if published or member:
        embargoes = Embargo.objects.for_member(member) if member and not published else Embargo.objects.active()
        embargoed = ComparedSystem.objects.filter(run__in=embargoes.values("run")).values("design")
        found = found.exclude(pk__in=embargoed)
    return found.select_related("round", "version__protocol", "unblinding").order_by("pk")
