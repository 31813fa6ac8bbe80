"""Systems with runs in every state, and three rounds of ratings: unblinded, contested and open."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.utils import timezone

from accounts.models import User
from evaluation.models import RatingDesign
from evaluation.protocols.parts import Criterion
from evaluation.unblinding.actions import unblind
from generation.models import Run, RunStatus
from generation.runs.actions import start_run
from generation.scoring.actions import request_scores
from generation.systems.actions import create_system, make_version
from operations.simulation.history import do_waiting_jobs
from projects.models import Job, JobStatus, Member, Project, Purpose, Round
from projects.rounds.actions import close_round, open_round
from projects.rounds.planning import RoundPlan
from tests.evaluation.rating_rounds import rate_all

SYSTEMS = {"TextRank": "TextRank", "Lead-3": "lead", "MMR with a long name, tuned on the development part": "MMR"}
SOURCES = 12
LOST = timedelta(minutes=10)


def _start(project: Project, name: str, method: str, by: User) -> Run:
    system = create_system(project=project, name=name, description="An extractive baseline.", by=by)
    config = {"backend": "extractive", "decoding": {"method": method, "sentences": 2}, "seed": 1}
    return start_run(version=make_version(system=system, config=config, by=by), by=by)


def make(project: Project, people: list[Member], by: User) -> None:
    """Run three systems, score them, and rate their summaries in three rounds."""
    runs = [_start(project, name, method, by) for name, method in SYSTEMS.items()]
    do_waiting_jobs()
    for run in runs:
        request_scores(run=run, metric="rouge", params={}, by=by)
    do_waiting_jobs()
    rated = _open(project, "Ratings, pilot", "rate", Purpose.RELIABILITY_STUDY, runs, people, by)
    contested = _open(project, "Ratings, contested", "rate", Purpose.GOLD, runs, people[:2], by)
    compared = _open(project, "Preferences", "compare", Purpose.RELIABILITY_STUDY, runs, people, by)
    for round, share in ((rated, 1.0), (contested, 1.0), (compared, 0.3)):
        for member in people:
            if round.participants.filter(member=member).exists():
                rate_all(member.user, round, _rater(member), None if share == 1 else int(SOURCES * share))
    for round in (rated, contested):
        close_round(round=round, by=by)
    do_waiting_jobs()
    unblind(design=RatingDesign.objects.get(round=rated), by=by)
    do_waiting_jobs()


def _rater(member: Member) -> Callable[[Criterion, str], str]:
    def choose(criterion: Criterion, key: str) -> str:
        """Return a value by the text, which one in four raters changes by a point."""
        values = [option.value for option in criterion.scale.options]
        drawn = sha256(f"{member.pk} {criterion.key} {key}".encode()).digest()
        return values[(int(key, 16) + (drawn[0] < 64)) % len(values)]

    return choose


def _open(
    project: Project, name: str, kind: str, purpose: str, runs: list[Run], people: list[Member], by: User
) -> Round:
    protocol = "shipped:guideline" if kind == "rate" else "shipped:preference"
    plan = RoundPlan(
        name=name,
        kind=kind,
        purpose=purpose,
        overlap=len(people),
        people=[member.pk for member in people],
        allocation=Round.Allocation.FIXED,
        options={"protocol": protocol, "systems": [str(run.pk) for run in runs]},
        sample=SOURCES,
        seed=2,
    )
    return open_round(project=project, plan=plan, by=by)


def leave_runs(project: Project, by: User) -> None:
    """Start runs that no worker finishes: one waits, one lost its worker, one failed."""
    _start(project, "Waiting", "lead", by)
    ago = timezone.now() - LOST
    left: Mapping[str, Mapping[str, Any]] = {
        "Stalled": {"status": JobStatus.RUNNING, "heartbeat_at": ago, "leased_until": ago},
        "Failed": {"status": JobStatus.FAILED, "error": "CUDA out of memory: 24 GiB needed, 16 GiB free."},
    }
    for name, fields in left.items():
        run = _start(project, name, "lead", by)
        Job.objects.filter(params__run=run.pk).update(started_at=ago, worker="gpu-1", **fields)
        if error := fields.get("error"):
            Run.objects.filter(pk=run.pk).update(status=RunStatus.STOPPED, error=error, finished_at=ago)
