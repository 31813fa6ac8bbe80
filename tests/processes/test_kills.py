"""kill -9 of the web server: acknowledged answers are stored once; others can be resent.

Reliability rows 1 and 2. `make soak` sets KILLS=200; SOAK_LOG names a file with a line per kill.
"""

import hashlib
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from operations.simulation.annotator import Annotator, Noise
from operations.simulation.client import Client, Ledger
from operations.simulation.history import Study, work_together
from tests.annotation.m3_files import as_bytes, cluster, source
from tests.processes.site import Site, until

pytestmark = pytest.mark.processes
KILLS = int(os.environ.get("KILLS", "20"))
ROBOTS = 4
SEED = int(os.environ.get("KILL_SEED", "20221"))


def corpus(clusters: int) -> bytes:
    """Return a level 3 file with three propositions per cluster."""
    sources = [source("Nepralin may reduce relapse.", "111"), source("Nepralin did reduce relapse.", "222")]
    return as_bytes(cluster(f"{26_000_000 + n}_0", sources) for n in range(clusters))


def staffed(site: Site, clusters: int, robots: int, ledger: Ledger) -> tuple[Study, list[Client], list[int]]:
    """Create a project with a corpus and simulated annotators."""
    worker = site.start_worker()
    study = site.study()
    study.import_file("level3.jsonl", corpus(clusters))
    worker.kill()
    joined = [
        study.join(site.client(ledger, patience=180, longest_wait=0.25), f"robot{n}@example.org", f"Robot {n}")
        for n in range(robots)
    ]
    return study, [j.client for j in joined], [j.member for j in joined]


def say(line: str) -> None:
    print(line, flush=True)
    if path := os.environ.get("SOAK_LOG"):
        with Path(path).open("a") as log:
            log.write(line + "\n")


def check_against(site: Site, ledger: Ledger) -> list[dict[str, Any]]:
    """Acknowledged answers are stored as sent, once, and nothing else is stored."""
    stored = site.call("answers")
    by_uuid = {row["uuid"]: row for row in stored}
    lost = set(ledger.acknowledged) - set(by_uuid)
    assert not lost, f"{len(lost)} acknowledged answers are lost: {sorted(lost)[:5]}"
    for uuid, done in ledger.acknowledged.items():
        row = by_uuid[uuid]
        assert row["body_digest"] == hashlib.sha256(done.body).hexdigest()
        assert (row["assignment"], row["revision"]) == (done.assignment, done.revision)
    unknown = set(by_uuid) - set(ledger.sent)
    assert not unknown, f"{len(unknown)} answers are stored that nobody sent"
    for what in (("uuid",), ("assignment", "revision"), ("assignment__round", "assignment__unit", "author")):
        counts = Counter(tuple(row[name] for name in what) for row in stored)
        twice = [key for key, n in counts.items() if n > 1]
        assert not twice, f"stored twice by {', '.join(what)}: {twice[:5]}"
    return list(stored)


def kill_while_submitting(site: Site, ledger: Ledger, rng: random.Random) -> int:
    """Kill the server at a random moment during a submission; return how many were cut off. If every submission had
    got its reply, return 0."""
    served = len(ledger.acknowledged)
    until(lambda: len(ledger.acknowledged) > served, "the restarted server acknowledges answers", 60)
    time.sleep(rng.uniform(0.0, 0.5))
    before = ledger.broken
    # Suspended first: on a busy machine the reply may leave between checking and killing.
    until(lambda: _held_in_flight(site, ledger), "a submission is in flight", 30)
    site.kill_web()
    with suppress(AssertionError):  # a simulated annotator may notice late on a busy machine
        until(lambda: ledger.broken > before, "a robot has lost its connection", 3)
    return ledger.broken - before


def _held_in_flight(site: Site, ledger: Ledger) -> bool:
    """Suspend the server while a submission waits for it; if none does, resume it."""
    assert site.web
    site.web.hold()
    time.sleep(0.02)  # replies that were sent are read
    waiting = ledger.in_flight > 0
    if not waiting:
        site.web.wake()
    return waiting


