"""Of which state of a project's data a release is: when it last changed, and the seal that covers it."""

from datetime import UTC, datetime
from typing import Any

from django.db.models import Max, Q, QuerySet

from audit.models import Entry, Seal
from evaluation.models import Unblinding
from generation.models import ItemStatus, ProbeFigures, RunItem, Scoring
from generation.runs.at_hand import published_runs
from projects.models import Answer, Decision, Guideline, Import, Project, Round

#: Acts that change what a release holds. A release's own entry is none of them, or two of one state would differ.
DATA_VERBS = ("create project", "change project", "write guideline", "import", "correct")


def _leaves(project: Project) -> list[QuerySet[Any]]:
    """The sealed rows that are, or change, what a release holds."""
    return [
        Answer.objects.filter(assignment__round__in=Round.objects.filter(project=project).counting().values("pk")),
        Decision.objects.filter(unit__project=project),
        Entry.objects.filter(project=project.pk, verb__in=DATA_VERBS),
    ]


def newest_change(project: Project) -> str:
    """When the newest answer, decision, import, guideline, setting, closing or unblinding of a round, summary or score
    came, in UTC: not the clock: bytes repeat. Of runs that are sealed from somebody nothing, not even a time."""
    answers, decisions, entries = _leaves(project)
    runs = [run.pk for run in published_runs(project)]
    times: list[datetime | None] = [
        project.created_at,
        answers.aggregate(t=Max("received_at"))["t"],
        decisions.aggregate(t=Max("decided_at"))["t"],
        entries.aggregate(t=Max("at"))["t"],
        Import.objects.filter(project=project).aggregate(t=Max("created_at"))["t"],
        Guideline.objects.filter(project=project).aggregate(t=Max("created_at"))["t"],
        Round.objects.filter(project=project).counting().aggregate(t=Max("closed_at"))["t"],
        Unblinding.objects.filter(design__round__project=project).aggregate(t=Max("at"))["t"],
        RunItem.objects.filter(run__in=runs, status=ItemStatus.DONE).aggregate(t=Max("finished_at"))["t"],
        Scoring.objects.shown().filter(run__in=runs).aggregate(t=Max("finished_at"))["t"],
        ProbeFigures.objects.filter(run__in=runs).aggregate(t=Max("created_at"))["t"],
    ]
    return max(t for t in times if t).astimezone(UTC).isoformat(timespec="microseconds")


def audit_head(project: Project) -> dict[str, Any] | None:
    """Number and digest of the newest seal that covers this project's data; None where nothing is sealed.

    Later seals, of the release itself for one, continue it. The end of the chain would differ from one release of a
    state to the next.
    """
    numbers = [rows.aggregate(n=Max("seal__number"))["n"] for rows in _leaves(project)]
    known = [number for number in numbers if number is not None]
    if not known:
        return None
    seal = Seal.objects.get(number=max(known))
    return {"number": seal.number, "digest": seal.digest}


def unsealed(project: Project) -> int:
    """How many rows of the project's data no seal covers yet."""
    return sum(rows.filter(Q(seal__isnull=True)).count() for rows in _leaves(project))
