"""PostgreSQL restarts, crashes or runs out of connections: people wait, nothing is lost (reliability rows 8 and 10).

`make soak` sets RESTARTS=20.
"""

import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Client, Ledger
from operations.simulation.history import Study, work_together
from operations.simulation.transport import Http, Raw
from tests.processes.conftest import ON_POSTGRES, TEMPLATE, url_of
from tests.processes.postgres import Postgres
from tests.processes.site import LEAD, Site, until
from tests.processes.test_kills import check_against, corpus

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(not ON_POSTGRES, reason="these are faults of PostgreSQL: see the run on it"),
]
RESTARTS = int(os.environ.get("RESTARTS", "2"))


class Watched(Http):
    """A connection that counts replies: (status, whether it had Retry-After)."""

    def __init__(self, address: str, seen: "Counter[tuple[int, bool]]") -> None:
        super().__init__(address)
        self._seen = seen

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Raw:
        raw = super().send(method, path, headers, body)
        self._seen[raw.status, "retry-after" in raw.headers] += 1
        return raw


@pytest.fixture
def own_postgres() -> Iterator[Callable[..., Postgres]]:
    # A short path: that of a socket may have 107 bytes.
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp", ignore_cleanup_errors=True) as home:
        made: list[Postgres] = []

        def make(**options: int) -> Postgres:
            made.append(Postgres(Path(home), **options))
            return made[-1]

        yield make
        for server in made:
            server.stop("immediate")


@pytest.fixture
def make_site_on(tmp_path: Path) -> Iterator[Callable[[Postgres], Site]]:
    sites: list[Site] = []

    def make(server: Postgres) -> Site:
        sites.append(Site(tmp_path, server.url))
        if not (TEMPLATE and server.take_over(url_of(TEMPLATE))):
            sites[0].manage("migrate", "-v0")
        return sites[0]

    yield make
    for site in sites:
        site.stop()


def annotators_of(
    site: Site, size: int, ledger: Ledger, seen: "Counter[tuple[int, bool]]", clusters: int
) -> list[Annotator]:
    """Return annotators in one round, each with a token."""
    worker = site.start_worker()
    study: Study = site.study()
    study.import_file("level3.jsonl", corpus(clusters))
    people = []
    for n in range(size):
        client = Client(Watched(site.address, seen), ledger=ledger, patience=120, longest_wait=0.5)
        people.append(study.join(client, f"robot{n}@example.org", f"Robot {n}"))
    round = study.open_round("work", [p.member for p in people], overlap=min(size, 4), lease_seconds=7200)
    worker.kill()
    seen.clear()
    return [Annotator(p.client, round, seed=n, think=(0, 0.01)) for n, p in enumerate(people)]


@pytest.mark.row(8)
def test_while_postgresql_restarts_people_wait_and_no_answer_is_lost(
    own_postgres: Callable[..., Postgres], make_site_on: Callable[[Postgres], Site]
) -> None:
    server = own_postgres()
    site, ledger, seen = make_site_on(server), Ledger(), Counter[tuple[int, bool]]()
    site.start_web()
    annotators = annotators_of(site, 4, ledger, seen, clusters=60 * RESTARTS)
    worker = site.start_worker()
    job = site.call(
        "enqueue", kind="slow", by=LEAD, params={"diary": str(site.folder / "diary"), "steps": 8, "seconds": 0.3}
    )
    finished, failures = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            work_together(annotators, keep_going=lambda: not finished.is_set())
        except BaseException as error:
            failures.append(error)

    team = threading.Thread(target=work)
    team.start()
    try:
        for n in range(RESTARTS):
            so_far = len(ledger.acknowledged)
            until(lambda so_far=so_far: failures or len(ledger.acknowledged) > so_far + 5, "answers go in", 60)  # type: ignore[misc]
            server.stop(("fast", "immediate")[n % 2])
            time.sleep(0.7)
            server.start()
    finally:
        finished.set()
        team.join(timeout=120)
    assert not failures, failures
    stored = check_against(site, ledger)
    assert set(ledger.sent) == set(ledger.acknowledged) == {row["uuid"] for row in stored}, (
        "each was sent until it was in"
    )
    assert not [key for key in seen if key[0] >= 500 and key[0] != 503], seen
    assert seen[503, True] >= RESTARTS, f"{seen}: an outage is a 503 that says when to come back"
    assert not seen[503, False], seen
    assert "none changed" in site.manage("verify_audit"), "an answer without its labels would be found here"
    until(lambda: site.call("job", pk=job)["status"] == "done", "the job under way is done all the same", 60)
    assert worker.is_running, worker.log.read_text()[-2000:]


@pytest.mark.long
@pytest.mark.row(10)
def test_sixty_clients_share_fifteen_connections_without_an_error(
    own_postgres: Callable[..., Postgres], make_site_on: Callable[[Postgres], Site]
) -> None:
    """A thread has a connection, or shares a limited number of them: requests queue in both cases."""
    site, ledger, seen = make_site_on(own_postgres(max_connections=15)), Ledger(), Counter[tuple[int, bool]]()
    site.start_web()
    few = annotators_of(site, 3, ledger, seen, clusters=30)
    for turn, (threads, most) in enumerate(((4, ""), (16, "4")), start=1):
        site.kill_web()
        site.environment["DB_CONNECTIONS"] = most or "0"
        site.start_web(threads=threads)
        sixty_at_once(site, few, ledger, seen)
        assert {status for status, _ in seen} <= {200, 201}, seen
        assert len(check_against(site, ledger)) == 30 * turn
    assert sum(seen.values()) >= 2 * (60 * 4 + 30)


def sixty_at_once(site: Site, few: list[Annotator], ledger: Ledger, seen: "Counter[tuple[int, bool]]") -> None:
    """Twenty tabs per person request cards four times each; in one of them ten units are answered."""
    start, wrong = threading.Barrier(60), list[BaseException]()

    def ask(n: int) -> None:
        robot = few[n % len(few)]
        client = Client(Watched(site.address, seen), token=robot.client.token, ledger=ledger, patience=60)
        start.wait(60)
        try:
            for _ in range(4):
                client.get(f"rounds/{robot.round}/next/")
            if n < len(few):
                robot.work(limit=10)
        except BaseException as error:
            wrong.append(error)

    tabs = [threading.Thread(target=ask, args=(n,)) for n in range(60)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join(120)
    assert not wrong, wrong[:3]
