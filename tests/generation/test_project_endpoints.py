"""Endpoints of a project: who adds one, which addresses are allowed, and where the key never appears."""

import json
import socket
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any

import pytest
from django.conf import LazySettings
from rest_framework.test import APIClient

from accounts.models import User
from api.outgoing.transport import Limits
from audit.models import Entry
from generation.backends.openai.client import Client, RequestGroup
from generation.backends.protocol import BackendError
from generation.endpoints import parse
from generation.models import ProjectEndpoint
from generation.project_endpoints.access import stored
from projects.models import Project

pytestmark = pytest.mark.django_db
KEY = "sk-very/secret-5f3a"
NEW: dict[str, Any] = {"name": "api", "url": "https://models.example.com/v1", "key": KEY, "models": ["m-1"]}


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve public names to a public address, and others as they are."""
    addresses = {"models.example.com": "93.184.215.14", "intranet.example.com": "10.1.2.3"}
    resolve = socket.getaddrinfo

    def resolved(host: str, *given: Any, **named: Any) -> Any:
        return resolve(addresses.get(host, host), *given, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolved)


def address(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/endpoints/"


def test_a_key_is_never_returned_logged_or_stored_in_the_clear(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    client = client_of(lead)
    reply = client.post(address(project), NEW, format="json")
    assert reply.status_code == 201
    assert reply.json()["has_key"]
    assert reply.json()["is_outside"]
    row = ProjectEndpoint.objects.get()
    assert stored(row).key() == KEY
    everything = json.dumps([reply.json(), client.get(address(project)).json()])
    everything += str(list(Entry.objects.values())) + str(ProjectEndpoint.objects.values()) + repr(stored(row))
    assert "5f3a" not in everything
    assert client.delete(f"/api/v1/endpoints/{row.pk}/").status_code == 204
    row.refresh_from_db()
    assert row.encrypted_key == ""
    assert client.delete(f"/api/v1/endpoints/{row.pk}/").status_code == 404


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://127.0.0.1/v1", "private"),
        ("https://localhost/v1", "private"),
        ("https://10.0.0.5/v1", "private"),
        ("https://intranet.example.com/v1", "private"),
        ("https://169.254.169.254/latest", "never allowed"),
        ("http://models.example.com/v1", "Use https"),
        ("https://user:pass@models.example.com/v1", "must not contain a user"),
        ("ftp://models.example.com", "must begin with http"),
        ("https://models.example.com:99999/v1", "Port out of range"),
    ],
)
def test_a_lead_may_not_name_a_private_address(
    project: Project, lead: User, client_of: Callable[[User], APIClient], url: str, reason: str
) -> None:
    reply = client_of(lead).post(address(project), NEW | {"url": url}, format="json")
    assert reply.status_code == 422
    assert reason in reply.content.decode()
    assert "5f3a" not in reply.content.decode()


def test_a_network_that_the_administrator_lists_is_allowed(
    project: Project, lead: User, client_of: Callable[[User], APIClient], settings: LazySettings
) -> None:
    settings.GENERATION_NETWORKS = [ip_network("10.0.0.0/8")]
    reply = client_of(lead).post(address(project), NEW | {"url": "http://10.0.0.5:8000/v1"}, format="json")
    assert reply.status_code == 201
    assert not reply.json()["is_outside"]


def test_a_name_that_leads_to_a_private_address_later_is_refused_then(project: Project) -> None:
    row = ProjectEndpoint.objects.create(project=project, name="api", url="https://intranet.example.com/v1")
    client = Client(stored(row), [], Limits(total=2))
    with pytest.raises(BackendError, match="private"):
        client.complete({"model": "m"}, RequestGroup())


def test_the_administrators_own_endpoints_keep_their_private_addresses(settings: LazySettings) -> None:
    inside = parse("a=http://127.0.0.1:1/v1,b=http://ollama:11434/v1,c=http://gpu.internal/v1,d=http://10.0.0.5/v1")
    assert [one.is_outside for one in inside.values()] == [False] * 4
    # Resolvers read "134744072" as 8.8.8.8.
    outside = parse("a=https://api.example.com/v1,b=https://93.184.215.14/v1,c=http://134744072/v1,d=http://0x8080808/")
    assert [one.is_outside for one in outside.values()] == [True] * 4


@pytest.mark.parametrize("wrong", [{"price_in": "1"}, {"currency": "EUR"}, {"name": "a b"}, {"key": "with space"}])
def test_other_fields_are_checked(
    project: Project, lead: User, client_of: Callable[[User], APIClient], wrong: dict[str, Any]
) -> None:
    assert client_of(lead).post(address(project), NEW | wrong, format="json").status_code == 422


def test_only_leads_add_one(project: Project, ann1: User, client_of: Callable[[User], APIClient]) -> None:
    assert client_of(ann1).post(address(project), NEW, format="json").status_code == 403
