"""Unexpected fields in bodies and queries (reliability row 40, and the leak of CVE-2023-47117)."""

import json
import uuid
from collections.abc import Iterable
from typing import Any

import pytest

from accounts.models import User
from projects.models import Member, Project
from tests.config.other_project import OtherProject, make_other_project
from tests.config.routes import API, CASES, api_routes, client_of, no_ids
from tests.config.test_roles import PLAN

pytestmark = pytest.mark.django_db


@pytest.mark.long
@pytest.mark.row(40)
def test_request_bodies_cannot_set_protected_fields(
    other: OtherProject, project: Project, lead: User, ann1: User
) -> None:
    """Extra fields are refused (422) or ignored: no role, staff flag, project, author or embargo comes from a body."""
    mine = make_other_project(project, lead)
    mine_worker = project.members.get(user=ann1)
    extra = {
        "role": "lead",
        "is_staff": True,
        "is_superuser": True,
        "is_active": False,
        "project": other.project.pk,
        "project_id": other.project.pk,
        "author": other.worker.pk,
        "author_id": other.worker.pk,
        "user": other.owner.pk,
        "created_by": other.owner.pk,
        "illustrative": True,
        "checkpoint": 1,
        "digest": "0" * 64,
        "status": "closed",
        "received_at": "2001-01-01T00:00:00Z",
        "pseudonym": "HACK",
        "person": other.worker.pk,
        "number": -1,
    }
    card = client_of(mine.worker.user).get(f"/{API}rounds/{mine.round.pk}/next/").json()["fetched"][0]
    submission = mine.submission() | {"assignment": card["assignment"]}
    writes: list[tuple[User, str, str, dict[str, Any]]] = [
        (ann1, "patch", "me/", {"name": "New"}),
        (ann1, "post", "me/tokens/", {"name": "t"}),
        (lead, "post", "projects/", {"name": "Fresh", "slug": "fresh"}),
        (lead, "patch", "projects/eye/", {"description": "d"}),
        (lead, "post", "projects/eye/guidelines/", {"kind": "label", "text": "t"}),
        (lead, "post", "projects/eye/rounds/", {**PLAN, "people": [mine.worker.pk]}),
        (lead, "post", "projects/eye/releases/", {"version": "3.0.0"}),
        (lead, "post", f"rounds/{mine.round.pk}/people/", {"member": mine_worker.pk}),
        (mine.worker.user, "put", f"answers/{uuid.uuid4()}/", submission),
        (
            lead,
            "post",
            f"units/{mine.answer.assignment.unit_id}/corrections/",
            {"kind": "label", "reason": "r", "value": submission["value"]},
        ),
    ]
    before = other.state()
    users = set(User.objects.values_list("pk", "is_staff", "is_superuser", "is_active"))
    roles = set(Member.objects.exclude(project__slug="fresh").values_list("pk", "role", "project", "pseudonym"))
    accepted = 0
    for user, method, address, body in writes:
        reply = getattr(client_of(user), method)(f"/{API}{address}", {**extra, **body}, format="json")
        assert reply.status_code in (200, 201, 202, 204, 422), f"{address}: {reply.status_code}"
        accepted += reply.status_code < 300
        plain = getattr(client_of(user), method)(f"/{API}{address}", body, format="json")
        assert plain.status_code < 500
        assert other.state() == before, f"{address}: something of the other project has changed"
        assert set(User.objects.values_list("pk", "is_staff", "is_superuser", "is_active")) == users, address
        known = Member.objects.exclude(project__slug="fresh")
        assert set(known.values_list("pk", "role", "project", "pseudonym")) == roles, address
    assert accepted >= 3, "bodies that are ignored in part must be among those tried"
    answer = mine.round.assignments.get(pk=card["assignment"]).answers.get()
    assert (answer.author, answer.checkpoint_id, answer.received_at.year > 2001) == (mine.worker, None, True)
    assert not Project.objects.exclude(pk=other.project.pk).filter(illustrative=True).exists()
    assert not set(project.rounds.values_list("status", flat=True)) - {"open"}


QUERIES = (
    "user__password__startswith=a",
    "members__user__password__startswith=p",
    "project=1",
    "role__in=lead",
    "created_by__email__contains=o",
    "ordering=user__password",
    "ordering=-created_by__password",
    "order_by=id",
    "sort=password",
    "search=",
    "fields=password",
    "expand=user",
    "page_size=100000",
    "limit=100000",
    "author__user__email=x",
    "id__gt=0",
    "q=%27%20OR%201%3D1",
    "unit__answers__comment__regex=.*",
    "format=api",
)


@pytest.mark.long
def test_unknown_query_parameters_change_nothing(other: OtherProject) -> None:
    """The leak of Label Studio's CVE-2023-47117: a filter key that follows relations to a password."""
    client, wrong, asked = client_of(other.owner), [], 0
    refused: set[str] = set()
    for route in api_routes():
        if "get" not in route.methods or route.pattern == "schema/":
            continue
        address = route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other))
        plain = client.get(address)
        if plain.status_code != 200 or plain.streaming:
            continue
        steady = _steady(plain.content)
        # Known refused keys are sent alone, others in halves if they are refused together, because one refused key
        # hides the effect of others.
        for group in [*_together(q for q in QUERIES if q not in refused), *([q] for q in QUERIES if q in refused)]:
            asked += len(group)
            waiting = [group]
            while waiting:
                queries = waiting.pop()
                reply = client.get(f"{address}?{'&'.join(queries)}")
                if reply.status_code not in (400, 404, 422):
                    if _steady(reply.content) != steady:
                        wrong.append(f"{route.pattern}?{'&'.join(queries)}: {reply.status_code}")
                elif len(queries) > 1:
                    half = len(queries) // 2
                    waiting += [queries[:half], queries[half:]]
                else:
                    refused.update(queries)
    assert wrong == []
    assert asked > 15 * len(QUERIES)


def _together(queries: Iterable[str]) -> list[list[str]]:
    """Group keys into as few queries as possible without duplicates, of which only the last would be read."""
    made: list[dict[str, str]] = []
    for query in queries:
        key = query.partition("=")[0]
        room = next((those for those in made if key not in those), None)
        if room is None:
            made.append(room := {})
        room[key] = query
    return [list(those.values()) for those in made]


def _steady(content: bytes) -> Any:
    """Return a reply without links and time stamps; files as they are."""
    try:
        found = json.loads(content) if content else None
    except ValueError:
        return content
    if isinstance(found, dict):
        found = {k: v for k, v in found.items() if k not in ("next", "previous", "as_of")}
    return found
