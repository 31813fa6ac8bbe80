"""Run jobs in the process of the test."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from generation.backends.protocol import Source
from generation.models import Version
from generation.systems.actions import create_system, make_version
from projects.jobs.queries import claim_next
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Project
from tests.generation.staged import StagedBackend


class Killed(BaseException):
    """The worker dies: nothing of it runs any more."""


def work(most: int = 1000, queues: list[str] | None = None) -> None:
    """Run up to ``most`` due jobs as a worker does."""
    while most and (pk := claim_next(queues)) is not None:
        run_job(pk)
        most -= 1


def kill_after(staged: StagedBackend, batches: int) -> Callable[[Sequence[Source]], None]:
    def die(batch: Sequence[Source]) -> None:
        if len(staged.batches) > batches:
            raise Killed

    return die


def lapse() -> None:
    """Let the leases of running jobs expire."""
    Job.objects.filter(status=JobStatus.RUNNING).update(leased_until=timezone.now() - timedelta(seconds=1))


def come_due() -> int:
    """Make postponed jobs due and return their number."""
    waiting = Job.objects.filter(status=JobStatus.QUEUED, not_before__gt=timezone.now())
    return waiting.update(not_before=timezone.now())


def staged_version(project: Project, name: str = "Staged", *, level: str = "proposition", **given: Any) -> Version:
    """Create a version of the staged backend; options as keywords."""
    model = {"weights": given.pop("weights", "w"), "torch": given.pop("torch", False)}
    config = {"backend": "staged", "level": level, "model": model, "decoding": given}
    return make_version(system=create_system(project=project, name=name, by=None), config=config, by=None)
