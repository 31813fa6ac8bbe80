"""Hanging jobs are ended from outside: a cancelled job stops, and other jobs continue."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operations.simulation.client import Client
from tests.processes.apps import SILENCE
from tests.processes.site import LEAD, Redis, Site, until

pytestmark = pytest.mark.processes
STARTS: dict[str, Callable[[Site], object]] = {
    "embedded": Site.start_worker,
    "celery": Site.start_celery,
    "celery solo": Site.start_gpu_celery,
}


class Hanging:
    """A job that never ends, and another one after it."""

    def __init__(self, site: Site, where: str, queue: str) -> None:
        self.lead: Client = site.lead()
        self._diary = Path(site.folder / f"{where}.diary")
        params = {"diary": str(self._diary), "where": where}
        self.pk = site.call("enqueue", kind="hang", params=params, by=LEAD, queue=queue)
        quick = {"diary": str(site.folder / "next.diary"), "steps": 1, "seconds": 0}
        self.next = site.call("enqueue", kind="slow", params=quick, by=LEAD, queue=queue)

    def now(self, pk: int | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self.lead.get(f"jobs/{pk or self.pk}/")
        return found

    def begun(self) -> int:
        """How often it has started."""
        return len(self._diary.read_text().splitlines()) if self._diary.exists() else 0


@pytest.fixture
def hanging(make_site: Callable[..., Site], request: pytest.FixtureRequest) -> Callable[[str, str], Hanging]:
    def start(worker: str, where: str) -> Hanging:
        url = ""
        if worker != "embedded":
            redis: Redis = request.getfixturevalue("redis")
            redis.start()
            url = redis.url
        site = make_site(url)
        site.start_web()
        job = Hanging(site, where, "gpu" if worker == "celery solo" else "default")
        STARTS[worker](site)
        until(job.begun, "the job begins")
        return job

    return start


@pytest.mark.parametrize(
    ("worker", "where"),
    [
        ("embedded", "loop"),
        ("celery", "regex"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in (("embedded", "regex"), ("celery", "loop"), ("celery solo", "loop"), ("celery solo", "regex"))
        ),
    ],
)
def test_a_hanging_cancelled_job_is_stopped_with_a_message(
    hanging: Callable[[str, str], Hanging], worker: str, where: str
) -> None:
    job = hanging(worker, where)
    job.lead.post(f"jobs/{job.pk}/cancel/")
    until(lambda: job.now()["status"] == "cancelled", "the job is stopped", SILENCE + 30)
    assert job.now()["error"] == "The job did not stop after it was cancelled, so its worker process was killed."
    until(lambda: job.now(job.next)["status"] == "done", "the next job is done")
    assert job.begun() == 1


@pytest.mark.parametrize("worker", ["celery", pytest.param("embedded", marks=pytest.mark.long)])
def test_a_job_that_always_hangs_is_given_up_and_others_go_on(
    hanging: Callable[[str, str], Hanging], worker: str
) -> None:
    job = hanging(worker, "regex")
    until(lambda: job.now(job.next)["status"] == "done", "the next job is done", SILENCE + 30)
    until(lambda: job.now()["status"] == "failed", "the job is given up", 3 * SILENCE + 60)
    assert job.begun() == 3
    assert job.now()["error"] == (
        "The worker process stopped responding and was killed. This happened in all 3 attempts."
    )