@pytest.mark.row(1)
def test_every_acknowledged_answer_is_stored_once_however_often_the_server_is_killed(site: Site) -> None:
    ledger, rng = Ledger(), random.Random(SEED)
    study, clients, people = staffed(site, clusters=KILLS * 8 + 40, robots=ROBOTS, ledger=ledger)
    opening = site.start_worker()  # large rounds are prepared by a job
    round = study.open_round("kills", people, overlap=ROBOTS, lease_seconds=7200)
    opening.kill()
    annotators = [Annotator(c, round, noise=Noise.of(0.2), seed=n, think=(0, 0.01)) for n, c in enumerate(clients)]
    finished, failures = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            work_together(annotators, keep_going=lambda: not finished.is_set())
        except BaseException as error:
            failures.append(error)

    team = threading.Thread(target=work)
    team.start()
    say(f"{KILLS} kills, {ROBOTS} robots, {site.environment.get('DATABASE_URL', 'sqlite').split(':')[0]}, seed {SEED}")
    kills = missed = 0
    began = time.monotonic()
    try:
        while kills < KILLS:
            assert not failures, failures
            assert team.is_alive(), "the robots ran out of units; give the round more"
            cut = kill_while_submitting(site, ledger, rng)
            # Only kills count that the bytes of a submission had reached.
            kills, missed = (kills + 1, missed) if cut else (kills, missed + 1)
            say(
                f"{time.monotonic() - began:7.1f} s  kill {kills:3d}  cut off in flight {cut}  "
                f"acknowledged {len(ledger.acknowledged):6d}  stored but reply lost {ledger.replies_lost:4d}"
                + ("" if cut else "  (fell into a gap, repeated)")
            )
            assert missed < KILLS + 10, "most kills fall between submissions"
            site.start_web()
    finally:
        finished.set()
        team.join(timeout=120)
    assert not failures, failures
    stored = check_against(site, ledger)
    # All annotators finished, so every submission was acknowledged, if necessary after resending the same bytes.
    assert set(ledger.sent) == set(ledger.acknowledged) == {row["uuid"] for row in stored}
    assert ledger.broken >= KILLS
    site.manage("verify_audit")
    say(
        f"{kills} kills cut off {ledger.broken} submissions; {ledger.replies_lost} of them were stored already and not "
        f"stored again; {len(stored)} answers acknowledged, {len(stored)} stored, 0 lost, 0 twice"
    )


@pytest.mark.row(2)
def test_an_answer_whose_reply_was_lost_is_given_back_when_sent_again(site: Site) -> None:
    ledger = Ledger()
    study, [client], people = staffed(site, clusters=1, robots=1, ledger=ledger)
    round = study.open_round("failpoint", people)
    site.failpoint.touch()
    answered = Annotator(client, round).work(limit=1)
    assert answered == 1
    assert not site.failpoint.exists(), "the server did not pass the failpoint"
    [done] = ledger.acknowledged.values()
    assert (done.status, done.sends) == (200, 2), "the first send was stored, the second gave the stored answer back"
    assert ledger.replies_lost == 1
    assert len(check_against(site, ledger)) == 1


def test_the_oracle_finds_a_lost_and_a_double_answer(site: Site) -> None:
    ledger = Ledger()
    study, [client], people = staffed(site, clusters=1, robots=1, ledger=ledger)
    Annotator(client, study.open_round("oracle", people)).work(limit=2)
    check_against(site, ledger)
    uuid, done = next(iter(ledger.acknowledged.items()))
    for spoil, message in _spoiled(ledger, uuid, done):
        before = dict(ledger.acknowledged), dict(ledger.sent)
        spoil()
        with pytest.raises(AssertionError, match=message):
            check_against(site, ledger)
        ledger.acknowledged, ledger.sent = before


def _spoiled(ledger: Ledger, uuid: str, done: Any) -> list[tuple[Callable[[], object], str]]:
    return [
        (lambda: ledger.acknowledged.update(missing=done), "acknowledged answers are lost"),
        (lambda: ledger.sent.pop(uuid), "that nobody sent"),
    ]
