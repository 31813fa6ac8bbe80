"""The request log: one line with route, person and duration, without addresses, query strings and secrets (row 43)."""

import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from rest_framework.test import APIClient

from accounts.actions import make_sign_in_link
from accounts.models import User
from api.logs import JsonLines
from projects.models import Project
from projects.people.invitations import invite

ClientOf = Callable[[User], APIClient]


class Kept(logging.Handler):
    """Captures the lines as written."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self.fields: list[dict[str, Any]] = []
        self.setFormatter(JsonLines())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        if record.name == "concord.request":
            self.fields.append(record.fields)  # type: ignore[attr-defined]


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, root = Kept(), logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    root.setLevel(before)


def test_a_request_has_one_line_with_route_person_status_time_and_queries(
    kept: Kept, project: Project, lead: User, client_of: ClientOf
) -> None:
    reply = client_of(lead).get("/api/v1/projects/eye/members/?page=1")
    (line,) = kept.fields
    assert line.pop("ms") > 0
    assert line.pop("queries") >= 3
    assert line == {"method": "GET", "route": "/api/v1/projects/<slug:slug>/members/", "status": 200, "user": lead.pk}
    assert f'"request": "{reply["X-Request-ID"]}"' in kept.lines[-1]


def test_anonymous_requests_need_no_database_query(kept: Kept, db: None, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        Client().get("/healthz")
        Client().get("/nothing/here")
    assert [(line["user"], line["queries"]) for line in kept.fields] == [(None, 0), (None, 0)]


def test_requests_with_a_token_log_the_user_and_not_the_token(kept: Kept, lead: User) -> None:
    from accounts.actions import make_token

    secret = make_token(user=lead, name="script")[1]
    assert Client().get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {secret}").status_code == 200
    assert kept.fields[-1]["user"] == lead.pk
    assert secret not in "".join(kept.lines)


@pytest.mark.parametrize("given", ["a1b2c3d4", "0f3b7c0e-9a70-4a53-8ac9-1f6a5e2c7b11"])
def test_a_request_keeps_the_name_that_a_proxy_gave_it(given: str) -> None:
    assert Client().get("/healthz", HTTP_X_REQUEST_ID=given)["X-Request-ID"] == given


@pytest.mark.parametrize("given", ["short", "a" * 65, 'x" level="ERROR', "aaaaaaaa\tbbbb", "ünïcödé-name"])
def test_a_name_that_could_garble_the_log_is_replaced(given: str) -> None:
    assert re.fullmatch("[0-9a-f]{32}", Client().get("/healthz", HTTP_X_REQUEST_ID=given)["X-Request-ID"])


def test_an_unexpected_error_is_logged_in_one_line_with_its_traceback(
    kept: Kept, lead: User, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("out of paper")

    monkeypatch.setattr("accounts.views.MeView.get", burst)
    client = client_of(lead)
    client.raise_request_exception = False
    reply = client.get("/api/v1/me/?secret=1")
    name = reply["X-Request-ID"]
    assert f"logged as {name}" in reply.json()["detail"], "so that people can say which failure they mean"
    told = [line for line in kept.lines if "out of paper" in line]
    assert len(told) == 1
    assert '"message": "500 GET /api/v1/me/"' in told[0]
    assert name in told[0]
    assert kept.fields[-1]["status"] == 500


@pytest.mark.row(43)
def test_neither_tokens_nor_addresses_nor_questions_reach_the_log(
    kept: Kept, project: Project, lead: User, client_of: ClientOf
) -> None:
    link = make_sign_in_link(user=lead)
    invitation = invite(project=project, email="new@example.org", role="annotator", by=lead)[1]
    guest = APIClient()
    guest.raise_request_exception = False
    for address, token in (
        ("invitations/look/", invitation),
        ("invitations/accept/", invitation),
        ("session/link/", link),
    ):
        body = {"token": token} | ({"name": "New", "password": "a long one 5811"} if "accept" in address else {})
        assert guest.post(f"/api/v1/{address}", body, format="json").status_code == 200
        guest.post(f"/api/v1/{address}?token={token}", body, format="json")
        guest.get(f"/api/v1/{address}{token}/")
    guest.get(f"/join/{invitation}?token={invitation}")
    guest.get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {link}")
    told = "".join(kept.lines)
    assert len(kept.fields) == 11
    for secret in (link, invitation, "a long one", "?token"):
        assert secret not in told


@pytest.mark.row(43)
def test_links_carry_their_token_where_neither_log_nor_referrer_sees_it() -> None:
    """The token follows a `#`, which browsers do not send."""
    root = Path(settings.ROOT)
    sources = [
        *root.glob("accounts/**/*.py"),
        *root.glob("config/**/*.py"),
        *root.glob("projects/**/*.py"),
        *root.glob("frontend/src/**/*.svelte"),
        *root.glob("frontend/src/**/*.ts"),
    ]
    made = [
        line
        for path in sources
        for line in path.read_text().splitlines()
        if re.search(r"(?<!v1)/(?:enter|join|take)[#/?]", line)
    ]
    assert made, "links are made somewhere"
    assert [line for line in made if not re.search(r"/(?:enter|join|take)(?:\?[^#]*)?#", line)] == []
    assert settings.SECURE_REFERRER_POLICY == "same-origin"


def test_gunicorn_writes_no_access_log_of_its_own() -> None:
    from config import gunicorn

    assert gunicorn.accesslog is None
