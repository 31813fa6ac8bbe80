"""Every route of the URLconf is closed to people outside of the project (reliability rows 39 and 41).

A new route with a parameter needs a case in `tests/config/routes.py`; a test fails until it has one.
"""

import uuid
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.urls import URLResolver, get_resolver, path

from accounts.models import User
from config.urls import urlpatterns
from projects.models import Project
from tests.config.other_project import OtherProject, make_other_project
from tests.config.routes import (
    ABSENT,
    API,
    CASES,
    METHODS,
    OPEN,
    api_routes,
    ask,
    client_of,
    no_ids,
    walk,
    without_case,
)

pytestmark = pytest.mark.django_db


def test_every_route_with_a_parameter_has_a_case() -> None:
    assert without_case(api_routes()) == []
    assert set(CASES) <= {route.pattern for route in api_routes()}, "a case for a route that is no more"


def test_a_new_route_without_a_case_is_noticed() -> None:
    def view(request: HttpRequest, thing_id: int) -> HttpResponse:
        return HttpResponse()

    planted = path("api/v1/things/<int:thing_id>/", view)
    resolver = URLResolver(get_resolver().pattern, [*urlpatterns, planted])  # type: ignore[list-item]
    assert without_case(api_routes(resolver)) == ["things/<int:thing_id>/"]


def test_routes_outside_the_api_that_take_a_parameter_are_the_page_and_the_admin() -> None:
    others = [p for p, _ in walk(get_resolver()) if not p.startswith((API, "admin/")) and ("<" in p or "(" in p)]
    assert others == [r"^api/(?P<rest>.*)$", r"^(?!api/|static/|admin/).*$"]


@pytest.mark.parametrize(
    "who", ["stranger", pytest.param("lead", marks=pytest.mark.long), pytest.param("ann1", marks=pytest.mark.long)]
)
@pytest.mark.row(39)
def test_objects_of_other_projects_are_not_found(
    other: OtherProject, who: str, stranger: User, lead: User, ann1: User
) -> None:
    """For a stranger, and for a lead and an annotator of another project: 404 by every method of every route, and
    nothing that tells an object that is there from one that is not."""
    client = client_of({"stranger": stranger, "lead": lead, "ann1": ann1}[who])
    before, wrong, asked = other.state(), [], 0
    for route in api_routes():
        if not route.has_parameter:
            continue
        ids = {"slug": other.project.slug} | CASES[route.pattern](other)
        absent = {
            name: "absent" if name == "slug" else uuid.uuid4() if name == "answer_uuid" else ABSENT for name in ids
        }
        # Unsupported methods are refused before anybody is identified, so one person is enough.
        for method in METHODS if who == "stranger" else sorted(route.methods - {"options", "head"}):
            reply = ask(client, method, route.address(ids), other)
            nothing = ask(client, method, route.address(absent), other)
            asked += 1
            expected = 404 if method in route.methods or (method == "head" and "get" in route.methods) else None
            if expected and method != "options" and reply.status_code != expected:
                wrong.append(f"{method} {route.pattern}: {reply.status_code}")
            if (reply.status_code, reply.content) != (nothing.status_code, nothing.content):
                wrong.append(f"{method} {route.pattern}: unlike an object that is not there")
    assert wrong == []
    assert asked > (7 * 40 if who == "stranger" else 100)
    assert other.state() == before


#: Replies that a lead may get besides 200: nothing to compare with, or a round that is open or blind.
SAYS = {
    "/accuracy/": 409,
    "/gate/": 409,
    "/ratings/": 409,
    "/ratings/examples/": 409,
    "/ratings/file/": 409,
    "/judge-figures/": 409,
    "difference/": 422,
    "/row/": 422,
    "/estimate/": 422,
    "readings/check/": 422,
    "adjudication/<int:unit_id>/": 409,
    "adjudication/gold/": 409,
}


def test_the_lead_of_the_project_gets_no_404_for_the_same_requests(other: OtherProject) -> None:
    """Otherwise the test above would pass with wrong addresses."""
    client, wrong = client_of(other.owner), []
    for route in api_routes():
        if not route.has_parameter or "get" not in route.methods:
            continue
        reply = client.get(route.address({"slug": other.project.slug} | CASES[route.pattern](other)))
        if reply.status_code not in (200, *(n for end, n in SAYS.items() if route.pattern.endswith(end))):
            wrong.append(f"{route.pattern}: {reply.status_code}")
    assert wrong == []


def test_anonymous_people_are_asked_to_sign_in(other: OtherProject) -> None:
    client, wrong = client_of(None), []
    for route in api_routes():
        case = CASES.get(route.pattern, no_ids)
        address = route.address({"slug": other.project.slug} | case(other))
        for method in route.methods - {"options", "head"} - OPEN.get(route.pattern, set()):
            reply = ask(client, method, address, other)
            if reply.status_code != 401 or reply.json()["type"] != "/problems/not-authenticated":
                wrong.append(f"{method} {route.pattern}: {reply.status_code}")
    assert wrong == []


@pytest.mark.row(39)
def test_ids_of_another_project_are_refused_under_the_own_project(
    other: OtherProject, project: Project, lead: User
) -> None:
    """A lead names another project's object in the address or body of their own project."""
    client, mine = client_of(lead), make_other_project(project, lead)
    before = other.state()
    below: list[tuple[str, str, dict[str, Any] | None]] = [
        ("patch", f"projects/eye/members/{other.worker.pk}/", {"role": "viewer"}),
        ("delete", f"projects/eye/members/{other.worker.pk}/", None),
        ("delete", f"projects/eye/invitations/{other.invitation.pk}/", None),
        ("get", f"projects/eye/guidelines/{other.round.guideline_id}/", None),
        ("delete", f"rounds/{mine.round.pk}/people/{other.worker.pk}/", None),
        ("post", f"rounds/{mine.round.pk}/people/", {"member": other.worker.pk}),
    ]
    for method, address, body in below:
        assert getattr(client, method)(f"/{API}{address}", body, format="json").status_code == 404, address
    plan = {"name": "theft", "kind": "label", "purpose": "gold", "overlap": 1, "people": [mine.worker.pk]}
    inside: list[tuple[str, dict[str, Any], str]] = [
        ("projects/eye/rounds/", plan | {"people": [other.worker.pk]}, "people"),
        ("projects/eye/rounds/", plan | {"guideline": other.round.guideline_id}, "guideline"),
        ("projects/eye/imports/confirm/", {"job": other.job.pk}, "job"),
    ]
    for address, body, field in inside:
        reply = client.post(f"/{API}{address}", body, format="json")
        assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, field), address
    assert other.state() == before


def test_the_admin_is_for_staff(other: OtherProject, stranger: User, lead: User) -> None:
    asked = 0
    for pattern, _ in walk(get_resolver()):
        if not pattern.startswith("admin/") or "login" in pattern or "logout" in pattern:
            continue
        address = "/" + pattern.replace("<path:object_id>", "1").replace("<path:content_type_id>", "1")
        address = address.replace("<path:object_id>", "1")
        if "(" in address or "<" in address:
            continue
        for user in (None, stranger, lead):
            reply = client_of(user).get(address)
            assert reply.status_code in (302, 404), address
            assert reply.status_code == 404 or "/admin/login/" in reply["Location"], address
        asked += 1
    assert asked > 5
