"""The audit trail is filtered by object, person, verb and day, and paged."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import User
from audit.log import record
from projects.models import Member, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def read(client_of: Callable[[User], APIClient], lead: User, ann1: User, project: Project) -> Callable[..., list[str]]:
    for user, verb, number in ((lead, "open round", 1), (ann1, "join round", 1), (lead, "open round", 2)):
        record(actor=user, verb=verb, object_type="round", object_id=number, project_id=project.pk)
    client = client_of(lead)

    def read(**query: Any) -> list[str]:
        reply = client.get(f"/api/v1/projects/{project.slug}/audit/", query)
        assert reply.status_code == 200, reply.json()
        return [f"{row['verb']} {row['object_id']}" for row in reply.json()["results"]]

    return read


def test_entries_are_found_by_object_person_and_verb(read: Callable[..., list[str]], ann1: User) -> None:
    assert read() == ["open round 2", "join round 1", "open round 1"]
    assert read(object_type="round", object_id="1") == ["join round 1", "open round 1"]
    assert read(verb="open round") == ["open round 2", "open round 1"]
    assert read(person=Member.objects.get(user=ann1).pk) == ["join round 1"]
    assert read(since="2999-01-01") == []
    assert len(read(until="2999-01-01")) == 3


def test_bad_filters_are_named(client_of: Callable[[User], APIClient], lead: User, project: Project) -> None:
    client = client_of(lead)
    for name, value in (("person", "x"), ("before", "-1"), ("since", "yesterday")):
        reply = client.get(f"/api/v1/projects/{project.slug}/audit/", {name: value})
        assert reply.status_code == 422
        assert reply.json()["errors"][0]["field"] == name
