"""Ratings for the illustrative project: four summarisers run over the sample, three robots rate what they wrote, blind,
and ROUGE is held against that.

Severities, effects and noise are known, so that a newcomer sees whether the tables find them. A second round is left
open for the evaluator.
"""

import random
from collections.abc import Mapping
from typing import Any

from accounts.models import User
from evaluation.actions.unblinding import unblind
from evaluation.design.entrants import REFERENCES
from evaluation.models import PageText, RatingDesign
from generation.actions.runs import start_run
from generation.actions.scores import ask_for_scores
from generation.actions.systems import create_system, make_version
from generation.models import Run, System
from projects.actions.rounds import RoundPlan, close_round, open_round
from projects.models import Member, Project, Purpose, Role, Round

from .annotator import Annotator
from .client import Client
from .history import ROBOTS, do_waiting_jobs, quiet
from .transport import InProcess

ROUND, OPEN = "Ratings (robots)", "Rate these summaries"
#: name -> (method, what it adds to a rating, in points). The last is for the open round, beside the
#: reference summaries: nobody has rated them.
SYSTEMS: Mapping[str, tuple[str, float]] = {
    "TextRank": ("TextRank", 0.6), "Lead": ("lead", 0.2), "MMR": ("MMR", -0.1),
    "Random sentences": ("random", -0.7), "Lead of each": ("lead of each", 0.0),
}  # fmt: skip
RATED = 4
#: What is held against the ratings.
METRIC = "rouge"
#: What each robot adds, in points: a mild, a middling and a severe one.
SEVERITY = (0.4, 0.0, -0.4)
MIDDLE, OF_SOURCES, NOISE, SEED = 3.2, 0.8, 0.6, 20_261_122


class Rater(Annotator):
    """A robot that knows whose a text is, as no rater does, and says what it was told to think, with noise."""

    def __init__(self, client: Client, round: int, *, severity: float, effects: Mapping[int, float], seed: int) -> None:
        """``effects``: how many points each entrant is worth, by its number."""
        super().__init__(client, round, seed=seed)
        self.severity, self.effects = severity, effects

    def body(self, card: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        unit = card["unit"]["id"]
        rng = random.Random(f"{self.seed} {unit}")
        source = random.Random(f"{SEED} {unit}").gauss(0, OF_SOURCES)
        of = dict(PageText.objects.filter(page__unit=unit).values_list("code", "entrants"))
        texts = []
        for text in card["texts"]:
            whose = of[text["key"]]
            points = MIDDLE + source + self.severity + sum(self.effects[number] for number in whose) / len(whose)
            said = [_said(criterion, points + rng.gauss(0, NOISE)) for criterion in card["protocol"]["criteria"]]
            texts.append({"text": text["key"], "said": said})
        return {
            "assignment": card["assignment"], "revision": card["revision"], "kind": card["kind"], "outcome": "answered",
            "shown": card["shown"], "references": card["references"], "comment": "", "flag": False,
            "active_ms": rng.randint(20_000, 90_000), "value": {"texts": texts},
        }  # fmt: skip


def _said(criterion: Mapping[str, Any], points: float) -> dict[str, Any]:
    """An option of a criterion: of two the first where the points are many, of more the nearest from the lowest."""
    options = criterion["scale"]["options"]
    last = len(options) - 1
    place = max(0, min(last, round(points - 1))) if last > 1 else int(points < MIDDLE)
    return {
        "criterion": criterion["key"], "value": options[place]["value"], "na": False, "prefilled": False,
        "reason": "", "spans": [], "quotes": [],
    }  # fmt: skip


def play_ratings(project: Project) -> bool:
    """Run, rate, close and unblind; leave another round open; False where that was done before, or nobody can."""
    lead = project.members.active().filter(role=Role.LEAD).select_related("user").order_by("pk").first()
    robots = [project.members.active().select_related("user").filter(user__email=email).first() for email, *_ in ROBOTS]
    if lead is None or None in robots or Round.objects.filter(project=project, name=ROUND).exists():
        return False
    with quiet():
        runs = [_run(project, name, method, lead.user) for name, (method, _) in SYSTEMS.items()]
        do_waiting_jobs()
        for run in runs:
            ask_for_scores(run=run, metric=METRIC, params={}, by=lead.user)
        do_waiting_jobs()
        raters = [robot for robot in robots if robot]
        rated = _open(project, ROUND, [str(run.pk) for run in runs[:RATED]], raters, lead.user)
        _rate(rated, raters)
        close_round(round=rated, by=lead.user)
        do_waiting_jobs()
        unblind(design=RatingDesign.objects.get(round=rated), by=lead.user)
        evaluators = list(project.members.active().filter(role=Role.EVALUATOR))
        if evaluators:
            _open(project, OPEN, [*(str(run.pk) for run in runs[RATED:]), REFERENCES], evaluators, lead.user)
        do_waiting_jobs()
    return True


def _run(project: Project, name: str, method: str, by: User) -> Run:
    system = System.objects.filter(project=project, name=name).first() or create_system(
        project=project, name=name, description="An extractive baseline.", by=by
    )
    config = {"backend": "extractive", "decoding": {"method": method, "sentences": 2}, "seed": SEED}
    version = system.versions.order_by("pk").first() or make_version(system=system, config=config, by=by)
    return version.runs.order_by("pk").first() or start_run(version=version, by=by)


def _open(project: Project, name: str, entrants: list[str], people: list[Member], by: User) -> Round:
    options = {"protocol": "shipped:guideline", "entrants": entrants}
    plan = RoundPlan(
        name=name, kind="rate", purpose=Purpose.MEASURE_ONLY, overlap=len(people), dealing=Round.Dealing.DEALT,
        people=[member.pk for member in people], options=options, seed=SEED,
    )  # fmt: skip
    return open_round(project=project, plan=plan, by=by)


def _rate(round: Round, raters: list[Member]) -> None:
    numbers = RatingDesign.objects.get(round=round).entrants.values_list("number", "run__version__system__name")
    effects = {number: SYSTEMS[name][1] for number, name in numbers}
    for seed, (member, severity) in enumerate(zip(raters, SEVERITY, strict=True), start=1):
        client = Client(InProcess(member.user))
        Rater(client, round.pk, severity=severity, effects=effects, seed=seed).work()
