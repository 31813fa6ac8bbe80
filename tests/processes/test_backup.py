"""A backup made while people work is restored into an empty installation (reliability row 46)."""

import re
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from operations.simulation.annotator import Annotator
from operations.simulation.client import Ledger
from tests.processes.conftest import ON_POSTGRES
from tests.processes.site import Site, until
from tests.processes.test_kills import staffed

pytestmark = [
    pytest.mark.processes,
    pytest.mark.row(46),
    pytest.mark.skipif(ON_POSTGRES and not shutil.which("pg_dump"), reason="pg_dump is not installed"),
]


def test_a_backup_made_under_writers_is_one_moment_and_restores_verified(
    make_site: Callable[..., Site], tmp_path: Path
) -> None:
    site, ledger = make_site(), Ledger()
    site.start_web()
    study, [client], people = staffed(site, clusters=80, robots=1, ledger=ledger)
    site.start_worker()
    study.release("1.0.0")
    round = study.open_round("work", people)
    finished = threading.Event()
    robot = threading.Thread(
        target=lambda: Annotator(client, round, think=(0, 0.02)).work(keep_going=lambda: not finished.is_set())
    )
    robot.start()
    try:
        until(lambda: len(ledger.acknowledged) > 3, "answers are acknowledged")
        before = set(ledger.acknowledged)
        said = site.manage("backup", "--out", str(tmp_path / "a.tar.gz"))
        until(lambda: len(ledger.acknowledged) > len(before) + 3, "people work on")
    finally:
        finished.set()
        robot.join(60)

    other = make_site()
    restored = other.manage("restore", str(tmp_path / "a.tar.gz"))
    assert "none changed" in restored
    assert "1 releases are unchanged" in restored
    stored = {row["uuid"] for row in other.call("answers")}
    assert before <= stored <= set(ledger.sent), "what was acknowledged before the backup began is in it"
    assert stored < set(ledger.acknowledged), "what came later is not"
    # The restored site accepts answers, including those acknowledged after the backup.
    head = re.search(r"[0-9a-f]{64}", said)
    assert head
    assert "none changed" in other.manage("verify_audit", "--head", head[0])
    other.environment["SECRET_KEY"] = site.environment["SECRET_KEY"]
    other.start_web()
    again = other.client(ledger, token=client.token)
    for uuid, body in ledger.sent.items():
        if uuid in stored:
            continue
        path = f"/api/v1/answers/{uuid}/"
        headers = {"Authorization": f"Bearer {client.token}", "Content-Type": "application/json"}
        assert again.transport.send("PUT", path, headers, body).status == 201
    assert {row["uuid"] for row in other.call("answers")} == set(ledger.acknowledged)

    with pytest.raises(AssertionError, match="is not empty"):
        other.manage("restore", str(tmp_path / "a.tar.gz"))
    [name] = re.findall(r"--replace (\S+)", _refusal(other, tmp_path / "a.tar.gz"))
    replaced = other.manage("restore", str(tmp_path / "a.tar.gz"), "--replace", name)
    assert {row["uuid"] for row in other.call("answers")} == stored
    [kept] = other.folder.glob("replaced-*.tar.gz")
    assert str(kept) in replaced, "what was there before is in a backup of its own"


def _refusal(site: Site, source: Path) -> str:
    with pytest.raises(AssertionError) as refused:
        site.manage("restore", str(source))
    return str(refused.value)


@pytest.mark.long
def test_the_drill_restores_into_a_scratch_database_and_leaves_nothing(site: Site) -> None:
    worker = site.start_worker()
    study = site.study()
    study.release("1.0.0")
    worker.kill()
    before = sorted(site.folder.rglob("*"))
    said = site.manage("backup_drill")
    assert re.search(r"Backup: [\d.]+ MB in [\d.]+ s; \d+ rows in \d+ tables, \d+ files\.", said)
    assert re.search(r"Verified: [1-9]\d* rows .* 1 releases are unchanged\.", said)
    assert "Drill passed" in said
    assert [path for path in sorted(site.folder.rglob("*")) if "sqlite3-" not in path.name] == [
        path for path in before if "sqlite3-" not in path.name
    ]
