"""Request, compute and store the results of a rating round."""

import json
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from audit import row_digests
from measures.ratings import RULE
from projects.jobs import batches, jobs
from projects.models import Job, JobStatus

from ..models import RatingDesign, RatingFigures, Unblinding
from .computed import basis_of, compute_figures
from .seen import seen_by_any

KIND = RatingFigures.JOB
Progress = Callable[[int, int | None, str], None]


def ask(*, design: RatingDesign, by: User) -> Job:
    """Request a job that computes the results of an unblinded round again."""
    _permitted(design)
    return jobs.request_job(project=design.round.project, kind=KIND, params={"round": design.round_id}, by=by)[0]


def after_unblinding(*, design: RatingDesign, by: User | None) -> None:
    """Enqueue the computation of the results after a round is unblinded."""
    jobs.enqueue(project=design.round.project, kind=KIND, params={"round": design.round_id}, by=by)


def unfinished(design: RatingDesign) -> Job | None:
    """Return the newest job that computes a round's results, unless it is done or cancelled."""
    job = (
        Job.objects.filter(project=design.round.project_id, kind=KIND, params__round=design.round_id)
        .order_by("-pk")
        .first()
    )
    return None if job and job.status in (JobStatus.DONE, JobStatus.CANCELLED) else job


def compute_ratings(
    *, design: RatingDesign, progress: Progress = lambda done, total, note: None, **others: Any
) -> dict[str, Any]:
    """Compute the results of an unblinded round, and replace the stored ones.

    Raise `Conflict` if the round is not unblinded, or if its design was changed after it was frozen.
    """
    _permitted(design)
    # Take the basis before reading any rows. If an answer arrives meanwhile, the results then count as outdated.
    basis, made_at, steps = basis_of(design, seen_by_any(design)), timezone.now(), iter(range(1_000_000))
    made = compute_figures(design, lambda step: progress(next(steps), None, step), **others)
    with batches.batch():
        stored, _ = RatingFigures.objects.update_or_create(
            design=design, defaults={"rule": RULE, "basis": basis, "figures": json.dumps(made), "made_at": made_at}
        )
        row_digests.record_completed(RatingFigures, [stored.pk], by=None, project=design.round.project_id)
    return {"judgements": made["all"]["judgements"]}


def _permitted(design: RatingDesign) -> None:
    if not Unblinding.objects.filter(design=design).exists():
        raise Conflict("Unblind the round first; until then the systems are hidden.")
