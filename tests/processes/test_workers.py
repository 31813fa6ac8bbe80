"""Dying workers and a forgetful broker: jobs are still done, once (reliability rows 3 to 7)."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Client
from tests.processes.apps import LEASE
from tests.processes.site import LEAD, Redis, Site, until
from tests.processes.test_kills import corpus

pytestmark = pytest.mark.processes


class Slow:
    """A job of a few steps that logs its progress, observed through the API as in the page."""

    def __init__(self, site: Site, lead: Client, name: str, *, steps: int = 4, seconds: float = 0.3) -> None:
        self.lead = lead
        self._diary = site.folder / f"{name}.diary"
        params = {"diary": str(self._diary), "steps": steps, "seconds": seconds}
        self.pk = site.call("enqueue", kind="slow", params=params, by=LEAD)

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.lead.get(f"jobs/{self.pk}/")
        return found

    def diary(self, what: str) -> list[str]:
        """Return the processes that began or ended the job."""
        lines = self._diary.read_text().splitlines() if self._diary.exists() else []
        return [line.split()[1] for line in lines if line.split()[0] == what]

    def has_begun(self) -> bool:
        return bool(self.diary("begin"))

    def is_done(self) -> bool:
        return bool(self.now()["status"] == "done")

    def ended_once(self) -> bool:
        return len(self.diary("end")) == 1


@pytest.mark.row(3, 4)
def test_another_worker_takes_over_within_the_lease_and_the_job_is_done_once(site: Site) -> None:
    job = Slow(site, site.lead(), "takeover", steps=6)
    first = site.start_worker()
    until(job.has_begun, "the first worker begins")
    second = site.start_worker()
    time.sleep(0.3)
    first.kill()
    killed = time.monotonic()
    until(lambda: len(job.diary("begin")) == 2, "the second worker begins", LEASE + 10)
    assert time.monotonic() - killed < LEASE + 5
    until(job.is_done, "the job is done")
    known = {str(pid) for pid in second.pids}
    assert job.diary("begin")[0] not in known
    assert job.diary("begin")[1:] == job.diary("end")
    assert set(job.diary("end")) <= known
    found = site.call("job", pk=job.pk)
    assert (found["attempts"], found["fence"]) == (2, 2)


def test_a_live_worker_keeps_a_job_that_takes_longer_than_the_lease(site: Site) -> None:
    """The handler is busy in one long step: another thread renews the lease."""
    job = Slow(site, site.lead(), "long", steps=1, seconds=2 * LEASE)
    workers = [site.start_worker(), site.start_worker()]
    until(job.has_begun, "a worker begins")
    until(job.is_done, "the job is done", 4 * LEASE)
    assert len(workers) == 2
    assert job.diary("begin") == job.diary("end")
    assert job.ended_once()
    assert job.now()["attempts"] == 1


@pytest.mark.row(4)
def test_a_worker_that_is_dead_for_good_is_shown_as_stalled(site: Site) -> None:
    job = Slow(site, site.lead(), "dead", steps=100)
    worker = site.start_worker()
    until(lambda: job.now()["done"] > 0, "the job makes progress")
    assert (job.now()["status"], job.now()["stalled"]) == ("running", False)
    worker.kill()
    until(lambda: job.now()["stalled"], "the job is shown as stalled", LEASE + 5)
    done = job.now()["done"]
    time.sleep(0.5)
    assert job.now()["done"] == done, "progress is what it was when the worker died"
    site.start_worker()
    until(lambda: not job.now()["stalled"], "another worker takes over", LEASE + 10)
    until(lambda: job.now()["done"] > 0 and job.now()["attempts"] == 2, "the job goes on")


@pytest.mark.row(4)
def test_a_job_whose_workers_all_die_is_given_up_and_says_why(site: Site) -> None:
    job = Slow(site, site.lead(), "cursed", steps=100)
    for death in range(1, 4):
        worker = site.start_worker()
        until(lambda death=death: len(job.diary("begin")) == death, f"attempt {death} begins", LEASE + 30)  # type: ignore[misc]
        worker.kill()
    site.start_worker()
    until(lambda: job.now()["status"] == "failed", "the job is given up", LEASE + 30)
    assert job.now()["error"] == "The worker died 3 times while running this job."
    assert len(job.diary("begin")) == 3


@pytest.mark.row(3)
def test_a_round_closed_while_the_worker_dies_is_finished_by_the_next(site: Site) -> None:
    """A real job: gold forms once, in checkpoints, whoever does it."""
    worker = site.start_worker()
    study = site.study()
    study.import_file("level3.jsonl", corpus(4))
    joined = study.join(site.client(), "robot@example.org", "Robot")
    round = study.open_round("gold", [joined.member])
    Annotator(joined.client, round).work()
    worker.kill()
    waiting = study.lead.post(f"rounds/{round}/close/")
    assert waiting["status"] == "queued"
    for _ in range(2):
        site.start_worker()
    assert sum(study.wait(waiting)["result"]["decisions"].values()) == 12 * 4
    site.manage("verify_audit")


@pytest.fixture
def production(make_site: Callable[..., Site], redis: Redis) -> Site:
    """A site with Redis configured, running or not."""
    made = make_site(redis.url)
    made.start_web()
    return made


@pytest.mark.row(5)
def test_without_a_broker_people_keep_working_and_jobs_wait(production: Site, redis: Redis) -> None:
    redis.start()
    worker = production.start_celery()
    study = production.study()
    study.import_file("level3.jsonl", corpus(2))
    joined = study.join(production.client(), "robot@example.org", "Robot", token=False)
    round = study.open_round("work", [joined.member])
    worker.kill()
    redis.stop()

    began = time.monotonic()
    assert Annotator(joined.client, round).work() == 6, "a signed-in person works without the broker"
    waiting = study.lead.post(f"rounds/{round}/close/")
    assert time.monotonic() - began < 20, "nobody waits for a broker that is away"
    time.sleep(1)
    assert study.lead.get(f"jobs/{waiting['id']}/")["status"] == "queued"
    assert not production.call("job", pk=waiting["id"])["sent"]

    redis.start()
    production.start_celery()
    assert study.wait(waiting)["attempts"] == 1


@pytest.mark.long
@pytest.mark.row(7)
def test_jobs_are_sent_again_when_the_broker_has_forgotten_them(production: Site, redis: Redis) -> None:
    redis.start()
    lead = production.lead()
    job = Slow(production, lead, "forgotten")
    until(lambda: redis.waiting() == 1, "the wake-up lies in the queue")
    redis.wipe()
    assert redis.waiting() == 0
    assert job.now()["status"] == "queued"
    production.start_celery()
    until(job.is_done, "the job is done all the same")
    assert job.ended_once()
    assert job.now()["attempts"] == 1


@pytest.mark.long
@pytest.mark.row(6)
def test_a_worker_consumes_again_after_its_broker_was_restarted(production: Site, redis: Redis) -> None:
    redis.start()
    lead = production.lead()
    production.start_celery()
    first = Slow(production, lead, "before", steps=20, seconds=0.2)
    until(first.has_begun, "the worker is busy")
    redis.stop()
    time.sleep(1)
    redis.start()
    second = Slow(production, lead, "after")
    until(first.is_done, "the job that was under way ends")
    until(second.is_done, "the next job is done")
    assert first.ended_once()
    assert second.ended_once()


MALFORMED = [
    b"",
    b"no JSON",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"{}",
    b'"text"',
    b"[" * 5000,
    b'{"body": "x", "properties": {}}',
    b'{"body": "e30=", "content-type": "application/json", "properties": {"delivery_tag": 1}, "headers": 3}',
]


@pytest.mark.long
def test_malformed_messages_do_not_end_a_worker(production: Site, redis: Redis) -> None:
    redis.start()
    lead = production.lead()
    worker = production.start_celery()
    before = Slow(production, lead, "before")
    until(before.is_done, "the worker works")
    processes = worker.pids
    for message in MALFORMED:
        redis.push(message)
    until(lambda: redis.waiting() == 0, "the messages are taken")
    after = Slow(production, lead, "after")
    until(after.is_done, "the worker goes on")
    assert worker.pids == processes


@pytest.mark.row(3)
def test_another_celery_worker_continues_the_job_of_a_killed_one(production: Site, redis: Redis) -> None:
    redis.start()
    lead = production.lead()
    job = Slow(production, lead, "killed", steps=6)
    first = production.start_celery()
    until(job.has_begun, "the first worker begins")
    time.sleep(0.3)
    first.kill()
    production.start_celery()
    until(job.is_done, "the job is done", LEASE + 40)
    assert len(job.diary("begin")) == 2
    assert job.ended_once()


def test_logs_of_workers_show_no_failure_of_their_own(site: Site) -> None:
    job = Slow(site, site.lead(), "clean")
    worker = site.start_worker()
    until(job.is_done, "the job is done")
    assert "Traceback" not in Path(worker.log).read_text()
