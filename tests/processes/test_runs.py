"""Runs of summarisers under faults: no finished item is lost or repeated (reliability rows 3 to 8)."""

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from generation.runs.concurrency import FIRST_ITEMS
from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger
from tests.processes.apps import LEASE
from tests.processes.conftest import ON_POSTGRES
from tests.processes.postgres import Postgres
from tests.processes.site import Redis, Site, until
from tests.processes.test_kills import check_against, staffed
from tests.processes.test_outages import Watched, make_site_on, own_postgres

__all__ = ["make_site_on", "own_postgres"]
pytestmark = pytest.mark.processes
BATCH = 2


class Staged:
    """A run of the staged backend with a log of its items."""

    def __init__(
        self, site: Site, clusters: int, seconds: float, *, concurrency: int = 2, run: bool = True, name: str = "Staged"
    ) -> None:
        self.site, self.clusters = site, clusters
        self._diary = site.folder / f"{name}.diary"
        config = {"name": name, "seconds": seconds, "batch": BATCH, "diary": str(self._diary)}
        self.pk = site.call(
            "begin", module="summary_runs", clusters=clusters, concurrency=concurrency, run=run, **config
        )

    def lines(self) -> list[tuple[int, str, float]]:
        """Return process, key and time of each processed item, stored or not."""
        found = self._diary.read_text().splitlines() if self._diary.exists() else []
        return [(int(pid), key, float(at)) for pid, key, at in (line.split() for line in found)]

    def now(self, patience: float = 0) -> dict[str, Any]:
        """Return the state of the run at its end, or after some seconds."""
        found: dict[str, Any] = self.site.call("end", module="summary_runs", run=self.pk, patience=patience)
        return found

    def until_lines(self, count: int) -> None:
        until(lambda: len(self.lines()) >= count, f"{count} items are done")

    def until_done(self) -> None:
        """Wait for the end; the run is complete and every item has one summary."""
        until(lambda: len({key for _, key, _ in self.lines()}) == self.clusters, "every item was begun", LEASE + 60)
        now = self.now(LEASE + 60)
        assert (now["state"], now["error"]) == ("done", "")
        assert (now["done"], now["failed"], now["waiting"]) == (self.clusters, 0, 0)
        assert len(now["stored"]) == len(set(now["stored"])) == self.clusters

    def twice(self) -> set[str]:
        """Return items that were processed more than once."""
        return {key for key, n in Counter(key for _, key, _ in self.lines()).items() if n > 1}


@pytest.mark.row(3, 4)
def test_the_next_worker_continues_after_a_killed_one(make_site: Callable[..., Site]) -> None:
    site = make_site()
    run = Staged(site, clusters=24, seconds=0.05, concurrency=1)
    first = site.start_worker()
    run.until_lines(7)
    first.kill()
    stored = set(run.now()["stored"])
    assert 4 <= len(stored) <= len(run.lines())
    site.start_worker()
    run.until_done()
    pids = {pid for pid, _, _ in run.lines()}
    assert len(pids) == 2
    assert not run.twice() & stored, "what was stored is not done again"
    assert len(run.twice()) <= BATCH, "the batch that was under way is"


def test_a_worker_asked_to_end_finishes_its_batch_and_another_continues(
    make_site: Callable[..., Site], request: pytest.FixtureRequest
) -> None:
    """With SIGTERM, as from systemd and containers: only to Celery's parent if there is Redis."""
    redis: Redis | None = request.getfixturevalue("redis") if ON_POSTGRES else None
    if redis:
        redis.start()
    site = make_site(redis.url if redis else "")
    run = Staged(site, clusters=16, seconds=0.5, concurrency=1)
    start = site.start_celery if redis else site.start_worker
    first = start()
    run.until_lines(1)
    first.terminate()
    assert first.ended() == 0
    done = run.lines()
    assert {key for _, key, _ in done} == set(run.now()["stored"]), "the batch under way was stored"
    assert len(done) < FIRST_ITEMS, "and the rest of the chunk was left to others"
    start()
    run.until_done()
    assert not run.twice()


@pytest.mark.long
@pytest.mark.row(6, 7)
def test_a_run_outlives_a_broker_that_is_stopped_and_forgets(make_site: Callable[..., Site], redis: Redis) -> None:
    redis.start()
    site = make_site(redis.url)
    run = Staged(site, clusters=24, seconds=0.1)
    site.start_celery()
    run.until_lines(3)
    redis.stop()
    run.until_lines(len(run.lines()) + 2)
    redis.start()
    run.until_done()
    assert not run.twice()


