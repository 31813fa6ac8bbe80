"""The API of protocols: templates, drafts, versions, and files that are equal in another project."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from evaluation.models import Protocol
from evaluation.protocols import shipped
from evaluation.protocols.actions import create_protocol, write_version
from evaluation.protocols.content import as_json
from projects.models import Member, Project
from tests.evaluation.protocol_drafts import criterion, protocol

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]
DRAFT = protocol(criterion())


def post(client: APIClient, address: str, body: dict[str, Any]) -> Any:
    return client.post(f"/api/v1/{address}", body, format="json")


def test_a_new_project_has_templates_and_no_protocol_of_its_own_until_one_is_taken(
    project: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)
    assert client.get("/api/v1/projects/eye/protocols/").json()["results"] == []
    templates = client.get("/api/v1/projects/eye/protocols/templates/").json()
    assert [template["key"] for template in templates] == list(shipped.KEYS)
    taken = post(client, "projects/eye/protocols/", {"name": "Ours", "content": templates[0]["content"]})
    assert (taken.status_code, taken.json()["number"], taken.json()["unready"]) == (201, 1, [])
    [row] = client.get("/api/v1/projects/eye/protocols/").json()["results"]
    assert (row["name"], row["kind"], row["versions"][0]["by"]) == ("Ours", "rate", "Lead")
    assert client.get(f"/api/v1/protocols/{row['id']}/").json() == row


def test_a_draft_is_checked_without_being_stored(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    checked = post(client, "projects/eye/protocols/check/", {"content": protocol(criterion(key="No"))}).json()
    assert checked["faults"][0]["field"] == "criteria.0.key"
    assert (checked["content"], checked["digest"]) == (None, "")
    draft = protocol(criterion(question=""), instructions="*Read* first.<script>")
    checked = post(client, "projects/eye/protocols/check/", {"content": draft}).json()
    assert checked["unready"] == [{"field": "criteria.0.question", "message": "Coherence has no question."}]
    assert (checked["faults"], checked["content"]["criteria"][0]["frame"]) == ([], "source")
    assert "<em>Read</em>" in checked["instructions_html"]
    assert "<script" not in checked["instructions_html"]
    assert not Protocol.objects.exists()
    for body in ({}, {"content": DRAFT, "more": 1}):
        assert post(client, "projects/eye/protocols/check/", body).status_code == 422


def test_a_checked_draft_lists_the_possible_meanings_of_its_options(
    project: Project, lead: User, client_of: Client
) -> None:
    def scales(key: str) -> Any:
        draft = {"content": as_json(shipped.get(key).content)}
        return post(client_of(lead), "projects/eye/protocols/check/", draft).json()["scales"]

    assert scales("m3-table-5-blind") == {
        "polarity": ["positive", "no effect", "negative", "n/a"],
        "modality": ["strong", "moderate", "weak", "no evidence"],
    }
    assert scales("ms2-direction") == {"direction": ["skip"]}
    assert scales("guideline") == {}


def test_a_version_is_written_and_the_protocol_renamed(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    first = post(client, "projects/eye/protocols/", {"name": "Ours", "content": DRAFT, "note": "first"}).json()
    address = f"protocols/{first['protocol']}/"
    second = post(client, f"{address}versions/", {"content": protocol(criterion(), criterion("b"))}).json()
    assert (second["number"], [v["number"] for v in second["versions"]]) == (2, [2, 1])
    assert post(client, f"{address}versions/", {"content": second["content"]}).json()["id"] == second["id"]
    refused = post(client, f"{address}versions/", {"content": protocol(criterion(na=2))})
    assert (refused.status_code, refused.json()["errors"]) == (
        422,
        [{"field": "content.criteria.0.na", "message": "Expected true or false."}],
    )
    renamed = client.patch(f"/api/v1/{address}", {"name": "Order"}, format="json").json()
    assert (renamed["name"], [v["number"] for v in renamed["versions"]]) == ("Order", [2, 1])
    assert client.get(f"/api/v1/protocol-versions/{first['id']}/").json()["name"] == "Order"


@pytest.mark.parametrize("key", shipped.KEYS)
def test_an_export_imported_into_another_project_is_equal(
    key: str, project: Project, lead: User, client_of: Client
) -> None:
    client, other = client_of(lead), Project.objects.create(slug="ear", name="Ear")
    Member.objects.create(project=other, user=lead, role="lead", pseudonym="L")
    content = next(t.content for t in shipped.templates() if t.key == key)
    made = post(client, "projects/eye/protocols/", {"name": "Ours: 1/2 ü", "content": as_json(content)}).json()
    file = client.get(f"/api/v1/protocol-versions/{made['id']}/file/")
    assert file["Content-Disposition"] == 'attachment; filename="ours-1-2-v1.json"'
    brought = post(client, "projects/ear/protocols/", {"name": "Theirs", "content": file.json()})
    assert brought.status_code == 201
    assert (brought.json()["digest"], brought.json()["content"]) == (made["digest"], made["content"])


def test_raters_cannot_read_protocols_and_templates(
    project: Project, evaluator: User, ann1: User, lead: User, client_of: Client
) -> None:
    version = create_protocol(project=project, name="Ours", content=DRAFT, by=lead)
    for user in (evaluator, ann1):
        client = client_of(user)
        for address in (
            "projects/eye/protocols/",
            "projects/eye/protocols/templates/",
            f"protocols/{version.protocol_id}/",
            f"protocol-versions/{version.pk}/",
            f"protocol-versions/{version.pk}/file/",
        ):
            assert client.get(f"/api/v1/{address}").status_code == 403, address


def test_the_list_asks_as_much_of_the_database_for_ten_protocols_as_for_one(
    project: Project, lead: User, client_of: Client
) -> None:
    client = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert client.get("/api/v1/projects/eye/protocols/").status_code == 200
        return len(asked)

    def make(n: int) -> None:
        version = create_protocol(project=project, name=f"P{n}", content=DRAFT, by=lead)
        write_version(protocol=version.protocol, content=protocol(criterion("b")), by=lead)

    make(0)
    [row] = client.get("/api/v1/projects/eye/protocols/").json()["results"]
    version = client.get(f"/api/v1/protocol-versions/{row['versions'][0]['id']}/").json()
    assert (row["criteria"], row["is_ready"]) == (1, not version["unready"])
    one = queries()
    for n in range(1, 10):
        make(n)
    assert queries() == one <= 8
