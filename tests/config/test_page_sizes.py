"""No list exceeds a page, and no search is a regular expression (reliability row 45)."""

import time

import pytest

from api.pagination import Pages
from tests.config.other_project import OtherProject
from tests.config.routes import CASES, api_routes, client_of, no_ids

pytestmark = [pytest.mark.django_db, pytest.mark.row(45)]


def test_a_page_is_never_larger_than_the_largest(other: OtherProject, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small maximum, unpaged lists are detected."""
    client, asked = client_of(other.owner), 0
    monkeypatch.setattr(Pages, "max_page_size", 1)
    for route in api_routes():
        if "get" not in route.methods or route.pattern == "schema/":
            continue
        reply = client.get(
            route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other)) + "?page_size=100000"
        )
        # Tables and pictures are files.
        if reply.status_code != 200 or reply.streaming or reply["Content-Type"] != "application/json":
            continue
        if "results" not in (found := reply.json()):
            continue
        asked += 1
        assert len(found["results"]) <= 1, route.pattern
    assert asked >= 8
    assert Pages.page_size <= 200


@pytest.mark.parametrize(
    "search", ["(a+)+$", "((((((((((a*)*)*)*)*)*)*)*)*)*b", "%" * 500, "_" * 500, "\\", "a" * 5000]
)
def test_a_search_takes_its_words_literally_and_ends(other: OtherProject, search: str) -> None:
    client = client_of(other.owner)
    for name in ("search", "q"):
        began = time.process_time()
        reply = client.get(f"/api/v1/projects/{other.project.slug}/clusters/", {name: search})
        assert reply.status_code in (200, 400, 422)
        assert time.process_time() - began < 5
        if reply.status_code == 200 and name == "search":
            assert reply.json()["count"] == 0, "nothing here holds these words"
