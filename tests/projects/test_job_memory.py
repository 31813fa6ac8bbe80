"""A job that needs too much memory fails without affecting others (reliability row 54)."""

import sys
from typing import Any

import pytest

from accounts.models import User
from projects.jobs import jobs, supervision
from projects.jobs.running import run_job
from projects.models import Job, Project

pytestmark = [pytest.mark.django_db, pytest.mark.row(54)]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts what a process allocates")


def take(mebibytes: int) -> int:
    """Allocate memory for a moment."""
    return len(bytearray(mebibytes * 2**20))


@pytest.fixture
def asked(project: Project, lead: User, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    """``asked(300)`` queues a job that needs 300 MiB where 100 are allowed."""
    settings.JOB_MEMORY_MB = 100
    monkeypatch.setitem(jobs.handlers, "test", lambda job: {"took": take(job.params["take"])})

    def ask(mebibytes: int, queue: str = "default") -> Job:
        job = jobs.enqueue(project=project, kind="test", params={"take": mebibytes}, by=lead, queue=queue)
        assert run_job(job.pk)
        job.refresh_from_db()
        return job

    return ask


@on_linux
def test_a_job_above_its_memory_limit_fails_alone_with_a_message(asked: Any) -> None:
    large, small = asked(300), asked(30)
    assert (large.status, large.attempts) == ("failed", 1)
    assert large.error == "The job needed more than its memory limit of 100 MiB (JOB_MEMORY_MB)."
    assert (small.status, small.result) == ("done", {"took": 30 * 2**20})


def test_a_job_with_a_model_takes_what_it_needs(asked: Any) -> None:
    assert asked(300, "gpu").status == "done"


@on_linux
def test_the_limit_ends_with_the_job() -> None:
    with pytest.raises(MemoryError), supervision.limit_memory(50):
        take(200)
    assert take(200)
    with supervision.limit_memory(0):
        assert take(200)
