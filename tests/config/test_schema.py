"""The OpenAPI schema is valid and complete, and documents errors."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from accounts.models import User
from api.problems import CONTENT_TYPE
from config.views import DescriptionView

VERBS = ("get", "put", "post", "patch", "delete")
Operation = dict[str, Any]


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    """The committed schema; the stage `schema` regenerates and compares it."""
    return dict(yaml.load((settings.ROOT / "frontend" / "schema.yml").read_bytes(), Loader=yaml.CSafeLoader))


def operations(described: dict[str, Any]) -> Iterator[tuple[str, str, Operation]]:
    for path, verbs in described["paths"].items():
        for verb in VERBS:
            if verb in verbs:
                yield path, verb, verbs[verb]


def test_the_schema_is_openapi_3_1(described: dict[str, Any]) -> None:
    assert described["openapi"].startswith("3.1")


def test_operations_have_names_of_their_own(described: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(described)]
    assert len(names) > 40
    assert len(set(names)) == len(names)
    assert not [name for name in names if name[-1].isdigit()], "a name that collided was numbered"


def test_every_operation_says_what_it_does_and_what_it_gives(described: dict[str, Any]) -> None:
    for path, verb, operation in operations(described):
        place = f"{verb.upper()} {path}"
        assert operation.get("description"), f"{place} does not say what it does"
        good = {code: reply for code, reply in operation["responses"].items() if code.startswith("2")}
        assert good, f"{place} has no success"
        for code, reply in good.items():
            assert code in ("204", "205") or reply.get("content"), f"{place}: {code} has no shape"


def test_every_operation_names_the_problems_it_can_answer_with(described: dict[str, Any]) -> None:
    for path, verb, operation in operations(described):
        replies = operation["responses"]
        expected = {"401", "503"} | ({"403", "404"} if "{" in path else set())
        if verb in ("post", "put", "patch"):
            expected |= {"400", "403", "409", "422"}
        if verb == "delete":
            expected |= {"403", "409"}
        assert expected <= set(replies), f"{verb.upper()} {path} lacks {sorted(expected - set(replies))}"
        for code, reply in replies.items():
            if code.startswith(("4", "5")):
                shape = reply["content"][CONTENT_TYPE]["schema"]
                assert shape == {"$ref": "#/components/schemas/Problem"}, f"{verb.upper()} {path}: {code}"


def test_a_problem_has_the_described_shape(described: dict[str, Any], lead: User, client_of: Any) -> None:
    shape = described["components"]["schemas"]["Problem"]
    item = described["components"]["schemas"]["ProblemError"]
    reply = client_of(lead).post("/api/v1/projects/", {"name": ""}, format="json")
    assert (reply.status_code, reply.headers["Content-Type"]) == (422, CONTENT_TYPE)
    problem = reply.json()
    assert set(problem) == set(shape["properties"])
    assert set(shape["required"]) == set(problem) - {"errors"}
    assert problem["status"] == 422
    assert problem["errors"]
    assert all(set(error) == set(item["properties"]) for error in problem["errors"])
    assert {error["field"] for error in problem["errors"]} == {"name"}


def test_the_description_is_served_to_everybody(client: Any, db: None) -> None:
    reply = client.get("/api/v1/schema/")
    assert reply.status_code == 200
    assert b"openapi: 3.1" in reply.content


@pytest.mark.row(45)
def test_the_description_is_written_once_whoever_asks_for_it(
    client: Any, described: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def counted(self: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(1)
        return described

    monkeypatch.setattr(DescriptionView, "written", {})
    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    replies = [client.get("/api/v1/schema/", query) for query in ({}, {"version": "2"}, {"lang": "de"}, {})]
    assert len({reply.content for reply in replies}) == 1
    as_json = client.get("/api/v1/schema/", {"format": "json"}, HTTP_ACCEPT="application/json")
    assert as_json.json()["openapi"].startswith("3.1")
    assert len(made) == 2, "once as YAML and once as JSON"
