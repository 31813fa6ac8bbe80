"""Create ratings in the sample project: four summarisers, rated blind by three simulated raters, and ROUGE scores.

Severities, effects and noise are known, so that users can see whether the tables recover them. A second round is left
open for the evaluator.
"""

import random
from collections.abc import Mapping
from typing import Any

from accounts.models import User
from evaluation.design.systems import REFERENCES
from evaluation.models import PageText, RatingDesign
from evaluation.unblinding.actions import unblind
from generation.models import Run, System
from generation.runs.actions import start_run
from generation.scoring.actions import request_scores
from generation.systems.actions import create_system, make_version
from operations.simulation.annotator import Annotator
from operations.simulation.client import Client
from operations.simulation.history import ANNOTATORS, do_waiting_jobs, quiet
from operations.simulation.transport import InProcess
from projects.models import Member, Project, Purpose, Role, Round
from projects.people.actions import remove_member
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan

ROUND, OPEN = "Ratings (simulated)", "Rate these summaries"
#: name -> (method, effect on a rating in points). The last system is for the open round only, with the reference
#: summaries. It has no ratings.
SYSTEMS: Mapping[str, tuple[str, float]] = {
    "TextRank": ("TextRank", 0.6),
    "Lead": ("lead", 0.2),
    "MMR": ("MMR", -0.1),
    "Random sentences": ("random", -0.7),
    "Lead of each": ("lead of each", 0.0),
}
RATED = 4
#: Metric that is correlated with the ratings.
METRIC = "rouge"
#: Effect of each rater in points: lenient, neutral and severe.
SEVERITY = (0.4, 0.0, -0.4)
MIDDLE, OF_SOURCES, NOISE, SEED = 3.2, 0.8, 0.6, 20_261_122


class Rater(Annotator):
    """A simulated rater with known effects and noise. It knows the system of each text, which real raters do not."""

    def __init__(self, client: Client, round: int, *, severity: float, effects: Mapping[int, float], seed: int) -> None:
        """Set up the rater. ``effects`` holds the points of each system by its number."""
        super().__init__(client, round, seed=seed)
        self.severity, self.effects = severity, effects

    def body(self, card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        unit = card["unit"]["id"]
        rng = random.Random(f"{self.seed} {unit}")
        source = random.Random(f"{SEED} {unit}").gauss(0, OF_SOURCES)
        of = dict(PageText.objects.filter(page__unit=unit).values_list("code", "system_numbers"))
        texts = []
        for text in card["texts"]:
            whose = of[text["key"]]
            points = MIDDLE + source + self.severity + sum(self.effects[number] for number in whose) / len(whose)
            ratings = [_rating(criterion, points + rng.gauss(0, NOISE)) for criterion in card["protocol"]["criteria"]]
            texts.append({"text": text["key"], "said": ratings})
        return {
            "assignment": card["assignment"],
            "revision": card["revision"],
            "kind": card["kind"],
            "outcome": "answered",
            "shown": card["shown"],
            "references": card["references"],
            "comment": "",
            "flag": False,
            "active_ms": rng.randint(20_000, 90_000),
            "value": {"texts": texts},
        }


def _rating(criterion: Mapping[str, Any], points: float) -> dict[str, Any]:
    """Return a rating by one criterion for a latent score of ``points``.

    With two options, the first is chosen if the score is at least `MIDDLE`. With more, the option nearest to the score
    is chosen, where the first option has 1 point.
    """
    options = criterion["scale"]["options"]
    last = len(options) - 1
    index = max(0, min(last, round(points - 1))) if last > 1 else int(points < MIDDLE)
    return {
        "criterion": criterion["key"],
        "value": options[index]["value"],
        "na": False,
        "prefilled": False,
        "reason": "",
        "spans": [],
        "quotes": [],
    }


def play_ratings(project: Project) -> bool:
    """Run, rate, close and unblind a round, and leave another one open. The simulated raters then leave the project.

    Return False if the round exists or the people are missing.
    """
    lead = project.members.active().filter(role=Role.LEAD).select_related("user").order_by("pk").first()
    members = project.members.active().select_related("user")
    raters = sorted(members.filter(user__email__in=[email for email, *_ in ANNOTATORS]), key=lambda m: m.user.email)
    if (
        lead is None
        or len(raters) < len(ANNOTATORS)
        or Round.objects.filter(project=project, name__in=(ROUND, OPEN)).exists()
    ):
        return False
    with quiet():
        runs = [_run(project, name, method, lead.user) for name, (method, _) in SYSTEMS.items()]
        do_waiting_jobs()
        for run in runs:
            request_scores(run=run, metric=METRIC, params={}, by=lead.user)
        do_waiting_jobs()
        rated = _open(project, ROUND, [str(run.pk) for run in runs[:RATED]], raters, lead.user)
        _rate(rated, raters)
        close_round(round=rated, by=lead.user)
        do_waiting_jobs()
        unblind(design=RatingDesign.objects.get(round=rated), by=lead.user)
        evaluators = list(project.members.active().filter(role=Role.EVALUATOR))
        if evaluators:
            _open(project, OPEN, [*(str(run.pk) for run in runs[RATED:]), REFERENCES], evaluators, lead.user)
        # Later rounds can only choose people who answer.
        for rater in raters:
            remove_member(member=rater, by=lead.user)
        do_waiting_jobs()
    return True


def _run(project: Project, name: str, method: str, by: User) -> Run:
    system = System.objects.filter(project=project, name=name).first() or create_system(
        project=project, name=name, description="An extractive baseline.", by=by
    )
    config = {"backend": "extractive", "decoding": {"method": method, "sentences": 2}, "seed": SEED}
    version = system.versions.order_by("pk").first() or make_version(system=system, config=config, by=by)
    return version.runs.order_by("pk").first() or start_run(version=version, by=by)


def _open(project: Project, name: str, run_ids: list[str], people: list[Member], by: User) -> Round:
    options = {"protocol": "shipped:guideline", "systems": run_ids}
    plan = RoundPlan(
        name=name,
        kind="rate",
        purpose=Purpose.RELIABILITY_STUDY,
        overlap=len(people),
        allocation=Round.Allocation.FIXED,
        people=[member.pk for member in people],
        options=options,
        seed=SEED,
    )
    return open_round(project=project, plan=plan, by=by)


def _rate(round: Round, raters: list[Member]) -> None:
    numbers = RatingDesign.objects.get(round=round).systems.values_list("number", "run__version__system__name")
    effects = {number: SYSTEMS[name][1] for number, name in numbers}
    for seed, (member, severity) in enumerate(zip(raters, SEVERITY, strict=True), start=1):
        client = Client(InProcess(member.user))
        Rater(client, round.pk, severity=severity, effects=effects, seed=seed).work()
