"""A set of several files is uploaded at once and becomes one round or nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import TestCase
from rest_framework.test import APIClient

from accounts.models import User
from projects.jobs.running import run_job
from projects.models import Import, Project, Round

pytestmark = pytest.mark.django_db
Client = Callable[[User], APIClient]
HEAD = "unit,system,rater,criterion,value"


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files" / "uploads"


def of_rater(rater: str, value: str = "4") -> SimpleUploadedFile:
    lines = [HEAD, *(f"CD{n},{system},{rater},quality,{value}" for n in range(3) for system in ("Alder", "Birch"))]
    return SimpleUploadedFile(f"{rater}.csv", "\n".join(lines).encode())


def send(client: APIClient, *files: SimpleUploadedFile, format: str = "ratings") -> Any:
    body = {"format": format, "file": files[0], "others": list(files[1:])}
    return client.post("/api/v1/projects/eye/imports/", body, format="multipart")


def done(client: APIClient, reply: Any) -> dict[str, Any]:
    assert reply.status_code == 202, reply.json()
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert run_job(reply.json()["id"])
    job: dict[str, Any] = client.get(f"/api/v1/jobs/{reply.json()['id']}/").json()
    return job


def confirm(client: APIClient, check: dict[str, Any]) -> Any:
    return client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json")


def test_a_set_of_files_is_checked_and_imported_as_one_round(
    project: Project, lead: User, client_of: Client, uploads: Path
) -> None:
    client = client_of(lead)
    check = done(client, send(client, of_rater("Ada"), of_rater("Bo", "5"), of_rater("Cy", "3")))
    found = check["result"]
    assert (found["file"], found["others"], found["known"]) == ("Ada.csv", ["Bo.csv", "Cy.csv"], None)
    assert (found["counts"]["ratings"], found["counts"]["raters"], found["counts"]["unchanged"]) == (18, 3, 0)
    assert found["values"] == {"Quality": {"3": 6, "4": 6, "5": 6}}
    assert len(list(uploads.iterdir())) == 3
    assert done(client, confirm(client, check))["status"] == "done"
    [round] = Round.objects.filter(project=project)
    assert (round.name, round.overlap, Import.objects.count()) == ("Ada", 3, 3)
    # Each file reports its own ratings; the set counts a text once.
    assert found["counts"]["texts"] == 6
    counts = {made.file_name: made.counts for made in Import.objects.all()}
    assert sorted(counts) == ["Ada.csv", "Bo.csv", "Cy.csv"]
    assert {(of["ratings"], of["raters"], of["texts"]) for of in counts.values()} == {(6, 1, 6)}
    assert not list(uploads.iterdir())
    # The same set is recognised; a partly known set is a fault and is not stored.
    again = done(client, send(client, of_rater("Ada"), of_rater("Bo", "5"), of_rater("Cy", "3")))
    assert again["result"]["known"]
    assert not again["result"]["faults"]["total"]
    part = done(client, send(client, of_rater("Ada"), of_rater("Di")))
    [fault] = part["result"]["faults"]["listed"]
    assert (fault["file"], fault["line"]) == ("Ada.csv", 0)
    assert confirm(client, part).status_code == 409


def test_contradictions_within_a_set_are_faults_of_their_file(
    project: Project, lead: User, client_of: Client, uploads: Path
) -> None:
    client = client_of(lead)
    texts = [f"{HEAD},summary\nCD1,Alder,{rater},quality,4,{text}" for rater, text in (("Ada", "One."), ("Bo", "Two."))]
    files = [SimpleUploadedFile(f"{n}.csv", text.encode()) for n, text in enumerate(texts)]
    [fault] = done(client, send(client, *files))["result"]["faults"]["listed"]
    assert (fault["file"], fault["line"], fault["field"]) == ("1.csv", 2, "text")
    assert not list(uploads.iterdir())


def test_files_of_other_formats_are_sent_one_by_one(
    project: Project, lead: User, client_of: Client, uploads: Path
) -> None:
    one, two = (SimpleUploadedFile(f"{n}.csv", b"docid,kind,text\n") for n in range(2))
    reply = send(client_of(lead), one, two, format="counterfactuals")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "others")
    assert not uploads.exists()
