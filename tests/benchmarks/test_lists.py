"""Every list, count and state takes at most linearly more in a larger project.

SQLite's cost is counted in steps of its virtual machine, independent of the load.
"""

import pytest
from django.db import connection

from benchmarks.inside_lists import large_project
from benchmarks.inside_requests import ask_all
from benchmarks.routes import LEFT_OUT, get_routes

pytestmark = [pytest.mark.django_db, pytest.mark.engine]
SMALL, FACTOR = 40, 4
#: Linear work takes at most `FACTOR` times as much; quadratic work up to its square.
MOST = 1.4 * FACTOR
#: Steps that are ignored: a page that is not full grows with its rows.
HARMLESS = 100_000
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no steps to count")


def refuse_steep(*parts: str) -> None:
    """Fail if a request whose path contains one of these grows faster than the project, or fails."""
    steps: list[dict[str, int]] = []
    for slug, clusters in (("small", SMALL), ("large", FACTOR * SMALL)):
        ids = large_project(slug, clusters)
        replies = [one for part in parts for one in ask_all(ids, part, repeats=1)]
        assert replies
        assert [one["request"] for one in replies if one["status"] >= 500] == []
        steps.append({one["name"]: one["steps"] for one in replies})
    small, large = steps
    assert {
        name: (small[name], taken) for name, taken in large.items() if taken > max(HARMLESS, MOST * small[name])
    } == {}


@on_sqlite
def test_findings_decisions_and_flags_are_looked_up_by_key() -> None:
    refuse_steep("/outcomes/?page_size", "clusters/states/?state=findings", "clusters/?state=findings", "/flow/")


@on_sqlite
@pytest.mark.long
def test_no_request_of_a_page_grows_faster_than_its_project() -> None:
    refuse_steep("")


def test_left_out_paths_are_routes() -> None:
    assert LEFT_OUT.keys() <= set(get_routes())
