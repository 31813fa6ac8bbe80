"""Facts about models that judged released rating rounds. Their ratings are no facts about people."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, Sum

from evaluation.judge_figures.queries import is_current
from evaluation.judging.actions import cost_of
from evaluation.judging.rows import controlled
from evaluation.models import JudgeAnswer, JudgeFigures, JudgeRun, JudgeRunState
from generation.systems.queries import words
from projects.models import Project

from ...sources.blinding import released_designs


@dataclass(frozen=True)
class SystemMeans:
    """Means of a system: of people alone, and prediction-powered.

    People rated ``n`` sources, and only the judge rated ``others``. A missing interval has a reason.
    """

    system: str
    n: int
    others: int
    human: float | None
    human_ci: tuple[float, float] | None
    human_ci_reason: str
    value: float | None
    ci: tuple[float, float] | None
    ci_reason: str
    undefined: str


@dataclass(frozen=True)
class CriterionMeans:
    """Means of systems on a criterion. ``kind``: "mean", "share", "best-worst" or "preference"."""

    criterion: str
    kind: str
    systems: tuple[SystemMeans, ...]


@dataclass(frozen=True)
class JudgeFacts:
    """A judge applied to the pages of a round. ``invalid`` counts attempts, ``failed`` answers without a valid one."""

    name: str
    version: int
    digest: str
    model: str
    family: str
    round: str
    #: Host that read the texts; empty for a model on the server.
    host: str
    is_outside: bool
    instruction: str
    asks_reasons: bool
    decoding: tuple[tuple[str, str], ...]
    samples: int
    both_orders: bool
    requested: int
    answers: int
    valid: int
    failed: int
    invalid: int
    #: Sources that only the judge rated.
    other_sources: int
    #: Pages with sentences like instructions that were asked again without these, and how many answers changed.
    controlled: int
    followed: int
    tokens_in: int
    tokens_out: int
    tokens_are_estimated: bool
    cost: Decimal | None
    currency: str
    licence_reason: str
    is_done: bool
    finished_on: date | None
    #: Whether it may replace a rater, a sentence for each criterion; empty if this is not computed for these answers.
    worth: tuple[str, ...]
    #: Means with the sources that only the judge rated; empty if there are none, or if they are not computed.
    means: tuple[CriterionMeans, ...]


def judge_facts(project: Project) -> tuple[JudgeFacts, ...]:
    """Return the runs of judges on rounds that are released completely, oldest first. Some queries for each run."""
    runs = JudgeRun.objects.filter(design__in=released_designs(project).order_by().values("pk"))
    found = list(runs.select_related("judge", "design__round", "judge_set").order_by("pk"))
    answers: Any = JudgeAnswer.objects.filter(run__in=[run.pk for run in found]).order_by().values("run")
    asked = Q(control="")
    rows = answers.annotate(
        answers=Count("pk", filter=asked),
        valid=Count("pk", filter=asked & Q(is_valid=True)),
        invalid=Sum("invalid_count"),
        input=Sum("tokens_in"),
        output=Sum("tokens_out"),
        estimated=Count("pk", filter=Q(is_estimated=True)),
    )
    counts = {row["run"]: row for row in rows}
    figures = {each.run_id: each for each in JudgeFigures.objects.filter(run__in=counts)}
    return tuple(_judge(run, counts[run.pk], figures.get(run.pk)) for run in found if run.pk in counts)


def _current(run: JudgeRun, stored: JudgeFigures | None) -> dict[str, Any]:
    """Return the stored figures, if they belong to the present answers and rule; else none."""
    if stored is None or not is_current(run, stored):
        return {"criteria": []}
    figures: dict[str, Any] = json.loads(stored.figures)
    return figures


def _means(figures: Mapping[str, Any]) -> tuple[CriterionMeans, ...]:
    names = figures.get("names", {})
    found = [
        CriterionMeans(
            names.get(row["criterion"], row["criterion"]), row["kind"], tuple(map(_system_means, row["systems"]))
        )
        for row in figures["criteria"]
    ]
    return tuple(means for means in found if any(system.others for system in means.systems))


def _system_means(row: Mapping[str, Any]) -> SystemMeans:
    ends = {name: tuple(row[name]) if row.get(name) else None for name in ("human_ci", "ci")}
    return SystemMeans(
        system=row["system"],
        n=row.get("n", 0),
        others=row.get("others", 0),
        human=row.get("human"),
        human_ci=ends["human_ci"],
        human_ci_reason=row.get("human_ci_reason", ""),
        value=row.get("value"),
        ci=ends["ci"],
        ci_reason=row.get("ci_reason", ""),
        undefined=row["undefined"],
    )


def _judge(run: JudgeRun, counts: Mapping[str, Any], stored: JudgeFigures | None) -> JudgeFacts:
    judge, pages, figures = run.judge, controlled(run), _current(run, stored)
    tokens = (counts["input"] or 0, counts["output"] or 0)
    return JudgeFacts(
        name=judge.name,
        version=judge.number,
        digest=judge.digest,
        model=judge.model,
        family=judge.family,
        round=run.design.round.name,
        host=run.host,
        is_outside=run.is_outside,
        instruction=str(judge.prompt.get("extra") or ""),
        asks_reasons=bool(judge.prompt.get("reasons")),
        decoding=tuple((name.replace("_", " "), words(value)) for name, value in judge.decoding.items()),
        samples=run.samples,
        both_orders=run.both_orders,
        requested=run.requests_count,
        answers=counts["answers"],
        valid=counts["valid"],
        failed=counts["answers"] - counts["valid"],
        invalid=counts["invalid"] or 0,
        other_sources=run.judge_set.sources.count() if run.judge_set else 0,
        controlled=len(pages),
        followed=sum(map(bool, pages.values())),
        tokens_in=tokens[0],
        tokens_out=tokens[1],
        tokens_are_estimated=bool(counts["estimated"]),
        cost=cost_of(run, *tokens),
        currency=run.currency,
        licence_reason=run.licence_reason,
        is_done=run.state == JudgeRunState.DONE,
        finished_on=run.finished_at and run.finished_at.date(),
        worth=tuple(row["sentence"] for row in figures["criteria"]),
        means=_means(figures),
    )
