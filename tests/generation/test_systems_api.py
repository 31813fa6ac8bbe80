"""The API of systems and versions."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from generation.models import System, Version
from projects.models import Member, Project
from tests.builders import build_cluster
from tests.conftest import person
from tests.generation.builders import build_run, build_version

Client = Callable[[User], APIClient]
CONFIG = {"backend": "extractive", "decoding": {"sentences": 3}}


def post(client: APIClient, address: str, body: dict[str, Any]) -> Any:
    return client.post(f"/api/v1/{address}", body, format="json")


def test_the_form_of_every_backend_describes_available_material(
    project: Project, lead: User, client_of: Client
) -> None:
    build_cluster(project)
    reply = client_of(lead).get("/api/v1/projects/eye/backends/").json()
    assert {level["key"]: level["units"] for level in reply["levels"]} == {"proposition": 1}
    [extractive] = [backend for backend in reply["backends"] if backend["key"] == "extractive"]
    assert extractive["no_probe"]
    parameters = {p["name"]: p for section in extractive["sections"] for p in section["parameters"]}
    assert (parameters["sentences"]["takes"], parameters["sentences"]["minimum"]) == ("integer", 1)
    assert parameters["order"]["choices"][0] == "as stored"


def test_a_lead_registers_a_system_and_a_version_that_needs_no_torch(
    project: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    system = post(client, "projects/eye/systems/", {"name": "lead-3"})
    assert (system.status_code, system.json()["versions"]) == (201, [])
    reply = post(client, f"systems/{system.json()['id']}/versions/", {"config": CONFIG, "note": "first"})
    version = reply.json()
    assert (reply.status_code, version["number"], version["by"], version["before"]) == (201, 1, "Lead", None)
    assert version["hash"] == Version.objects.get().hash
    assert {"label": "Sentences", "words": "3"}.items() <= next(
        line for line in version["lines"] if line["name"] == "sentences"
    ).items()
    again = post(client, f"systems/{system.json()['id']}/versions/", {"config": CONFIG})
    assert again.json()["id"] == version["id"], "the same configuration is the same version"


def test_a_fault_is_named_by_its_field(project: Project, lead: User, client_of: Client) -> None:
    client, system = client_of(lead), System.objects.create(project=project, name="s")
    config = {"backend": "extractive", "level": "page", "decoding": {"sentences": 0, "beams": 2}}
    reply = post(client, f"systems/{system.pk}/versions/", {"config": config})
    assert reply.status_code == 422
    assert {error["field"] for error in reply.json()["errors"]} == {"level", "decoding.sentences", "decoding.beams"}
    reply = post(client, f"systems/{system.pk}/versions/", {"config": {"backend": "none"}})
    assert reply.json()["errors"][0]["field"] == "backend"
    post(client, "projects/eye/systems/", {"name": "taken"})
    reply = post(client, "projects/eye/systems/", {"name": "taken"})
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "name")
    assert not Version.objects.exists()


def test_a_version_says_in_what_it_differs_from_the_one_before(project: Project, lead: User, client_of: Client) -> None:
    build_version(project)
    second = build_version(project, decoding={"sentences": 5})
    reply = client_of(lead).get(f"/api/v1/versions/{second.pk}/").json()
    assert reply["before"]["number"] == 1
    [change] = reply["changes"]
    assert change == {"field": "decoding.sentences", "label": "Sentences", "before": "3", "after": "5"}


def test_the_list_shows_the_newest_run_and_asks_no_more_for_more_systems(
    project: Project, lead: User, client_of: Client
) -> None:
    unit = build_cluster(project).unit_id
    client = client_of(lead)

    def asked(systems: range) -> tuple[int, Any]:
        for n in systems:
            build_run(build_version(project, f"s{n}"), {unit: "a"})
            version = build_version(project, f"s{n}", seed=1)
            build_run(version, {unit: "a"})
            build_run(version, {}, failed=(unit,))
        with CaptureQueriesContext(connection) as queries:
            reply = client.get("/api/v1/projects/eye/systems/").json()
        return len(queries), reply

    few, _ = asked(range(1))
    many, reply = asked(range(1, 5))
    assert few == many
    assert reply["results"][0]["versions"][0]["metrics"] == 0
    newest = reply["results"][4]["versions"][0]
    assert (newest["number"], newest["run"]["progress"]["failed"], newest["run"]["progress"]["done"]) == (2, 1, 0)


@pytest.mark.parametrize("role", ["viewer", "curator"])
def test_viewers_and_curators_read_and_change_nothing(project: Project, client_of: Client, role: str) -> None:
    reader = person("reader")
    Member.objects.create(project=project, user=reader, role=role, pseudonym="R9")
    version, client = build_version(project), client_of(reader)
    for address in (
        "projects/eye/backends/",
        "projects/eye/systems/",
        f"systems/{version.system_id}/",
        f"versions/{version.pk}/",
        "projects/eye/outputs/",
    ):
        assert client.get(f"/api/v1/{address}").status_code == 200, address
    assert post(client, "projects/eye/systems/", {"name": "x"}).status_code == 403
    assert post(client, f"systems/{version.system_id}/versions/", {"config": CONFIG}).status_code == 403
    assert post(client, f"versions/{version.pk}/runs/", {}).status_code == 403


def test_annotators_never_see_systems(project: Project, ann1: User, evaluator: User, client_of: Client) -> None:
    version = build_version(project)
    run = build_run(version, {build_cluster(project).unit_id: "a"})
    for user in (ann1, evaluator):
        for address in (
            "projects/eye/systems/",
            f"systems/{version.system_id}/",
            f"versions/{version.pk}/",
            f"runs/{run.pk}/",
            f"runs/{run.pk}/summaries/",
            f"runs/{run.pk}/items/",
            "projects/eye/outputs/",
            "projects/eye/backends/",
        ):
            reply = client_of(user).get(f"/api/v1/{address}")
            assert (reply.status_code, "lead-3" in reply.content.decode()) == (403, False), address
