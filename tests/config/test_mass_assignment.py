"""Every documented request body, sent with fields that only the server may set (reliability row 40).

The test follows the OpenAPI schema, so new routes are included.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from yaml import CSafeLoader, load

from accounts.models import User
from audit.actions import create_checkpoints
from audit.verify import findings
from projects.models import Answer, Decision, Member, Project
from tests.config.other_project import OtherProject, make_other_project
from tests.config.routes import API, CASES, api_routes, client_of, no_ids

pytestmark = [pytest.mark.django_db, pytest.mark.row(40)]
#: Fields that only the server sets: rights, authorship, times, log positions.
SERVERS = {
    "is_staff",
    "is_superuser",
    "is_active",
    "author",
    "author_id",
    "created_by",
    "created_by_id",
    "decided_by",
    "actor",
    "received_at",
    "created_at",
    "opened_at",
    "closed_at",
    "accepted_at",
    "checkpoint",
    "checkpoint_id",
    "digest",
    "body_digest",
    "pseudonym",
    "project_id",
    "user",
    "user_id",
    "token_hash",
    "password_hash",
    "illustrative",
    "snapshot_hash",
    "manifest",
    "folder",
    "fence",
    "attempts",
    "leased_until",
}
#: The digest of the text that a person has read and consents to.
AGREED_TO = {("AgreeRequest", "digest"), ("TakeRequest", "digest")}
#: A lead chooses the role of a person; in the plan of a round it is the role of a proposition.
NAME_A_ROLE = ("/invitations/", "/members/", "/rounds/", "/links/")


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    """The committed OpenAPI schema; another test compares it with the code."""
    described: dict[str, Any] = load((settings.ROOT / "frontend" / "schema.yml").read_bytes(), Loader=CSafeLoader)
    return described


def bodies(schema: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Return (path, method, schema of the JSON body) of every write."""
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}) if isinstance(operation, dict) else {}
            if "application/json" in content:
                yield path, method, content["application/json"]["schema"]


def resolved(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    return part


def properties(schema: dict[str, Any], part: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, str]]:
    """Return (component, property) of a body, recursively."""
    called = part.get("$ref", "").rpartition("/")[2]
    part = resolved(schema, part)
    if depth > 8:
        return
    for inner in (*part.get("oneOf", ()), *part.get("anyOf", ()), *part.get("allOf", ())):
        yield from properties(schema, inner, depth + 1)
    for name, inner in part.get("properties", {}).items():
        if not inner.get("readOnly"):
            yield called, name
            yield from properties(schema, inner, depth + 1)
    if isinstance(part.get("items"), dict):
        yield from properties(schema, part["items"], depth + 1)


def sample(schema: dict[str, Any], part: dict[str, Any], depth: int = 0) -> Any:
    """Return a minimal value of a schema."""
    part = resolved(schema, part)
    for key in ("oneOf", "anyOf", "allOf"):
        if part.get(key):
            return sample(schema, part[key][0], depth + 1)
    if "enum" in part:
        return part["enum"][0]
    if "const" in part:
        return part["const"]
    kind = part.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    match kind:
        case "object":
            inner = part.get("properties", {}) if depth < 6 else {}
            return {name: sample(schema, p, depth + 1) for name, p in inner.items() if not p.get("readOnly")}
        case "array":
            return [sample(schema, part["items"], depth + 1)] if depth < 6 else []
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "null":
            return None
    return "someone@example.org" if part.get("format") == "email" else "x1"


def test_no_request_body_has_fields_that_only_the_server_sets(schema: dict[str, Any]) -> None:
    found = {
        (path, method, component, name)
        for path, method, body in bodies(schema)
        for component, name in properties(schema, body)
    }
    assert len(found) > 60
    assert {entry for entry in found if entry[3] in SERVERS and entry[2:] not in AGREED_TO} == set()
    assert [p for p, _, _, name in found if name == "role" and not any(part in p for part in NAME_A_ROLE)] == []


@pytest.mark.long
def test_extra_fields_in_bodies_change_no_rights_authors_or_other_projects(
    schema: dict[str, Any], other: OtherProject, project: Project, lead: User, ann1: User
) -> None:
    mine = make_other_project(project, lead)
    described = {(path, method): body for path, method, body in bodies(schema)}
    extra = dict.fromkeys(SERVERS, 1) | {
        "role": "lead",
        "project": other.project.pk,
        "project_id": other.project.pk,
        "author": other.worker.pk,
        "user": other.owner.pk,
        "received_at": "2001-01-01T00:00:00Z",
        "pseudonym": "HACK",
        "digest": "0" * 64,
    }
    theirs, rights = other.state(), _rights()
    authors = dict(Answer.objects.values_list("pk", "author"))
    tried, wrong = 0, []
    for route in api_routes():
        address = route.address({"slug": project.slug} | CASES.get(route.pattern, no_ids)(mine))
        for method in sorted(route.methods & {"post", "put", "patch"}):
            key = ("/" + API + _braces(route.pattern), method)
            body = sample(schema, described[key]) if key in described else {}
            for user in (lead, ann1):
                reply = getattr(client_of(user), method)(address, {**body, **extra}, format="json")
                tried += 1
                if reply.status_code >= 500:
                    wrong.append(f"{method} {route.pattern}: {reply.status_code}")
            if (now := other.state()) != theirs:
                wrong.append(f"{method} {route.pattern}: another project was changed")
                theirs = now
            if (have := _rights()) != rights and not _is_about_roles(route.pattern):
                wrong.append(f"{method} {route.pattern}: rights were changed")
            rights = have
    assert not wrong, wrong
    assert tried > 40
    assert {pk: a for pk, a in Answer.objects.values_list("pk", "author") if pk in authors} == authors
    assert not Answer.objects.filter(received_at__year=2001).exists()
    assert not Decision.objects.filter(decided_by=other.owner).exists()
    assert not Member.objects.filter(pseudonym="HACK").exists()
    create_checkpoints()
    assert list(findings()) == []


def _rights() -> tuple[set[Any], set[Any]]:
    return (
        set(User.objects.filter(is_superuser=True) | User.objects.filter(is_staff=True)),
        set(Member.objects.filter(role="lead", left_at=None).values_list("project__slug", "user")),
    )


def _is_about_roles(pattern: str) -> bool:
    """Routes on which a lead may set roles; the creator of a project becomes its lead."""
    return "members/" in pattern or pattern == "projects/"


def _braces(pattern: str) -> str:
    out = pattern
    for kind in ("int", "slug", "uuid", "path", "str"):
        out = out.replace(f"<{kind}:", "{")
    return out.replace(">", "}")