@pytest.mark.long
@pytest.mark.row(8)
@pytest.mark.skipif(not ON_POSTGRES, reason="this is a fault of PostgreSQL: see the run on it")
def test_a_run_outlives_restarts_of_postgresql(
    own_postgres: Callable[..., Postgres], make_site_on: Callable[[Postgres], Site]
) -> None:
    server = own_postgres()
    site = make_site_on(server)
    run = Staged(site, clusters=24, seconds=0.1)
    worker = site.start_worker()
    for mode in ("fast", "immediate"):
        run.until_lines(len(run.lines()) + 5)
        server.restart(mode)
    run.until_done()
    assert worker.is_running, worker.log.read_text()[-2000:]
    assert len(run.twice()) <= 2 * BATCH, "a batch a restart"


@pytest.mark.long
@pytest.mark.skipif(not ON_POSTGRES, reason="several workers are for PostgreSQL: see the run on it")
def test_two_workers_share_a_run_and_are_quicker_than_one(make_site: Callable[..., Site], redis: Redis) -> None:
    redis.start()
    site = make_site(redis.url)
    for _ in range(2):
        site.start_celery()
    until(lambda: redis.listening() == 2, "two workers listen")
    alone = Staged(site, clusters=40, seconds=0.2, concurrency=1, name="Alone")
    alone.until_done()
    together = Staged(site, clusters=40, seconds=0.2, concurrency=2, name="Together")
    together.until_done()
    assert not together.twice()
    shares = Counter(pid for pid, _, _ in together.lines())
    assert len(shares) == 2
    assert min(shares.values()) >= 8, shares
    assert rate(together) > 1.3 * rate(alone)


def rate(run: Staged) -> float:
    """Return items per second from the median time of four, so that pauses of a busy machine do not count."""
    times = sorted(at for _, _, at in run.lines())
    return 4 / median(after - before for before, after in zip(times, times[4:], strict=False))


@pytest.mark.long
def test_a_run_does_not_affect_annotators(site: Site) -> None:
    ledger, seen = Ledger(), Counter[tuple[int, bool]]()
    study, clients, people = staffed(site, clusters=50, robots=2, ledger=ledger)
    round = study.open_round("work", people, overlap=2)
    for client in clients:
        client.transport = Watched(site.address, seen)
    run = Staged(site, clusters=40, seconds=0.05)
    workers = [site.start_worker(), site.start_worker()]
    run.until_lines(1)
    robots = [Annotator(client, round, seed=n) for n, client in enumerate(clients)]
    at_work = [threading.Thread(target=robot.work, kwargs={"limit": 25}) for robot in robots]
    for robot in at_work:
        robot.start()
    run.until_done()
    for robot in at_work:
        robot.join(60)
    assert all(worker.is_running for worker in workers)
    assert not run.twice()
    assert len(check_against(site, ledger)) == len(ledger.acknowledged) == 50
    assert {status for status, _ in seen} <= {200, 201}, seen


def test_ctrl_c_stops_between_batches_and_the_same_command_continues(make_site: Callable[..., Site]) -> None:
    site = make_site()
    run = Staged(site, clusters=16, seconds=0.1, run=False)
    arguments = ("generate", "--project", "summaries", "--system", "Staged")
    command = site.start_manage(*arguments)
    run.until_lines(3)
    command.interrupt()
    assert command.ended() == 130
    now = run.now()
    assert now["state"] == "stopped"
    assert {key for _, key, _ in run.lines()} == set(now["stored"]), "what was under way was stored"
    assert "Stopped. Staged v1" in Path(command.log).read_text()
    assert "16 of 16 done" in site.manage(*arguments)
    assert set(run.now()["stored"]) == {key for _, key, _ in run.lines()}
    assert not run.twice()


@pytest.mark.row(3, 4)
@pytest.mark.sqlite
@pytest.mark.skipif(ON_POSTGRES, reason="the model is the same on both: see the run on SQLite")
def test_a_killed_worker_does_not_change_the_output_of_a_model(make_site: Callable[..., Site]) -> None:
    """A real encoder-decoder with random weights, loaded by workers of its queue only."""
    site = make_site()
    site.environment["OMP_NUM_THREADS"] = "1"
    clusters = 16
    run = site.call("begin_tiny", module="summary_runs", clusters=clusters, beams=4, length=64)
    first = site.start_worker("gpu")
    before = site.call("texts", module="summary_runs", run=run, at_least=1)
    first.kill()
    assert len(before) < clusters
    site.start_worker("gpu")
    now = site.call("end", module="summary_runs", run=run, patience=LEASE + 90)
    assert (now["state"], now["done"], now["failed"]) == ("done", clusters, 0), now
    after = site.call("texts", module="summary_runs", run=run, at_least=clusters)
    assert before.items() <= after.items(), "what was stored stays as it was"
    undisturbed = site.call("once_more", module="summary_runs", run=run)
    assert site.call("texts", module="summary_runs", run=undisturbed, at_least=clusters) == after
    assert len(set(after.values())) > 1
