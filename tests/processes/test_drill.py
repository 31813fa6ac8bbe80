"""Everything at once: people at work, closed rounds, cancelled imports, and random kills.

`make soak` sets DRILL_SECONDS=600; DRILL_SEED repeats a run's choices; SOAK_LOG names a file for events.
"""

import json
import os
import random
import time
from collections import Counter
from collections.abc import Callable

import pytest

from operations.simulation.client import Client, Ledger
from operations.simulation.history import Study
from tests.processes.drill_users import DrillAnnotator, DrillLead, DrillState
from tests.processes.fault_injection import FaultInjector
from tests.processes.oracle import noted
from tests.processes.site import Site, until
from tests.processes.test_kills import corpus, say
from tests.processes.test_outages import Watched

pytestmark = pytest.mark.processes
SECONDS = float(os.environ.get("DRILL_SECONDS", "15"))
SEED = int(os.environ.get("DRILL_SEED", "0")) or random.randrange(1, 10_000)
PEOPLE, LEADS, CLUSTERS = 6, 2, 100
#: The longest delay of a statement in seconds.
DAWDLE = "0.2"
#: Seconds for all jobs to end after the last fault.
SETTLED = 180.0
#: Time limit of one check of all rows, in seconds.
PATIENCE = 900.0


class Drill:
    """A site with a project, its users, and injected faults."""

    def __init__(self, site: Site) -> None:
        self.site, self.ledger, self.seen = site, Ledger(), Counter[tuple[int, bool]]()
        site.environment["DAWDLE"] = DAWDLE
        self.rounds = DrillState(SEED)
        self.injector = FaultInjector(site, SEED, say)
        self.injector.start_programs()
        self.study = site.study("Drill")
        self.study.import_file("level3.jsonl", corpus(CLUSTERS))
        self.rounds.keys = [f"{26_000_000 + n}_0/{p}" for n in range(CLUSTERS) for p in range(3)]
        joined = [self.study.join(self._client(), f"robot{n}@example.org", f"Robot {n}") for n in range(PEOPLE)]
        workers = [DrillAnnotator(j.client, n, self.rounds).work for n, j in enumerate(joined)]
        leads = [self._lead(n, [j.member for j in joined]).work for n in range(LEADS)]
        self.threads = [self.rounds.guarded(work) for work in (*workers, *leads)]

    def _client(self) -> Client:
        client = self.site.client(self.ledger, patience=180, longest_wait=0.25)
        client.transport = Watched(self.site.address, self.seen)
        return client

    def _lead(self, number: int, people: list[int]) -> DrillLead:
        client = Client(Watched(self.site.address, self.seen), token=self.study.lead.token, patience=60)
        return DrillLead(Study(client, self.study.slug, patience=30), people, number, self.rounds, say)

    def run(self, seconds: float) -> None:
        """Run for some seconds; then stop users and faults, close every round, and wait for every job."""
        end = time.monotonic() + seconds
        self.injector.start()
        for thread in self.threads:
            thread.start()
        try:
            while time.monotonic() < end and not (self.rounds.failures or self.injector.failures):
                time.sleep(0.1)
        finally:
            self.injector.stop()
            self.rounds.stop.set()
            for thread in self.threads:
                thread.join(timeout=200)
        assert not self.rounds.failures, self.rounds.failures
        assert not self.injector.failures, self.injector.failures
        for round in self.injector.database.ask("SELECT id FROM projects_round WHERE status = 'open'"):
            self.study.lead.post(f"rounds/{round[0]}/close/")
        waiting = "SELECT id, kind FROM projects_job WHERE status IN ('queued', 'running')"
        until(lambda: not self.injector.database.ask(waiting), "all jobs have ended", SETTLED)

    def findings(self) -> dict[str, list[str]]:
        """Return the violations that the oracle finds."""
        path = self.site.folder / "ledger.json"
        path.write_text(json.dumps(noted(self.ledger)))
        found: dict[str, list[str]] = self.site.program("tests.processes.oracle", str(path), seconds=PATIENCE)
        return found


@pytest.mark.row(63)
def test_random_faults_violate_no_invariant(make_site: Callable[..., Site]) -> None:
    drill = Drill(make_site())
    say(f"drill of {SECONDS:g} s, seed {SEED}, {'PostgreSQL' if drill.injector.database.url else 'SQLite'}")
    drill.run(SECONDS)
    say(f"faults {dict(drill.injector.done)}, scenes {dict(drill.rounds.done)}, replies {dict(drill.seen)}")
    say(f"{len(drill.ledger.acknowledged)} answers acknowledged, {drill.ledger.broken} sends cut off")
    found = drill.findings()
    for rule, told in found.items():
        for line in told:
            say(f"  {rule}: {line}")
    assert not found
    assert {status for status, _ in drill.seen if status >= 500} <= {503}
    check_audit_and_releases(drill)


def check_audit_and_releases(drill: Drill) -> None:
    """The chain and all releases verify, and changed rows are detected."""
    drill.site.manage("verify_audit", seconds=PATIENCE)
    drill.study.release("9.9.9")
    # Remains of killed workers begin with a dot and are removed after a day.
    store = drill.site.folder / "files" / "releases"
    folders = sorted(folder for folder in store.iterdir() if not folder.name.startswith("."))
    for folder in folders:
        drill.site.manage("verify_release", str(folder), seconds=PATIENCE)
    forged = drill.site.program("tests.processes.tamper_check", seconds=PATIENCE)
    say(f"verified the chain and {len(folders)} releases; planted {', '.join(forged['planted'])}")
    assert len(forged["planted"]) >= 12
    assert not forged["missed"]
