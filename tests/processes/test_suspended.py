"""A worker is suspended in the middle of a job and wakes after another has done it (reliability row 59)."""

import pytest

from operations.simulation.annotator import Annotator
from tests.processes.apps import LEASE
from tests.processes.conftest import ON_POSTGRES
from tests.processes.site import Site, until
from tests.processes.test_kills import corpus

pytestmark = pytest.mark.processes
CLUSTERS = 4
#: Four fields of each of a cluster's three propositions.
DECISIONS = CLUSTERS * 3 * 4
alone = pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite nobody else can write while it is suspended there")


@pytest.mark.row(4, 59)
@pytest.mark.parametrize("place", ["before a batch", pytest.param("in a batch", marks=alone)])
def test_a_worker_that_wakes_after_its_lease_decides_nothing_again(site: Site, place: str) -> None:
    first = site.start_worker()
    study = site.study()
    study.import_file("level3.jsonl", corpus(CLUSTERS))
    joined = study.join(site.client(), "robot@example.org", "Robot")
    round = study.open_round("gold", [joined.member])
    Annotator(joined.client, round).work()
    (site.folder / "suspend").write_text(place)
    closing = study.lead.post(f"rounds/{round}/close/")
    until(lambda: first.is_suspended, "the worker suspends itself in the job")
    site.start_worker()
    done = study.wait(closing)
    assert (done["attempts"], sum(done["result"]["decisions"].values())) == (2, DECISIONS)
    first.wake()
    until(
        lambda: "was taken over by another worker" in first.log.read_text(), "the first sees that it lost", LEASE + 30
    )
    assert site.call("decisions") == {"decisions": DECISIONS, "fields": DECISIONS}
    assert study.lead.get(f"jobs/{closing['id']}/")["result"] == done["result"]
    site.manage("verify_audit")
