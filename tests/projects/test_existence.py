"""Nobody learns which accounts and projects exist without the right to see them (reliability row 51)."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts import throttling
from accounts.models import Failure, User
from audit.models import Entry
from projects.models import Invitation, Project

pytestmark = pytest.mark.row(51)
ClientOf = Callable[[User], APIClient]
PASSWORD = "correct horse battery staple"
INVITATIONS = "/api/v1/projects/trap/invitations/"


@pytest.fixture
def spy(stranger: User, client_of: ClientOf) -> APIClient:
    """A person who leads another project."""
    client = client_of(stranger)
    assert client.post("/api/v1/projects/", {"name": "Trap"}, format="json").status_code == 201
    return client


def invited(spy: APIClient, email: str) -> str:
    return str(spy.post(INVITATIONS, {"email": email, "role": "viewer"}, format="json").json()["token"])


def post(address: str, **body: Any) -> Any:
    return APIClient().post(f"/api/v1/invitations/{address}/", body, format="json")


def test_an_invitation_does_not_reveal_whether_an_account_exists(spy: APIClient, lead: User) -> None:
    there, not_there = invited(spy, lead.email), invited(spy, "none@example.org")
    looks = [post("look", token=token).json() | {"email": ""} for token in (there, not_there)]
    assert looks[0] == looks[1]
    for wrong in ({}, {"name": "X"}, {"name": "X", "password": "short"}, {"name": " ", "password": PASSWORD}):
        replies = [post("accept", token=token, **wrong) for token in (there, not_there)]
        assert replies[0].status_code == replies[1].status_code == 422
        assert replies[0].content == replies[1].content
    lists = [(row["state"], row["accepted_at"]) for row in spy.get(INVITATIONS).json()["results"]]
    assert lists[0] == lists[1]


def test_attempts_to_create_an_existing_account_are_reported_and_throttled(spy: APIClient, lead: User) -> None:
    """The owner of the address is told about the attempt; trying a list of addresses is throttled."""
    token = invited(spy, lead.email)
    told = [post("accept", token=token, name="X", password=PASSWORD) for _ in range(12)]
    limit = throttling.LIMITS[Failure.What.ACCOUNT]
    assert [reply.status_code for reply in told] == [401] * limit + [429] * 2
    assert told[0].json()["type"] == "/problems/sign-in-needed"
    assert Invitation.objects.get().accepted_at is None
    owner = APIClient()
    owner.force_login(lead)
    assert owner.post("/api/v1/invitations/look/", {"token": token}, format="json").json()["signed_in"] is True
    assert owner.post("/api/v1/invitations/accept/", {"token": token}, format="json").status_code == 200


def test_an_existing_short_name_gets_letters_appended(spy: APIClient, project: Project) -> None:
    made = [spy.post("/api/v1/projects/", {"name": "Eye"} | slug, format="json") for slug in ({}, {"slug": "eye"})]
    assert [reply.status_code for reply in made] == [201, 201]
    slugs = [reply.json()["slug"] for reply in made]
    assert all(re.fullmatch(r"eye-[a-z2-9]{4}", slug) for slug in slugs)
    assert len({*slugs}) == 2
    assert spy.post("/api/v1/projects/", {"name": "Ear"}, format="json").json()["slug"] == "ear"
    long = {"name": "x" * 120}
    assert [len(spy.post("/api/v1/projects/", long, format="json").json()["slug"]) for _ in range(2)] == [60, 60]


def test_trying_out_short_names_costs_a_project_each_and_ends(spy: APIClient, settings: Any, stranger: User) -> None:
    settings.LIMITS = {**settings.LIMITS, "LIMIT_PROJECTS_PER_DAY": 3}
    replies = [spy.post("/api/v1/projects/", {"name": f"Try {n}"}, format="json") for n in range(4)]
    assert [reply.status_code for reply in replies] == [201, 201, 429, 429]
    assert "in 24 hours" in replies[-1].json()["detail"]
    assert Entry.objects.filter(actor=stranger, verb="create project").count() == 3
