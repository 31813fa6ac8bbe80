"""Importing in the browser: upload, check with faults by line, confirmation, report."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import TestCase
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from annotation import imports
from annotation.imports.writing import Writing
from annotation.models import Cluster, Counterfactual
from measures.unit_names import unit_name
from projects.jobs.pace import Pace
from projects.jobs.running import run_job
from projects.models import Import, Job, Project, Unit
from tests.annotation.m3_files import as_bytes, cluster, source
from tests.concurrency import outside_the_job

Client = Callable[[User], APIClient]


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "files"
    return tmp_path / "files" / "uploads"


def upload(client: APIClient, content: bytes, name: str = "level3.jsonl", **fields: str) -> Any:
    body = {"format": "m3", "file": SimpleUploadedFile(name, content)} | fields
    return client.post("/api/v1/projects/eye/imports/", body, format="multipart")


def done(client: APIClient, reply: Any) -> dict[str, Any]:
    """The job of a reply after a worker has run it."""
    assert reply.status_code == 202, reply.json()
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert run_job(reply.json()["id"])
    job: dict[str, Any] = client.get(f"/api/v1/jobs/{reply.json()['id']}/").json()
    return job


def test_a_file_is_checked_confirmed_imported_and_reported(
    project: Project, lead: User, client_of: Client, uploads: Path
) -> None:
    client = client_of(lead)
    studies = [source("It may reduce and reduce.", source_modality_span="MAY")]
    job = done(client, upload(client, as_bytes(cluster(f"1_{n}", studies) for n in range(4))))
    preview = job["result"]
    assert (job["status"], preview["level"], preview["known"]) == ("done", "3", None)
    assert preview["faults"] == {"total": 0, "listed": []}
    assert (preview["counts"]["clusters"], preview["totals"]["cue differs in case"]) == (4, 4)
    assert [item["docid"] for item in preview["sample"]] == ["1_0", "1_1", "1_2"]
    assert not Cluster.objects.exists()

    job = done(client, client.post("/api/v1/projects/eye/imports/confirm/", {"job": job["id"]}, format="json"))
    assert job["status"] == "done"
    assert Cluster.objects.count() == 4
    assert not list(uploads.iterdir())

    [row] = client.get("/api/v1/projects/eye/imports/").json()["results"]
    assert (row["file_name"], row["by"], row["counts"]["clusters"]) == ("level3.jsonl", "Lead", 4)
    assert row["format_name"] == "M3, level 3"
    imported = client.get(f"/api/v1/imports/{row['id']}/").json()
    assert imported["totals"] == {"cue differs in case": 4, "cue occurs more than once": 4}
    assert imported["values"]["source_modality"] == {"weak": 4}
    notices = client.get(
        f"/api/v1/imports/{row['id']}/notices/", {"kind": "cue differs in case", "page_size": "3"}
    ).json()
    assert (notices["count"], len(notices["results"])) == (4, 3)
    first = notices["results"][0]
    assert first["item_name"] == unit_name(first["item"])
    assert first["text"] == "MAY"
    address = f"/api/v1/imports/{row['id']}/notices/"
    for words, count in ((first["item_name"], 2), (f"{first['item']} more THAN once", 1), ("nowhere", 0)):
        assert client.get(address, {"search": words}).json()["count"] == count
    examples = client.get(address, {"examples": "1"}).json()["results"]
    assert [each["kind"] for each in examples] == list(imported["totals"])
    # It links to the first input of the first item.
    assert Unit.objects.get(pk=first["unit"]).key == f"{first['item']}/{first['place'].removeprefix('input ')}"


def test_faults_are_shown_by_line_and_cannot_be_confirmed(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    job = done(client, upload(client, as_bytes(cluster(f"1_{n}", target_direction="up") for n in range(250))))
    faults = job["result"]["faults"]
    assert (job["status"], faults["total"], len(faults["listed"])) == ("done", 250, 200)
    assert {"line": 2, "field": "target_direction", "file": "level3.jsonl"}.items() <= faults["listed"][1].items()
    reply = client.post("/api/v1/projects/eye/imports/confirm/", {"job": job["id"]}, format="json")
    assert (reply.status_code, reply.json()["detail"]) == (
        409,
        "The file has faults. Correct them and upload it again.",
    )


def test_an_empty_file_is_a_fault_of_the_file(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    job = done(client, upload(client, b""))
    assert job["result"]["faults"]["listed"][0]["message"].startswith("the file is empty")


def test_a_file_imported_before_is_recognised(corpus: Project, lead: User, client_of: Client, file: Path) -> None:
    client = client_of(lead)
    job = done(client, upload(client, file.read_bytes(), "again.jsonl"))
    assert job["result"]["known"] == Import.objects.get().pk
    job = done(client, client.post("/api/v1/projects/eye/imports/confirm/", {"job": job["id"]}, format="json"))
    assert job["result"]["known"] is True
    assert Import.objects.count() == 1


@pytest.mark.row(3)
def test_an_import_that_is_done_twice_is_done_once(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    check = done(client, upload(client, as_bytes([cluster()])))
    replies = [client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json") for _ in "12"]
    assert replies[0].json()["id"] == replies[1].json()["id"], "what waits already is not queued again"
    assert done(client, replies[0])["status"] == "done"
    assert Import.objects.count() == 1
    reply = client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json")
    assert reply.status_code == 409


@pytest.mark.row(26)
def test_a_file_above_the_limit_is_413(project: Project, lead: User, client_of: Client, settings: Any) -> None:
    settings.UPLOAD_LIMIT = 2**20
    for size in (2**20 + 1, 2**21):
        reply = upload(client_of(lead), b"x" * size)
        assert (reply.status_code, reply.json()["type"]) == (413, "/problems/too-large")
    assert not Job.objects.exists()


def test_uploads_have_random_names_and_are_not_served(
    project: Project, lead: User, client_of: Client, uploads: Path
) -> None:
    client = client_of(lead)
    reply = upload(client, b"{}", "../../evil<script>.jsonl")
    [kept] = list(uploads.iterdir())
    assert len(kept.name) == 32
    assert kept.name not in str(reply.json())
    assert Job.objects.get().params["name"] == "evil<script>.jsonl"


def test_forgotten_uploads_are_removed(project: Project, lead: User, client_of: Client, uploads: Path) -> None:
    client = client_of(lead)
    upload(client, b"{}")
    [old] = list(uploads.iterdir())
    os.utime(old, (0, 0))
    Job.objects.update(status="done")  # a waiting job needs its file
    upload(client, b"{}")
    assert old not in list(uploads.iterdir())
    assert len(list(uploads.iterdir())) == 1


def test_bad_requests_name_their_field(project: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    assert upload(client, b"{}", format="m4").json()["errors"][0]["field"] == "format"
    job = done(client, upload(client, b"{}", level="7"))
    assert (job["status"], "no level '7'" in job["error"]) == ("failed", True)
    reply = client.post("/api/v1/projects/eye/imports/confirm/", {"job": 999}, format="json")
    assert (reply.status_code, reply.json()["errors"][0]["field"]) == (422, "job")


def test_only_a_lead_brings_files_in(project: Project, ann1: User, stranger: User, client_of: Client) -> None:
    assert upload(client_of(ann1), b"{}").status_code == 403
    assert upload(client_of(stranger), b"{}").status_code == 404
    for user, status in ((ann1, 403), (stranger, 404)):
        reply = client_of(user).post("/api/v1/projects/eye/imports/confirm/", {"job": 1}, format="json")
        assert reply.status_code == status


def test_a_check_of_another_project_cannot_be_confirmed(project: Project, lead: User, client_of: Client) -> None:
    from projects.people.actions import create_project

    create_project(slug="other", name="Other", by=lead)
    client = client_of(lead)
    check = done(client, upload(client, as_bytes([cluster()])))
    reply = client.post("/api/v1/projects/other/imports/confirm/", {"job": check["id"]}, format="json")
    assert reply.status_code == 422


def test_formats_are_listed_with_their_levels(ann1: User, client_of: Client) -> None:
    found = client_of(ann1).get("/api/v1/import-formats/").json()
    levels = {f["key"]: [level["key"] for level in f["levels"]] for f in found}
    assert set(levels) == {format.key for format in imports.every() if not format.is_for_command}
    assert (levels["m3"], levels["pubmed"], levels["jats"]) == (["1", "2", "3"], ["reviews", "studies"], [])


@pytest.mark.parametrize(
    ("key", "level", "said"),
    [
        ("counterfactuals", "", "Counterfactuals of target propositions"),
        ("pubmed", "reviews", "PubMed, reviews"),
        ("given-up", "2", "given-up, level 2"),
    ],
)
def test_an_import_shows_the_title_of_its_format(
    project: Project, lead: User, client_of: Client, key: str, level: str, said: str
) -> None:
    """Also if the format is no longer installed."""
    made = Import.objects.create(
        project=project, format=key, level=level, file_name="f", sha256="0" * 64, size=1, created_at=timezone.now()
    )
    assert client_of(lead).get(f"/api/v1/imports/{made.pk}/").json()["format_name"] == said


def test_counterfactuals_are_imported_through_the_api(corpus: Project, lead: User, client_of: Client) -> None:
    client = client_of(lead)
    content = b"docid,kind,text\n26258610_0,antonym,The review shows that nepralin increases relapse.\n"
    job = done(client, upload(client, content, "cf.csv", format="counterfactuals"))
    preview = job["result"]
    assert (preview["level"], preview["counts"]["counterfactuals"]) == ("", 1)
    assert preview["values"] == {"kind": {"antonym": 1}}
    assert [row["kind"] for row in preview["sample"]] == ["antonym"]
    assert not Counterfactual.objects.exists()
    job = done(client, client.post("/api/v1/projects/eye/imports/confirm/", {"job": job["id"]}, format="json"))
    assert (job["status"], Counterfactual.objects.count()) == ("done", 1)
    job = done(client, upload(client, content + b"9_9,antonym,x\n", "cf.csv", format="counterfactuals"))
    assert job["result"]["faults"]["listed"] == [
        {
            "file": "cf.csv",
            "line": 3,
            "field": "docid",
            "message": 'the project has no cluster "9_9"; import its level 3 first',
        }
    ]


def test_files_of_the_import_folder_are_imported_as_one_set(
    project: Project, lead: User, ann1: User, client_of: Client, settings: Any, tmp_path: Path
) -> None:
    """Links and paths cannot lead outside, and the files stay."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(as_bytes([cluster("1_0")]))
    (folder / "b.jsonl").write_bytes(as_bytes([cluster("1_1")]))
    (tmp_path / "secret").write_text("x")
    (folder / "link").symlink_to(tmp_path / "secret")
    client, address = client_of(lead), "/api/v1/projects/eye/imports/folder/"
    assert client.get(address).json() == []
    settings.IMPORT_FOLDER = str(folder)
    assert [each["name"] for each in client.get(address).json()] == ["a.jsonl", "b.jsonl"]
    assert client_of(ann1).get(address).status_code == 403
    for name in ("link", "../secret", str(tmp_path / "secret")):
        assert client.post(address, {"format": "m3", "names": [name]}, format="json").status_code == 422
    check = done(client, client.post(address, {"format": "m3", "names": ["a.jsonl", "b.jsonl"]}, format="json"))
    assert check["result"]["counts"]["clusters"] == 2
    (folder / "b.jsonl").write_bytes(as_bytes([cluster("1_2")]))
    job = done(client, client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json"))
    assert (job["status"], Cluster.objects.count()) == ("failed", 0)
    assert job["error"] == "The file was changed after the check. Check it again."
    (folder / "b.jsonl").write_bytes(as_bytes([cluster("1_1")]))
    job = done(client, client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json"))
    assert (job["status"], Cluster.objects.count()) == ("done", 2)
    [row] = client.get("/api/v1/projects/eye/imports/").json()["results"]
    assert [each["name"] for each in row["files"]] == ["a.jsonl", "b.jsonl"]
    assert (folder / "a.jsonl").exists()


def test_a_lead_withdraws_an_import_that_a_worker_writes(
    project: Project, lead: User, ann1: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job is cancelled first. A complete import cannot be withdrawn."""
    client = client_of(lead)
    check = done(client, upload(client, as_bytes([cluster()])))
    reply = client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json")
    complete = Writing._complete

    def withdrawn(self: Writing) -> None:
        address = f"/api/v1/imports/{Import.objects.get().pk}/withdraw/"
        with outside_the_job():
            assert client_of(ann1).post(address).status_code == 403
            row = client.post(address).json()
            assert (row["state"], row["phase"], row["rows"] > 5) == ("arriving", "reading", True)
        complete(self)

    monkeypatch.setattr(Writing, "_complete", withdrawn)
    ticks = iter(range(10_000))
    monkeypatch.setattr("projects.jobs.running.time.monotonic", lambda: float(next(ticks)))
    assert done(client, reply)["status"] == "cancelled"
    monkeypatch.undo()
    assert run_job(Job.objects.get(kind="withdraw_import").pk)
    assert not Import.objects.exists()
    assert not Unit.with_arriving.exists()


def test_the_rate_of_an_import_is_shown_while_it_advances(
    project: Project, lead: User, client_of: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(lead)
    check = done(client, upload(client, as_bytes([cluster()])))
    reply = client.post("/api/v1/projects/eye/imports/confirm/", {"job": check["id"]}, format="json")
    shown: list[Any] = []

    def look(self: Writing) -> None:
        with outside_the_job():
            row = client.get("/api/v1/projects/eye/imports/").json()["results"][0]
        shown.append((row["rate"], row["seconds_left"]))

    monkeypatch.setattr(Writing, "_complete", look)
    monkeypatch.setattr(Pace, "per_second", lambda self: 30.0)
    assert done(client, reply)["status"] == "done"
    imported = Import.objects.get()
    Import.objects.update(state="arriving", progress={"rate": 5.0, "seconds_left": 6.0, "at": time.time() - 61})
    row = client.get("/api/v1/projects/eye/imports/").json()["results"][0]
    assert (shown, row["rate"], row["seconds_left"]) == ([(30.0, 0.0)], None, None), imported.progress
