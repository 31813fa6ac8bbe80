"""An import writes while people label: they wait at most, on SQLite too (reliability rows 3, 4 and 32)."""

import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger
from operations.simulation.history import work_together
from tests.processes.apps import LEASE
from tests.processes.site import Process, Site, until
from tests.processes.test_kills import check_against, corpus, staffed
from tests.processes.test_outages import Watched

pytestmark = pytest.mark.processes
#: Enough clusters to keep the importer writing for a second or more.
LARGE = 800


def later(clusters: int) -> bytes:
    """Return a corpus of other clusters."""
    return corpus(clusters).replace(b'"docid": "26', b'"docid": "27')


@pytest.mark.long
def test_an_import_makes_nobody_fail_who_labels_concurrently(site: Site) -> None:
    ledger, seen = Ledger(), Counter[tuple[int, bool]]()
    study, clients, people = staffed(site, clusters=120, robots=2, ledger=ledger)
    round = study.open_round("work", people, overlap=2)
    for client in clients:
        client.transport = Watched(site.address, seen)
    finished, waits, failures = threading.Event(), list[float](), list[BaseException]()

    def keep_going() -> bool:
        waits.append(time.monotonic())
        return not finished.is_set()

    def work() -> None:
        try:
            work_together(
                [Annotator(c, round, seed=n, think=(0.02, 0.05)) for n, c in enumerate(clients)], keep_going=keep_going
            )
        except BaseException as error:
            failures.append(error)

    site.start_worker()
    team = threading.Thread(target=work)
    team.start()
    try:
        until(lambda: len(ledger.acknowledged) > 2, "people label")
        before = len(ledger.acknowledged)
        done = study.import_file("later.jsonl", later(LARGE))
        during = len(ledger.acknowledged) - before
    finally:
        finished.set()
        team.join(60)
    assert not failures, failures
    assert done["counts"]["clusters"] == LARGE
    assert {status for status, _ in seen} <= {200, 201}, seen
    assert during > 0
    assert set(ledger.sent) == set(ledger.acknowledged) == {row["uuid"] for row in check_against(site, ledger)}
    site.manage("verify_audit")


def killed_in(site: Site, worker: Process, job: int, is_in_it: Callable[[], object]) -> None:
    until(is_in_it, "the worker is in the midst of it", 60)
    worker.kill()
    assert site.call("job", pk=job)["status"] == "running", "it ended before it could be killed"


@pytest.mark.row(3, 4)
def test_an_import_whose_worker_is_killed_while_writing_is_stalled_and_then_done_once(site: Site) -> None:
    study, worker = site.study(), site.start_worker()
    path = f"projects/{study.slug}/imports/"
    check = study.wait(study.lead.upload(path, {"format": "m3", "level": ""}, "large.jsonl", corpus(LARGE)))
    asked = study.lead.post(f"{path}confirm/", {"job": check["id"]})
    at_work = ("reading", "writing labels")
    killed_in(site, worker, asked["id"], lambda: study.lead.get(f"jobs/{asked['id']}/")["note"] in at_work)
    assert study.lead.get(f"projects/{study.slug}/clusters/")["count"] == 0, "all or nothing"
    until(lambda: study.lead.get(f"jobs/{asked['id']}/")["stalled"], "it is shown as stalled", LEASE + 10)
    site.start_worker()
    done = study.wait(asked)
    assert (done["attempts"], done["result"]["known"]) == (2, False)
    assert study.lead.get(f"projects/{study.slug}/clusters/")["count"] == LARGE
    site.manage("verify_audit")


@pytest.mark.row(3, 4)
def test_a_release_whose_worker_is_killed_while_writing_is_made_once_by_the_next(site: Site) -> None:
    study, worker = site.study(), site.start_worker()
    study.import_file("large.jsonl", corpus(LARGE))
    store = site.folder / "files" / "releases"
    asked = study.lead.post(f"projects/{study.slug}/releases/", {"version": "1.0.0"})
    killed_in(site, worker, asked["id"], lambda: store.exists() and any(store.glob(".*/**/*.jsonl")))
    assert [p.name for p in store.iterdir() if not p.name.startswith(".")] == [], "no half release under its name"
    site.start_worker()
    release = study.wait(asked)["result"]["release"]
    assert study.lead.get(f"releases/{release}/verify/")["findings"] == []
    assert study.lead.get(f"projects/{study.slug}/releases/")["count"] == 1
