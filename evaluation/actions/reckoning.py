"""What the ratings of a round come to: asked for, reckoned by a worker, and stored for pages and tables."""

import json
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from accounts.models import User
from api.problems import Conflict
from measures.ratings import RULE
from projects.background import batches, jobs
from projects.models import Job, JobStatus

from ..models import RatingDesign, RatingFigures, Unblinding
from ..results.reckoned import basis_of, reckon

KIND = "rating_figures"
Progress = Callable[[int, int | None, str], None]


def ask(*, design: RatingDesign, by: User) -> Job:
    """Have a worker reckon the figures of an unblinded round anew."""
    _permitted(design)
    return jobs.ask(project=design.round.project, kind=KIND, params={"round": design.round_id}, by=by)[0]


def after_unblinding(*, design: RatingDesign, by: User | None) -> None:
    """Figures are there soon after a round is unblinded, without being asked for."""
    jobs.enqueue(project=design.round.project, kind=KIND, params={"round": design.round_id}, by=by)


def unfinished(design: RatingDesign) -> Job | None:
    """The newest job that reckons a round's figures, where that has not ended well."""
    job = Job.objects.filter(
        project=design.round.project_id, kind=KIND, params__round=design.round_id
    ).order_by("-pk").first()  # fmt: skip
    return None if job and job.status in (JobStatus.DONE, JobStatus.CANCELLED) else job


def reckon_ratings(
    *, design: RatingDesign, progress: Progress = lambda done, total, note: None, **others: Any
) -> dict[str, Any]:
    """Reckon the figures of an unblinded round and store them, in the place of those that were there.

    `Conflict` where its design is not what it was when it was frozen.
    """
    _permitted(design)
    # Before anything is read: of what comes meanwhile the figures may have some, and do not count as current.
    basis, made_at, steps = basis_of(design), timezone.now(), iter(range(1_000_000))
    made = reckon(design, lambda step: progress(next(steps), None, step), **others)
    with batches.batch():
        RatingFigures.objects.update_or_create(
            design=design,
            defaults={"rule": RULE, "basis": basis, "figures": json.dumps(made), "made_at": made_at},
        )
    return {"judgements": made["all"]["judgements"]}


def _permitted(design: RatingDesign) -> None:
    if not Unblinding.objects.filter(design=design).exists():
        raise Conflict("Unblind the round first: until then nobody learns which system wrote what.")
