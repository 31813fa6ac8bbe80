"""Facts about rating rounds that are released completely: closed, unblinded, and without a run under embargo."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from django.db.models import Count, F, Q

from evaluation.models import PageText, Preference, Rating, RatingDesign, RatingPage
from measures.design import algorithm_of
from projects.models import Answer, Assignment, Outcome, Project

from ...sources.agreement import report_of
from ...sources.blinding import released_designs
from .agreement import RoundAgreement, agreement_of
from .guidelines import GuidelineFacts, guideline_facts


@dataclass(frozen=True)
class CriterionFacts:
    """A criterion of a protocol, as raters answered it."""

    key: str
    name: str
    standard: str
    question: str
    definition: str
    type: str
    #: (value, label) of each point; empty for an open scale.
    points: tuple[tuple[str, str], ...]
    may_be_na: bool
    #: What the text was compared with: "alone", "source", "target" or "query".
    frame: str


@dataclass(frozen=True)
class RatingFacts:
    """One rating round. Numbers of people are the least and the most per page."""

    round: str
    #: "rate", "compare" or "best_worst".
    kind: str
    rater_group: str
    raters: int
    systems: tuple[str, ...]
    sources: int
    left_out: int
    pages: int
    people_per_page: tuple[int, int]
    repeated: int
    protocol: str
    protocol_version: int
    protocol_sha256: str
    guideline: GuidelineFacts
    criteria: tuple[CriterionFacts, ...]
    texts_per_page: str
    is_normalised: bool
    is_lowered: bool
    checks: int
    check_answers: int
    checks_apart: bool
    #: Raters who failed more than this share of checks (%) are excluded; None: no such rule.
    exclude_checks: float | None
    excludes_fast: bool
    skipped: int
    median_seconds: float | None
    seed: int
    secret: str
    design_sha256: str
    algorithm: str
    practice: str
    asks_questions: bool
    agreement: RoundAgreement


def rating_facts(project: Project, known: Mapping[int, RoundAgreement]) -> tuple[RatingFacts, ...]:
    """Return the facts of each round, oldest first. A fixed number of queries per round.

    ``known``: agreement of rounds by id that was computed before.
    """
    designs = released_designs(project).select_related(
        "round__project", "round__guideline", "round__requires_practice", "version__protocol"
    )
    return tuple(_rating(design, known) for design in designs)


def _rating(design: RatingDesign, known: Mapping[int, RoundAgreement]) -> RatingFacts:
    round, plan, version = design.round, design.plan, design.version
    assigned = Assignment.objects.filter(round=round, number__gte=1).order_by()
    answered = assigned.filter(current_answer__isnull=False)
    people = list(
        assigned.filter(repeat=0).values("unit").annotate(n=Count("pk")).values_list("n", flat=True).order_by("n")
    )
    degraded = PageText.objects.filter(page__source__design=design, is_check=True).exclude(made_from=F("code"))
    agreement = known[round.pk] if round.pk in known else agreement_of(report_of(round))
    return RatingFacts(
        round=round.name,
        kind=plan["kind"],
        rater_group=round.rater_group,
        raters=answered.values("current_answer__author").distinct().count(),
        systems=tuple(system["name"] for system in plan["entrants"]),
        sources=len(plan["sources"]),
        left_out=plan["left_out"],
        pages=RatingPage.objects.filter(source__design=design, texts__is_check=False).distinct().count(),
        people_per_page=(people[0], people[-1]) if people else (0, 0),
        repeated=assigned.repeats().count(),
        protocol=version.protocol.name,
        protocol_version=version.number,
        protocol_sha256=version.digest,
        guideline=guideline_facts(round.guideline),
        criteria=tuple(_criterion(criterion) for criterion in version.content["criteria"]),
        texts_per_page=plan.get("texts_per_page", ""),
        is_normalised=bool(round.options.get("one_form", True)),
        is_lowered=bool(plan.get("lowered")),
        checks=degraded.count(),
        check_answers=_answers_to(degraded) if degraded.exists() else 0,
        checks_apart="groups" in plan,
        exclude_checks=round.options.get("exclude_checks"),
        excludes_fast=bool(round.options.get("exclude_fast")),
        skipped=Answer.objects.filter(assignment__round=round, outcome=Outcome.SKIPPED).count(),
        median_seconds=_median_seconds(answered),
        seed=round.seed,
        secret=design.secret,
        design_sha256=design.digest,
        algorithm=algorithm_of(plan),
        practice=round.requires_practice.name if round.requires_practice else "",
        asks_questions=round.asks_questions,
        agreement=agreement,
    )


def _criterion(criterion: Mapping[str, Any]) -> CriterionFacts:
    scale = criterion["scale"]
    return CriterionFacts(
        key=criterion["key"],
        name=criterion.get("name") or criterion["key"],
        standard=criterion.get("standard") or "",
        question=criterion.get("question") or "",
        definition=criterion.get("more") or "",
        type=scale["type"],
        points=tuple((str(point["value"]), point.get("label") or "") for point in scale.get("options") or ()),
        may_be_na=bool(criterion.get("na")),
        frame=criterion["frame"],
    )


def _answers_to(degraded: Any) -> int:
    """Return the number of answers to attention checks."""
    rated = Rating.objects.filter(text__in=degraded).order_by().values("answer").distinct().count()
    compared = Preference.objects.filter(Q(left__in=degraded) | Q(right__in=degraded))
    return rated + compared.order_by().values("answer").distinct().count()


def _median_seconds(answered: Any) -> float | None:
    """Return the median working time per page; None if no time was measured."""
    times = answered.filter(current_answer__active_ms__gt=0).values_list("current_answer__active_ms", flat=True)
    return median(times) / 1000 if times else None
