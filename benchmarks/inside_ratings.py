"""Create large rounds of rated summaries. The functions run in a process with Concord set up."""

import random
import time
from typing import Any

from benchmarks.inside_rounds import BATCH, CLUSTER, grow

#: Scale and number of criteria of the shipped protocol.
POINTS, CRITERIA = ("1", "2", "3", "4", "5"), 3


def rated(slug: str, texts: list[str], ratings: int, systems: int, raters: int, replicates: int) -> dict[str, Any]:
    """Create a project with a closed and unblinded rating round and compute its figures.

    Return the token of its lead and the seconds that the figures took.
    """
    from benchmarks.inside_loads import lead
    from evaluation.models import RatingDesign
    from evaluation.results.actions import compute_ratings
    from evaluation.unblinding.actions import unblind
    from projects.models import Member, Project
    from projects.rounds.actions import close_round

    sources = max(2, ratings // (systems * raters * CRITERIA))
    grow(units=sources * CLUSTER, texts=texts, rounds=0, answered=0, slug=slug)
    project, token = Project.objects.get(slug=slug), lead(slug)
    _apart(project)
    runs = [summarised(project, n) for n in range(systems)]
    round = _opened(project, [_rater(project, n) for n in range(raters)], runs)
    _answered(round, random.Random(3))
    close_round(round=round, by=None)
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    unblind(design=design, by=Member.objects.get(project=project, role="lead").user)
    begun = time.perf_counter()
    made = compute_ratings(design=design, replicates=replicates)
    return {"token": token, "round": round.pk, "ratings": made["judgements"], "seconds": time.perf_counter() - begun}


def _apart(project: Any) -> None:
    """Assign four clusters to each review, because intervals are over reviews."""
    from annotation.models import Cluster, Review
    from projects.models import Unit

    clusters = list(Cluster.objects.filter(project=project).order_by("position"))
    keys = [f"{10_000 + n}" for n in range(-(-len(clusters) // 4))]
    units = Unit.objects.bulk_create(Unit(project=project, type="review", key=key) for key in keys)
    reviews = Review.objects.bulk_create(Review(project=project, pmid=unit.key, unit=unit) for unit in units)
    for n, cluster in enumerate(clusters):
        cluster.review = reviews[n // 4]
    Cluster.objects.bulk_update(clusters, ["review"], batch_size=400)


def _rater(project: Any, number: int) -> int:
    from accounts.models import User
    from projects.models import Member

    user = User.objects.create_user(email=f"{project.slug}-{number}@example.org", name=f"Rater {number}")
    made = Member.objects.create(project=project, user=user, role="evaluator", pseudonym=f"E{number:03}")
    return int(made.pk)


def summarised(project: Any, number: int) -> Any:
    """Create a system with a summary of every cluster. The texts differ between systems."""
    from generation.backends.identity import checked, hash_of
    from generation.models import ItemStatus, Run, RunItem, RunStatus, Summary, System, Version
    from projects.models import Unit

    system = System.objects.create(project=project, name=f"system {number}")
    config = checked({"backend": "extractive", "decoding": {"sentences": 1 + number}})
    facts: dict[str, Any] = {"libraries": {}}
    version = Version.objects.create(
        system=system,
        number=1,
        backend=config["backend"],
        level=config["level"],
        config=config,
        facts=facts,
        hash=hash_of(config, facts),
    )
    units = list(Unit.objects.filter(project=project, type="cluster").order_by("pk"))
    run = Run.objects.create(version=version, status=RunStatus.DONE, units_count=len(units))
    items = RunItem.objects.bulk_create(RunItem(run=run, unit=unit, size=1, status=ItemStatus.DONE) for unit in units)
    Summary.objects.bulk_create(
        (
            Summary(item=item, text=f"Treatment {number} changed mortality in study {n}.", finish="complete", digest="")
            for n, item in enumerate(items)
        ),
        batch_size=BATCH,
    )
    return run


def _opened(project: Any, raters: list[int], runs: list[Any]) -> Any:
    from projects.rounds.actions import open_round
    from projects.rounds.planning import RoundPlan

    plan = RoundPlan(
        name="rated",
        kind="rate",
        purpose="measure only",
        overlap=len(raters),
        people=raters,
        allocation="dealt",
        seed=1,
        options={"protocol": "shipped:guideline", "systems": [str(run.pk) for run in runs]},
    )
    return open_round(project=project, plan=plan, by=None)


def _answered(round: Any, rng: random.Random) -> None:
    """Create ratings of all texts by all raters. The first systems get high ratings, the last ones low ratings."""
    from django.utils import timezone

    from evaluation.design.stored import content_of
    from evaluation.models import PageText, Rating
    from projects.models import Answer, Assignment

    now, criteria = timezone.now(), content_of(round).criteria
    of_unit: dict[int, list[Any]] = {}
    for text in PageText.objects.filter(page__source__design__round=round).select_related("page"):
        of_unit.setdefault(text.page.unit_id, []).append(text)
    slots = list(Assignment.objects.filter(round=round).select_related("person").order_by("position", "number"))
    for first in range(0, len(slots), 400):
        some = slots[first : first + 400]
        given = Answer.objects.bulk_create(
            Answer(
                assignment=slot,
                author=slot.person,
                revision=1,
                outcome="answered",
                guideline_id=round.guideline_id,
                body_digest="",
                digest="",
                shown=1,
                received_at=now,
                active_ms=40_000,
            )
            for slot in some
        )
        Rating.objects.bulk_create(
            Rating(
                answer=answer,
                text=text,
                position=position,
                number=n,
                criterion=criterion.key,
                value=_value(criterion, text.system_numbers[0], rng),
            )
            for slot, answer in zip(some, given, strict=True)
            for position, text in enumerate(of_unit[slot.unit_id])
            for n, criterion in enumerate(criteria)
        )
        for slot, answer in zip(some, given, strict=True):
            slot.current_answer, slot.revision = answer, 1
        Assignment.objects.bulk_update(some, ["current_answer", "revision"], batch_size=400)


def _value(criterion: Any, system: int, rng: random.Random) -> str:
    worth = rng.gauss(3.5 - 0.2 * system, 1)
    if criterion.scale.type == "likert":
        return POINTS[min(max(round(worth) - 1, 0), 4)]
    values: list[str] = [option.value for option in criterion.scale.options]
    return values[0] if worth > 3 else values[-1]
