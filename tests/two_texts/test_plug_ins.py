"""A format, a table and an upload of an app that nothing below it names: pages, routes and commands have them."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Conflict, Refused
from audit.models import Entry
from projects import uploads
from projects.jobs.running import run_job
from projects.models import Import, Job, Project
from projects.uploads import actions as uploads_actions

pytestmark = pytest.mark.django_db
API = "/api/v1"
LINES = b'{"text": "It helps.", "points": 4}\n'


@pytest.fixture
def api(lead: User) -> APIClient:
    client = APIClient()
    client.force_login(lead)
    return client


def test_the_format_is_listed_checked_and_imported_like_any_other(api: APIClient, project: Project) -> None:
    assert "said" in {format["key"] for format in api.get(f"{API}/import-formats/").json()}
    upload = {"format": "said", "file": SimpleUploadedFile("points.jsonl", LINES)}
    params = api.post(f"{API}/projects/{project.slug}/imports/", upload, format="multipart")
    assert params.status_code == 202, params.content
    run_job(params.json()["id"])
    check = Job.objects.get(pk=params.json()["id"])
    assert check.result is not None
    assert check.result["sample"] == [{"text": "It helps.", "points": 4}]
    sent = api.post(f"{API}/projects/{project.slug}/imports/confirm/", {"job": check.pk}, format="json")
    run_job(sent.json()["id"])
    assert Import.objects.get(format="said").counts["items"] == 1


def test_a_format_of_another_app_is_imported_by_the_command(project: Project, tmp_path: Path) -> None:
    (tmp_path / "points.jsonl").write_bytes(LINES)
    call_command("import_data", "said", str(tmp_path / "points.jsonl"), "--project", project.slug, stdout=io.StringIO())
    assert Import.objects.filter(project=project, format="said").exists()


def test_the_table_is_on_the_results_page_and_can_be_downloaded(api: APIClient, project: Project) -> None:
    shown = {table["key"]: table for table in api.get(f"{API}/projects/{project.slug}/results/").json()["tables"]}
    assert shown["clarity"]["undefined"] == [{"mark": "a", "reason": "nobody rated it"}]
    assert b"nobody rated it" in api.get(f"{API}/projects/{project.slug}/results/clarity/csv/").content


def test_a_table_of_another_app_is_printed_by_the_command(project: Project) -> None:
    said = io.StringIO()
    call_command("tables", "--project", project.slug, "--table", "clarity", stdout=said)
    assert "| target | 0 | \u2013 (a) |" in said.getvalue()


def test_an_upload_of_another_app_is_checked_and_confirmed_like_others(
    project: Project, lead: User, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    wishes = uploads.get("wishes")

    def check(content: bytes) -> Job:
        file = SimpleUploadedFile("wishes.txt", content)
        job = uploads_actions.start_check(wishes, project=project, file=file, by=lead, params={"of": "Ada"})
        run_job(job.pk)
        return Job.objects.get(pk=job.pk)

    with pytest.raises(Refused, match="Say whose"):
        uploads_actions.start_check(
            wishes, project=project, file=SimpleUploadedFile("a", b"x"), by=lead, params={"of": ""}
        )
    bad = check(b"More time\n\n")
    assert (bad.result or {})["faults"]["listed"] == [
        {"file": "wishes.txt", "line": 2, "field": "wish", "message": "is empty; expected a wish"}
    ]
    with pytest.raises(Conflict, match="has faults"):
        uploads_actions.confirm(wishes, project=project, job_id=bad.pk, by=lead)
    for _ in range(2):
        run_job(uploads_actions.confirm(wishes, project=project, job_id=check(b"More time\n").pk, by=lead).pk)
    assert [entry.after["of"] for entry in Entry.objects.filter(verb="wish") if entry.after] == ["Ada"]
