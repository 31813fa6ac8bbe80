"""What a plan for a round comes to before it is opened, and other reckonings that change nothing."""

from statistics import median
from typing import Any

from django.db.models import BooleanField, Case, When
from django.utils import timezone

from . import jobs, kinds
from .actions.rounds import RoundPlan, chosen_units
from .models import Answer, Job, Outcome, Project

#: How many of the newest answers the estimate of time looks at.
RECENT = 500


def totals(project: Project, plan: RoundPlan) -> dict[str, Any]:
    """Units, answers, each person's share, and minutes by the median pace of this project's earlier answers."""
    available = kinds.get(plan.kind).units(project, plan.filters).count()
    units = len(chosen_units(project, plan)) if plan.sample is None or plan.sample <= available else available
    answers = units * plan.overlap
    each = answers / len(plan.people) if plan.people else 0.0
    pace = seconds_an_answer(project, plan.kind)
    return {
        "units": units,
        "available": available,
        "answers": answers,
        "each": each,
        "seconds_an_answer": pace,
        "minutes_each": pace * each / 60 if pace else None,
    }


def seconds_an_answer(project: Project, kind: str) -> float | None:
    """Median active seconds of the newest answers of a kind; None before there are any."""
    times = (
        Answer.objects.filter(
            assignment__round__project=project, assignment__round__kind=kind, outcome=Outcome.ANSWERED, active_ms__gt=0
        )
        .order_by("-received_at")
        .values_list("active_ms", flat=True)[:RECENT]
    )
    found = list(times)
    return median(found) / 1000 if found else None


def fresh_job(job: Job) -> Job:
    """The job as it is now, with its problems and whether it has stalled."""
    stalled = Case(When(jobs.stalled(timezone.now()), then=True), default=False, output_field=BooleanField())
    return Job.objects.annotate(stalled=stalled).prefetch_related("problems").get(pk=job.pk)
