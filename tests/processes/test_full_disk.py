"""A full disk: a clear message, nothing half written, and all is done once there is space (reliability row 9).

RLIMIT_FSIZE simulates a full disk: writing fails in the middle of a file.
"""

from collections.abc import Callable

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger, NotDone
from operations.simulation.history import JobFailed
from tests.processes.conftest import ON_POSTGRES
from tests.processes.site import Site, until
from tests.processes.test_kills import check_against, corpus, staffed

pytestmark = [pytest.mark.processes, pytest.mark.row(9)]


def test_a_release_without_room_leaves_nothing_and_succeeds_later(site: Site) -> None:
    worker = site.start_worker()
    study = site.study()
    study.import_file("level3.jsonl", corpus(30))
    worker.kill()
    store = site.folder / "files" / "releases"

    full = site.start_worker(largest_file=16 * 1024)
    asked = study.lead.post(f"projects/{study.slug}/releases/", {"version": "1.0.0"})
    if ON_POSTGRES:
        with pytest.raises(JobFailed, match=r"Writing failed .*incomplete files were removed"):
            study.wait(asked)
    else:
        # The job's own rows cannot be written either: the worker reports it and goes on, and the job stays queued.
        until(lambda: "not reachable" in full.log.read_text(), "the worker says what is wrong")
    assert full.is_running, full.log.read_text()[-2000:]
    assert not store.exists() or list(store.iterdir()) == []

    full.kill()
    site.start_worker()
    if ON_POSTGRES:
        asked = study.lead.post(f"projects/{study.slug}/releases/", {"version": "1.0.0"})
    made = study.wait(asked)["result"]["release"]
    assert study.lead.get(f"releases/{made}/verify/")["findings"] == []
    assert len(list(store.iterdir())) == 1
    site.manage("verify_audit")


@pytest.mark.long
def test_an_upload_to_a_full_disk_is_refused_and_people_keep_working(make_site: Callable[..., Site]) -> None:
    site, ledger = make_site(), Ledger()
    site.start_web()
    study, [client], people = staffed(site, clusters=20, robots=1, ledger=ledger)
    round = study.open_round("work", people)
    site.kill_web()
    site.start_web(largest_file=4 * 1024 * 1024)
    with pytest.raises(NotDone, match="507: The server's disk is full") as refused:
        study.import_file("large.jsonl", b"\n" * 6_000_000)
    assert refused.value.body["type"] == "/problems/no-room"
    assert list((site.folder / "files" / "uploads").iterdir()) == []
    assert Annotator(client, round).work(limit=5) == 5
    assert len(check_against(site, ledger)) == 5


@pytest.mark.long
@pytest.mark.skipif(ON_POSTGRES, reason="PostgreSQL's files are its own server's")
def test_an_answer_refused_by_a_full_database_stays_in_the_outbox(site: Site) -> None:
    ledger = Ledger()
    study, [client], people = staffed(site, clusters=2, robots=1, ledger=ledger)
    round = study.open_round("work", people)
    robot = Annotator(client, round)
    robot.work(limit=1)
    site.kill_web()
    site.start_web(largest_file=64 * 1024)
    with pytest.raises(NotDone, match="503: The server's disk is full"):
        study.lead.post(f"projects/{study.slug}/guidelines/", {"kind": "label", "text": "More. " * 2000})
    site.kill_web()
    site.start_web()
    assert robot.work(limit=2) == 2
    assert len(check_against(site, ledger)) == 3
    site.manage("verify_audit")
