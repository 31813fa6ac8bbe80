"""Build rating rounds with the product's own actions: runs with texts, a round over them, and ratings."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from accounts.models import User
from evaluation.kinds.rate.checking import holds
from evaluation.models import PageTextOf, RatingDesign
from evaluation.protocols.content import load
from evaluation.protocols.parts import Criterion
from evaluation.unblinding.actions import unblind
from generation.models import Run
from projects.models import Assignment, Member, Project, Round
from projects.queue import queries as queue_queries
from projects.queue.actions import Submitted, next_assignments, submit
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from tests.builders import build_cluster, submission
from tests.generation.builders import build_run, build_version

GUIDELINE, PREFERENCE, BEST_WORST = "shipped:guideline", "shipped:preference", "shipped:best-worst"
#: Text of each system for cluster n.
SYSTEMS: Mapping[str, Callable[[int], str]] = {
    "Alder": lambda n: f"Nepralin did not change relapse in study {n}.",
    "Birch": lambda n: f"nepralin may have lowered relapse , they say of study {n} .",
    "Cedar": lambda n: f"There is no evidence about relapse in study {n}.",
    "Dogwood": lambda n: f"Nepralin and placebo did equally well in study {n}.",
}


def build_runs(
    project: Project,
    clusters: int = 4,
    systems: Sequence[str] = tuple(SYSTEMS),
    tail: Callable[[int], str] = lambda n: "",
) -> list[Run]:
    """Create systems that have summarised each cluster; ``tail`` is appended to all texts."""
    there = [build_cluster(project, number=n) for n in range(clusters)]
    return [
        build_run(build_version(project, name), {c.unit_id: SYSTEMS[name](n) + tail(n) for n, c in enumerate(there)})
        for name in systems
    ]


def open_rating(
    project: Project, people: Sequence[Member], runs: Sequence[Run], protocol: str = GUIDELINE, **plan: Any
) -> Round:
    """An open round over all that the runs have summarised."""
    options = {"protocol": protocol, "systems": [str(run.pk) for run in runs]} | plan.pop("options", {})
    kind = {PREFERENCE: "compare", BEST_WORST: "best_worst"}.get(protocol, "rate")
    fields: dict[str, Any] = {
        "name": "ratings",
        "kind": kind,
        "purpose": "measure only",
        "overlap": len(people),
        "allocation": "dealt",
        "seed": 20_261_122,
    }
    whole = RoundPlan(people=[m.pk for m in people], options=options, **fields | plan)
    return open_round(project=project, plan=whole, by=project.members.filter(role="lead").order_by("pk")[0].user)


def cards_of(user: User, round: Round) -> list[dict[str, Any]]:
    """Return the cards of a person's held assignments."""
    return queue_queries.cards(round, next_assignments(user=user, round=round))


def default_choice(criterion: Criterion, key: str) -> str:
    """Return a value of a criterion derived from the text's key, so that raters agree."""
    values = [option.value for option in criterion.scale.options]
    match criterion.scale.type:
        case "likert" | "categorical":
            return values[int(key, 16) % len(values)]
        case "slider":
            return str(int(key, 16) % 101)
        case "spans":
            return "none"
        case "multi-label":
            return ""
    return "A remark."


def rate_value(card: Mapping[str, Any], choose: Callable[[Criterion, str], str] = default_choice) -> dict[str, Any]:
    """Return an answer to a page: every applicable criterion of every text."""
    criteria = load(card["protocol"]).criteria
    texts = []
    for text in card["texts"]:
        said: dict[str, dict[str, Any]] = {}
        for criterion in criteria:
            if holds(criterion.shown_if, said):
                said[criterion.key] = {
                    "criterion": criterion.key,
                    "value": choose(criterion, text["key"]),
                    "na": False,
                    "prefilled": False,
                    "reason": "Because." if criterion.reason.required_at else "",
                    "spans": [],
                    "quotes": [],
                }
        texts.append({"text": text["key"], "said": list(said.values())})
    return {"texts": texts}


def pair_value(card: Mapping[str, Any], choice: int = 0) -> dict[str, Any]:
    """Return a comparison that prefers the text on one side by every criterion."""
    keys = [text["key"] for text in card["texts"]]
    said = [{"criterion": c["key"], "choice": keys[choice], "reason": ""} for c in card["protocol"]["criteria"]]
    return {"left": keys[0], "right": keys[1], "said": said}


def tuple_value(card: Mapping[str, Any], best: str, worst: str) -> dict[str, Any]:
    """Return an answer to a tuple by every criterion: the keys of the best and of the worst text."""
    return rate_value(card, lambda criterion, key: {best: "best", worst: "worst"}.get(key, "neither"))


def submit_value(user: User, slot: Assignment, value: dict[str, Any]) -> Submitted:
    return submit(user=user, submission=submission(slot, value, kind=slot.round.kind, active_ms=30_000))


def rate_all(
    user: User, round: Round, choose: Callable[[Criterion, str], str] = default_choice, most: int | None = None
) -> int:
    """Answer all pages of a person, or ``most`` of them; return their number."""
    done = 0
    while done != most and (slots := next_assignments(user=user, round=round)):
        card = queue_queries.cards(round, slots[:1])[0]
        if round.kind == "best_worst":
            keys = sorted((text["key"] for text in card["texts"]), key=lambda key: (choose(RANK, key), key))
            value = tuple_value(card, keys[-1], keys[0])
        else:
            value = rate_value(card, choose) if round.kind == "rate" else pair_value(card, done % 2)
        submit_value(user, slots[0], value)
        done += 1
    return done


#: A criterion by which simulated raters rank the texts of a tuple.
RANK = Criterion.model_validate(
    {"key": "rank", "scale": {"type": "likert", "options": [{"value": str(n)} for n in range(1, 6)]}}
)
#: True quality of each system.
QUALITY = {"Alder": 1.5, "Birch": 0.5, "Cedar": -0.5, "Dogwood": -1.5}


def rater_by_quality(seed: int, degraded: str = "Dogwood", severity: float = 0.0) -> Callable[[Criterion, str], str]:
    """Return a simulated rater: the system's quality less the rater's severity, plus noise. Degraded texts count as
    texts of the system ``degraded``; "" makes a rater who detects them all."""
    random = np.random.default_rng(seed)
    named: dict[str, str] = {}

    def choose(criterion: Criterion, key: str) -> str:
        if key not in named:
            of = PageTextOf.objects.filter(text__code=key).values_list("system__name", flat=True).first()
            named[key] = of or degraded
        noisy = QUALITY.get(named[key], -9.0) - severity + random.normal(0, 0.5)
        if named[key] and not degraded:
            noisy = max(noisy, -1.0)  # the lowest value is left to degraded texts
        if criterion.scale.type == "likert":
            return str(int(min(max(round(3 + noisy), 1), 5)))
        return "consistent" if noisy > 0 else "not consistent"

    return choose


def close_rating_round(
    project: Project,
    lead: User,
    raters: list[User],
    runs: list[Run],
    choose: Callable[[int], Callable[[Criterion, str], str]] = rater_by_quality,
    **plan: Any,
) -> RatingDesign:
    """Return a rated, closed and unblinded round whose figures were computed with few replicates."""
    members = [project.members.get(user=user) for user in raters]
    round = open_rating(project, members, runs, **plan)
    for n, user in enumerate(raters):
        rate_all(user, round, choose(n))
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    close_round(round=round, by=lead)
    unblind(design=design, by=lead)
    return design
