"""The mapping step of an import: first rows, guesses, faults per cell, saved mappings, and the check of all rows."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from accounts.models import User
from annotation.models import Passage, SavedMapping
from projects.models import Import, Project
from tests.annotation.test_columns import GOOD, HEAD, table
from tests.annotation.test_import_api import done

pytestmark = pytest.mark.django_db

Client = Callable[[User], APIClient]
AT = "/api/v1/projects/eye/"


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


def upload(client: APIClient, content: bytes, name: str = "own.csv") -> int:
    body = {"format": "csv", "file": SimpleUploadedFile(name, content)}
    job = done(client, client.post(f"{AT}imports/", body, format="multipart"))
    assert job["result"]["needs_columns"]
    assert job["result"]["faults"]["total"] == 0
    return int(job["id"])


def attempt(client: APIClient, job: int, mapped: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    body = {"job": job, "columns": json.dumps(mapped) if mapped else "", **more}
    reply = client.post(f"{AT}imports/columns/", body, format="json")
    assert reply.status_code == 200, reply.json()
    found: dict[str, Any] = reply.json()
    return found


def as_mapping(found: dict[str, Any], *, confirmed: bool = False) -> dict[str, Any]:
    names = ("format", "encoding", "delimiter", "quote", "header", "rows", "level", "guessed")
    columns = {one["name"]: {key: value for key, value in one.items() if key != "name"} for one in found["columns"]}
    for column in columns.values():
        column["is_guessed"] &= not confirmed
    return {name: found[name] for name in names} | {"columns": columns}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (gzip.compress(table([HEAD, *GOOD])), "found a gzip archive; unpack the file, or save the table as CSV"),
        (b"PAR1 and so on", "Parquet tables are imported by command"),
    ],
)
def test_files_that_the_page_cannot_read_are_named(
    project: Project, lead: User, client_of: Client, content: bytes, message: str
) -> None:
    client = client_of(lead)
    [fault] = attempt(client, upload(client, content))["faults"]
    assert fault["message"].startswith(message)


def test_a_table_is_mapped_checked_and_imported(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    job = upload(client, table([HEAD, *GOOD], ";"))
    found = attempt(client, job)
    assert [column["role"] for column in found["columns"]] == [
        "key", "question", "input_id", "passage", "rating", "target", "kept",
    ]  # fmt: skip
    assert found["unconfirmed"] == ["qid", "question", "answer", "summary"]
    assert (found["delimiter"], found["rows"], found["shape"], found["is_complete"]) == (
        ";",
        "input",
        "questions",
        True,
    )
    assert found["counts"]["passages"] == 3
    assert [row["line"] for row in found["first_rows"]] == [2, 3, 4]
    assert found["items"][0]["kept"] == {"note": "x"}
    guessed = json.dumps(as_mapping(found))
    reply = client.post(f"{AT}imports/columns/check/", {"job": job, "columns": guessed}, format="json")
    assert reply.status_code == 422
    assert "Confirm the roles that were guessed: qid, question, answer, summary." in reply.json()["detail"]
    assert client.post(f"{AT}imports/confirm/", {"job": job}, format="json").status_code == 409
    mapping = json.dumps(as_mapping(found, confirmed=True))
    check = done(client, client.post(f"{AT}imports/columns/check/", {"job": job, "columns": mapping}, format="json"))
    assert check["result"]["counts"]["passages"] == 3
    wrote = done(client, client.post(f"{AT}imports/confirm/", {"job": check["id"]}, format="json"))
    assert wrote["status"] == "done"
    assert Passage.objects.filter(question__project=project).count() == 3
    assert Import.objects.get(pk=wrote["result"]["import"]).mapping.content


def test_faults_have_their_cell_and_similar_ones_are_grouped(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    rows = [["1", "Why?", f"1_{n}", "Text.", "9", "Sum.", ""] for n in range(5)]
    rows += [["2", "What?", "2_1", "Text.", "3", "Sum.", ""], ["2", "What?", "2_1", "Text.", "3", "Sum.", ""]]
    found = attempt(client, upload(client, table([HEAD, *rows])))
    assert [(one["line"], one["column"], one["count"]) for one in found["faults"]] == [
        (2, "rating", 5), (8, "answer_id", 1),
    ]  # fmt: skip
    assert found["faults_total"] == 6
    assert [row["line"] for row in found["fault_rows"]] == [2, 3, 4, 5, 6, 8]
    assert found["fault_rows"][0]["faults"] == {"4": "9 is outside 1 to 4"}


def test_a_fault_that_a_setting_mends_names_the_setting(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    content = table([HEAD, *GOOD]).replace(b"It fades.", "Café".encode("cp1252"))
    job = upload(client, content + b'11,"Why')
    found = attempt(client, job)
    assert (found["encoding"], found["faults"][0]["line"]) == ("windows-1252", 5)
    assert found["faults"][0]["fix"] == {"button": "Set quote to none", "settings": {"quote": ""}}
    found = attempt(client, job, as_mapping(found) | {"encoding": "utf-8", "quote": ""})
    assert found["faults"][0]["fix"]["settings"] == {"encoding": "windows-1252"}


def test_a_saved_mapping_serves_a_second_file(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    mapping = json.dumps(as_mapping(attempt(client, upload(client, table([HEAD, *GOOD])))))
    for _ in range(2):  # the second one replaces the first
        reply = client.post(f"{AT}mappings/", {"name": "Answers", "columns": mapping}, format="json")
        assert reply.status_code == 201
    [saved] = client.get(f"{AT}mappings/").json()
    assert saved["name"] == "Answers"
    content = json.loads(client.get(f"{AT}mappings/{saved['id']}/").json()["content"])
    assert content["columns"]["answer"] == {"role": "passage"}
    other = [[*row[:2], f"9{row[2]}", *row[3:]] for row in GOOD]
    found = attempt(
        client, upload(client, table([[*HEAD, "new"], *([*row, "x"] for row in other)])), mapping=saved["id"]
    )
    assert (found["unconfirmed"], found["guessed"]) == ([], [])
    assert found["columns"][-1]["role"] == "out"
    gone = {"job": upload(client, table([HEAD[:5], *(row[:5] for row in other)])), "mapping": saved["id"]}
    reply = client.post(f"{AT}imports/columns/", gone, format="json")
    assert reply.status_code == 422
    assert "this file has no column summary, note" in reply.json()["detail"]
    assert client.delete(f"{AT}mappings/{saved['id']}/").status_code == 204
    assert not SavedMapping.objects.exists()


def test_a_check_of_another_project_or_format_is_refused(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    other = Project.objects.create(slug="other", name="Other", licence="CC0-1.0")
    other.members.create(user=lead, role="lead", pseudonym="L9")
    job = upload(client, table([HEAD, *GOOD]))
    reply = client.post("/api/v1/projects/other/imports/columns/", {"job": job}, format="json")
    assert reply.status_code == 422
