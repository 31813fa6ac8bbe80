"""kill -9 of the worker during an import: the next one continues; a withdrawn import leaves nothing (row 24)."""

from typing import Any

import pytest

from operations.simulation.history import Study
from tests.annotation.m3_files import as_bytes, plain
from tests.processes.apps import LEASE
from tests.processes.site import Site, until

pytestmark = [pytest.mark.processes, pytest.mark.long, pytest.mark.row(24)]
#: About 10 batches.
DOCUMENTS = 2_000


def documents() -> bytes:
    texts = {n: f"Nepralin reduced relapse in study {n}." for n in range(5_000)}
    inputs = [[(n * 3 + i) % 5_000 for i in range(6)] for n in range(DOCUMENTS)]
    return as_bytes(
        plain(str(26_000_000 + n), f"Target {n}", *((str(1_000 + i), texts[i]) for i in chosen))
        for n, chosen in enumerate(inputs)
    )


def begin(study: Study, content: bytes) -> None:
    """Upload, check and confirm a file, without waiting for its import."""
    path = f"projects/{study.slug}/imports/"
    check = study.wait(study.lead.upload(path, {"format": "m3", "level": ""}, "documents.jsonl", content))
    assert not check["result"]["faults"]["total"]
    study.lead.post(f"{path}confirm/", {"job": check["id"]})


def imports(study: Study) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = study.lead.get(f"projects/{study.slug}/imports/")["results"]
    return found


def has_written(study: Study, more_than: int) -> bool:
    """Whether an import that is arriving has read more bytes than these."""
    return any(row["state"] == "arriving" and row["bytes_done"] > more_than for row in imports(study))


def test_an_import_whose_worker_is_killed_twice_has_the_rows_of_an_undisturbed_one(site: Site) -> None:
    content = documents()
    worker = site.start_worker()
    undisturbed, killed = site.study("Undisturbed"), site.study("Killed")
    undisturbed.import_file("documents.jsonl", content)
    begin(killed, content)
    done = 0
    for _ in range(2):
        until(lambda done=done: has_written(killed, done), "the worker writes a batch")  # type: ignore[misc]
        worker.kill()
        [row] = imports(killed)
        assert row["state"] == "arriving", "the worker was faster than the kill"
        done = row["bytes_done"]
        assert site.call("imported_rows", slug=killed.slug)["targets"][0] == 0
        worker = site.start_worker()
    until(lambda: imports(killed)[0]["state"] == "arrived", "another worker completes the import", 10 * LEASE + 60)
    assert site.call("imported_rows", slug=killed.slug) == site.call("imported_rows", slug=undisturbed.slug)
    site.manage("verify_audit")


def test_an_import_withdrawn_while_it_runs_leaves_all_tables_as_they_were(site: Site) -> None:
    site.start_worker()
    study = site.study()
    before = site.call("count_imported")
    begin(study, documents())
    until(lambda: has_written(study, 0), "the worker writes a batch")
    study.lead.post(f"imports/{imports(study)[0]['id']}/withdraw/")
    until(lambda: not imports(study), "the import is withdrawn")
    assert site.call("count_imported") == before
    site.manage("verify_audit")
