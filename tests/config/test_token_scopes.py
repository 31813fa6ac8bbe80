"""Every route and method of the API, requested with a token of each scope."""

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from accounts.actions import make_token
from accounts.permissions import ORDER
from tests.config.other_project import OtherProject
from tests.config.routes import CASES, OPEN, Route, api_routes, ask, no_ids

pytestmark = pytest.mark.django_db
READING = {"get", "head", "options"}
#: Work in rounds is allowed for tokens with the scope *annotate*; all other changes need *lead*.
ANNOTATING = {
    ("get", "rounds/<int:round_id>/next/"),
    ("head", "rounds/<int:round_id>/next/"),
    ("options", "rounds/<int:round_id>/next/"),
    ("put", "answers/<uuid:answer_uuid>/"),
}


def needed(method: str, route: Route) -> str:
    if (method, route.pattern) in ANNOTATING:
        return "annotate"
    return "read" if method in READING else "lead"


@pytest.mark.parametrize("scope", [ORDER[0], *(pytest.param(scope, marks=pytest.mark.long) for scope in ORDER[1:])])
def test_a_token_does_what_its_scope_says_on_every_route(other: OtherProject, scope: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(user=other.owner, name='script', scope=scope)[1]}")
    wrong, refused, allowed = [], 0, 0
    for route in api_routes():
        address = route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other))
        for method in sorted(route.methods - OPEN.get(route.pattern, set())):
            with transaction.atomic():
                reply = ask(client, method, address, other)
                transaction.set_rollback(True)
            is_refused = reply.status_code == 403 and b"API token has the scope" in getattr(reply, "content", b"")
            if method == "head":
                is_refused = reply.status_code == 403
            should_be = list(ORDER).index(scope) < list(ORDER).index(needed(method, route))  # type: ignore[arg-type]
            refused, allowed = refused + is_refused, allowed + (not is_refused)
            if is_refused != should_be:
                wrong.append(f"{method} {route.pattern}: {reply.status_code}")
    assert wrong == []
    assert allowed > 100
    assert (refused > 50) == (scope != "lead")
