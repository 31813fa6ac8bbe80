"""Compute and store what the judges of an unblinded round are worth."""

import json
from collections.abc import Callable

from django.utils import timezone

from accounts.models import User
from audit import row_digests
from measures.judges import RULE, judge_figures
from projects.jobs import batches, jobs
from projects.models import Job, Round

from ..models import JudgeFigures, JudgeRun, JudgeRunState, RatingDesign, Unblinding
from ..results.actions import KIND
from .queries import basis_of, finished_runs
from .reading import JudgedRatings

Step = Callable[[str], object]
Group = JudgeFigures.Group


def default_group(round: Round) -> str:
    """Return the group of raters that sets epsilon unless a lead chooses another."""
    return round.rater_group if round.rater_group in Group.values else Group.SKILLED


def ask(*, design: RatingDesign, group: str, by: User) -> Job:
    """Request a job that computes the round's results again, with epsilon for this group of raters."""
    params = {"round": design.round_id, "group": group}
    return jobs.request_job(project=design.round.project, kind=KIND, params=params, by=by)[0]


def compute_judges(*, design: RatingDesign, group: str = "", step: Step = lambda name: None) -> int:
    """Compute and store the figures of each finished judge run of an unblinded round. Return their number.

    ``group``: group of raters, by default the one used before.
    """
    runs = list(finished_runs(design))
    for run in runs:
        step(f"judge {run.judge}")
        _compute(run, group)
    return len(runs)


def _compute(run: JudgeRun, group: str) -> None:
    known = JudgeFigures.objects.filter(run=run).first()
    chosen = group or (known.group if known else default_group(run.design.round))
    basis, made_at = basis_of(run), timezone.now()
    ratings = JudgedRatings(run)
    names = {each.key: each.name or each.key for each in ratings.people.content.criteria}
    figures = judge_figures(ratings.data(), group=chosen, judge=str(run.judge), names=names, facts=ratings.facts()) | {
        "names": names
    }
    with batches.batch():
        stored, _ = JudgeFigures.objects.update_or_create(
            run=run,
            defaults={
                "group": chosen,
                "rule": RULE,
                "basis": basis,
                "figures": json.dumps(figures),
                "made_at": made_at,
            },
        )
        row_digests.record_completed(JudgeFigures, [stored.pk], by=None, project=run.judge.project_id)


def after_run(*, run: JudgeRun, by: User | None) -> None:
    """Enqueue the computation of what a judge is worth if its run is finished and the round is unblinded."""
    if run.state == JudgeRunState.DONE and Unblinding.objects.filter(design=run.design_id).exists():
        round = run.design.round
        with batches.batch():
            jobs.enqueue(project=round.project, kind=KIND, params={"round": round.pk}, by=by)
