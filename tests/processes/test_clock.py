"""The server's clock is set back by an hour while people and workers are active (reliability row 36)."""

import time
from datetime import datetime

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger
from tests.processes.apps import LEASE
from tests.processes.site import Site, until
from tests.processes.test_kills import check_against, staffed
from tests.processes.test_workers import Slow

pytestmark = [pytest.mark.processes, pytest.mark.row(36)]
HOUR = 3600.0


@pytest.mark.long
def test_after_the_clock_is_set_back_people_and_jobs_continue(site: Site) -> None:
    ledger = Ledger()
    study, [client], people = staffed(site, clusters=4, robots=1, ledger=ledger)
    round = study.open_round("work", people)
    robot = Annotator(client, round)
    assert robot.work(limit=4) == 4
    kept = Slow(site, study.lead, "kept", steps=12, seconds=0.3)
    steady = site.start_worker()
    until(kept.has_begun, "a worker is busy")
    left = Slow(site, study.lead, "left", steps=4)
    doomed = site.start_worker()
    until(left.has_begun, "another one, too")

    doomed.kill()  # its lease now ends more than an hour later
    site.set_clock(-HOUR)
    back = time.monotonic()
    assert robot.work(limit=4) == 4
    until(left.is_done, "the dead worker's job is done", LEASE + 60)
    assert time.monotonic() - back < HOUR / 10
    until(kept.is_done, "the live worker's job is done")
    assert steady.is_running
    assert len(kept.diary("begin")) == 1, "its lease was renewed by the new time and not taken from it"

    for job in (kept.now(), left.now()):
        assert moment(job["finished_at"]) >= moment(job["started_at"]), "no job ends before it began"
    assert robot.work() == 4
    study.close(round)
    assert len(check_against(site, ledger)) == 12
    closed = study.lead.get(f"rounds/{round}/")
    assert moment(closed["closed_at"]) >= moment(closed["opened_at"])
    trail = study.lead.get(f"projects/{study.slug}/audit/")["results"]
    assert [entry["id"] for entry in trail] == sorted((entry["id"] for entry in trail), reverse=True)
    assert trail[0]["verb"] != "create project"
    assert "none changed" in site.manage("verify_audit")


def moment(written: str) -> datetime:
    return datetime.fromisoformat(written)
