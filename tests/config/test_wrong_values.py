"""Numbers that no database can hold are refused with a message in every address, and never cause a failure."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings

from accounts.models import User
from projects.models import Project
from tests.config.other_project import OtherProject
from tests.config.routes import API, CASES, api_routes, ask, client_of, no_ids

pytestmark = pytest.mark.django_db
PROBLEM = "application/problem+json"


@pytest.mark.row(40)
@pytest.mark.parametrize(
    "number", [2**63, pytest.param(-(2**63) - 1, marks=pytest.mark.long), pytest.param(10**400, marks=pytest.mark.long)]
)
def test_integers_of_more_than_64_bits_are_refused_wherever_they_stand(
    number: int, other: OtherProject, project: Project
) -> None:
    client = client_of(other.owner)
    slug = other.project.slug
    tries: list[tuple[str, str, Any]] = [
        ("put", f"answers/{other.answer.pk}/", other.submission() | {"have": [number]}),
        ("put", f"answers/{other.answer.pk}/", other.submission() | {"assignment": number}),
        ("post", f"projects/{slug}/rounds/preview/", {"people": [number]}),
        ("post", f"reviews/{other.cluster.review_id}/corrections/", {"rows": [{"unit": number}]}),
        ("patch", "me/", {"preferences": {"theme": [number]}}),
    ]
    for method, address, body in tries:
        reply = getattr(client, method)(f"/{API}{address}", body, format="json")
        assert reply.status_code == 400, address


@pytest.mark.row(40)
def test_too_large_ids_written_as_text_are_not_found(other: OtherProject, ann1: User) -> None:
    client, number = client_of(other.owner), str(10**30)
    plan = {"name": "x", "kind": "label", "purpose": "gold", "overlap": 1, "people": [number]}
    slug = other.project.slug
    for address, body in [
        (f"projects/{slug}/rounds/preview/", plan),
        (f"projects/{slug}/rounds/", plan),
        (f"projects/{slug}/elsewhere/import/", {"job": number, "name": "x", "purpose": "gold"}),
        (f"rounds/{other.round.pk}/sheet/", {"person": number}),
        (f"rounds/{other.round.pk}/sheet/import/", {"job": number}),
        (f"rounds/{other.round.pk}/people/", {"member": number}),
        (f"projects/{slug}/imports/confirm/", {"job": number}),
    ]:
        reply = client.post(f"/{API}{address}", body, format="json")
        assert reply.status_code in (404, 422), address
    reply = client.put(f"/{API}answers/{other.answer.pk}/", other.submission() | {"have": [number]}, format="json")
    assert reply.status_code == 422


@pytest.mark.row(40)
@pytest.mark.parametrize(
    "odd",
    [
        "nan",
        pytest.param("NaN", marks=pytest.mark.long),
        pytest.param("inf", marks=pytest.mark.long),
        pytest.param("-Infinity", marks=pytest.mark.long),
        pytest.param("1e999", marks=pytest.mark.long),
    ],
)
def test_a_share_that_compares_with_nothing_is_refused(odd: str, other: OtherProject) -> None:
    client, slug = client_of(other.owner), other.project.slug
    plan = {
        "name": "x",
        "kind": "label",
        "purpose": "gold",
        "overlap": 1,
        "people": [other.worker.pk],
        "block_overlap": 2,
    }
    act = {"uuid": str(other.answer.pk), "units": 1, "reason": "So."}
    tries: list[tuple[str, dict[str, Any]]] = [
        (f"projects/{slug}/rounds/{below}", plan | {share: odd})
        for share in ("block_share", "repeat_share")
        for below in ("", "totals/", "preview/")
    ]
    for address, body in [*tries, (f"rounds/{other.round.pk}/adjudication/at-once/", act | {"agreement": odd})]:
        reply = client.post(f"/{API}{address}", body, format="json")
        assert (reply.status_code, reply["Content-Type"]) == (422, PROBLEM), address


#: Invalid digits, digits of other scripts, numbers beyond any database or `int`, and undecodable text.
ODD = ("²", "1,²", "٣", "९", "9" * 30, "9" * 5000, "-1", "1e3", "", "NaN", "\0", "\U0001f600", "10000-01-01")


def queries() -> Iterator[tuple[str, list[str]]]:
    """Return (address, names of its query parameters) of every GET in the schema."""
    written = Path(settings.ROOT, "frontend", "schema.yml").read_text(encoding="utf-8")
    for address, operations in yaml.load(written, Loader=yaml.CSafeLoader)["paths"].items():
        asked = operations.get("get", {}).get("parameters", [])
        if names := [one["name"] for one in asked if one["in"] == "query"]:
            yield address.removeprefix(f"/{API}"), names


@pytest.mark.long
@pytest.mark.row(40)
def test_no_query_parameter_causes_a_server_error(other: OtherProject) -> None:
    client, asked, wrong = client_of(other.owner), 0, []
    client.raise_request_exception = False
    patterns = {re.sub(r"<\w+:(\w+)>", r"{\1}", route.pattern): route for route in api_routes()}
    paging: dict[str, str | list[str]] = {}
    for template, names in queries():
        route = patterns[template]
        address = route.address({"slug": other.project.slug} | CASES.get(route.pattern, no_ids)(other))
        for odd in ODD:
            # All lists share the paging, so one address is enough.
            tries: list[Any] = [{name: odd} for name in names if not (name.startswith("page") and name in paging)]
            for query in [*tries, {names[0]: [odd, "1"]}]:
                reply = client.get(address, query)
                asked += 1
                if reply.status_code >= 500 or (reply.status_code != 200 and reply["Content-Type"] != PROBLEM):
                    wrong.append(f"{address} {ascii(query)[:60]}: {reply.status_code}")
        paging |= dict.fromkeys(names, "")
    assert wrong == []
    assert asked > 300


@pytest.mark.row(40)
def test_no_number_in_an_address_causes_a_server_error(other: OtherProject) -> None:
    client, asked, wrong = client_of(other.owner), 0, []
    client.raise_request_exception = False
    for route in api_routes():
        if "<int:" not in route.pattern:
            continue
        ids = {"slug": other.project.slug} | CASES[route.pattern](other)
        for number in ("0", str(2**63), "9" * 5000):
            numbers = {name: number if f"<int:{name}>" in route.pattern else value for name, value in ids.items()}
            for method in route.methods - {"options", "head"}:
                reply = ask(client, method, route.address(numbers), other)
                asked += 1
                if not 400 <= reply.status_code < 500 or reply["Content-Type"] != PROBLEM:
                    wrong.append(f"{method} {route.pattern} {number[:20]}: {reply.status_code}")
    assert wrong == []
    assert asked > 100
