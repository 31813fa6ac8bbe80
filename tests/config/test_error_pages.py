"""Database failures inside and outside of views: a message to wait and retry."""

from typing import Any

import psycopg
import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import InterfaceError, OperationalError
from django.test import Client
from rest_framework.test import APIClient

from accounts.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.row(8)]


def failing(error: Exception) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("error", [OperationalError("server closed the connection"), InterfaceError("closed")])
def test_an_outage_in_a_view_is_a_503_that_says_when_to_come_back(
    lead: User, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    client = APIClient()
    client.force_authenticate(lead)
    monkeypatch.setattr("projects.overview.views.ProjectsView.get_queryset", failing(error))
    reply = client.get("/api/v1/projects/")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert reply.json()["type"] == "/problems/unavailable"


@pytest.mark.parametrize("error", [OperationalError("the database system is starting up"), InterfaceError("closed")])
def test_an_outage_around_the_views_is_one_too(lead: User, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(lead)
    monkeypatch.setattr("django.middleware.csrf.CsrfViewMiddleware.process_view", failing(error))
    reply = client.get("/api/v1/projects/")
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "2")
    assert reply.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("name", ["DeadlockDetected", "SerializationFailure", "LockNotAvailable", "TooManyConnections"])
def test_postgresql_conflicts_are_operational_errors(name: str) -> None:
    assert issubclass(getattr(psycopg.errors, name), psycopg.OperationalError)


def test_an_unexpected_exception_is_a_500(lead: User, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(lead)
    monkeypatch.setattr("django.middleware.csrf.CsrfViewMiddleware.process_view", failing(KeyError("oh")))
    reply = client.get("/api/v1/projects/")
    assert (reply.status_code, reply.json()["type"]) == (500, "/problems/server-error")


@pytest.mark.row(9)
@pytest.mark.parametrize(
    "words", ["database or disk is full", 'could not extend file "base/1": No space left on device', "disk I/O error"]
)
def test_a_full_disk_is_reported_as_such(lead: User, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(lead)
    monkeypatch.setattr(SessionStore, "load", failing(OperationalError(words)))
    reply = client.get("/api/v1/me/")
    assert reply.status_code == 503
    assert "disk is full" in reply.json()["detail"]
    assert words not in reply.json()["detail"], "paths of the server are nobody's business"
