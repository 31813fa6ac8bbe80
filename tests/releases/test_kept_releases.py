"""Stored releases: a version has one content, a predecessor, and no remains of dead workers."""

import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from rest_framework.test import APIClient

from accounts.models import User
from audit.actions import create_checkpoints
from audit.verify import findings
from projects.curation.actions import correct
from projects.jobs import jobs
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Member, Project
from projects.people.actions import add_member
from releases.models import Release
from releases.publishing.actions import freeze
from releases.storage.registry import folder_of, store
from tests.annotation.m3_files import cluster, import_records, write
from tests.builders import label_value

pytestmark = pytest.mark.django_db(transaction=True)
Client = Callable[[User], APIClient]


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    import_records(project, write(tmp_path / "level3.jsonl", [cluster("26258610_0"), cluster("26258610_1")]))
    return project


def edit(project: Project, lead: User) -> None:
    unit = project.units.get(type="proposition", key="26258610_1/0")
    by = Member.objects.get(project=project, user=lead)
    correct(unit=unit, kind="label", value=label_value("negative", "moderate"), reason="Read again.", by=by)


def run(version: str, out: Path) -> str:
    said = io.StringIO()
    call_command("release", project="eye", release=version, out=out, stdout=said)
    return said.getvalue()


def test_the_command_keeps_what_it_writes_and_a_version_means_one_content(
    corpus: Project, lead: User, tmp_path: Path
) -> None:
    assert "eye 1.0.0, 2 clusters, 0 answers" in run("1.0.0", tmp_path / "a")
    run("1.0.0", tmp_path / "b")
    kept = Release.objects.get()
    for path in (p for p in folder_of(kept).rglob("*") if p.is_file()):
        name = path.relative_to(folder_of(kept))
        assert path.read_bytes() == (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    edit(corpus, lead)
    with pytest.raises(CommandError, match=r"1\.0\.0 already exists with different content"):
        run("1.0.0", tmp_path / "c")
    assert not (tmp_path / "c").exists()
    run("1.1.0", tmp_path / "c")
    assert Release.objects.count() == len(list(store().iterdir())) == 2


def test_a_lost_release_folder_is_written_again(corpus: Project, lead: User) -> None:
    kept = freeze(project=corpus, version="1.0.0", by=lead)
    shutil.rmtree(folder_of(kept))
    assert freeze(project=corpus, version="1.0.0", by=lead) == kept
    assert (folder_of(kept) / "manifest.json").is_file()


def test_the_audit_record_holds_the_release_and_stays_whole(corpus: Project, lead: User) -> None:
    release = freeze(project=corpus, version="1.0.0", by=lead)
    create_checkpoints()
    assert list(findings()) == []
    assert release.manifest["audit_head"]["number"] >= 1


def test_a_second_attempt_finds_what_the_first_one_froze_before_its_worker_died(corpus: Project, lead: User) -> None:
    job = jobs.enqueue(project=corpus, kind="release", params={"version": "1.0.0"}, by=lead)
    assert run_job(job.pk)
    edit(corpus, lead)
    Job.objects.filter(pk=job.pk).update(status=JobStatus.QUEUED, result=None)
    assert run_job(job.pk)
    job.refresh_from_db()
    assert job.result is not None
    assert (job.status, job.result["release"]) == ("done", Release.objects.get().pk)


def test_old_remains_of_killed_processes_are_removed(corpus: Project, lead: User) -> None:
    old, fresh = store() / ".eye-1.0.0.dead", store() / ".eye-1.0.0.alive"
    for folder in (old, fresh):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    freeze(project=corpus, version="1.0.0", by=lead)
    assert (old.exists(), fresh.exists()) == (False, True)


def test_a_release_lists_changes_since_the_previous_one(corpus: Project, lead: User, client_of: Client) -> None:
    first = freeze(project=corpus, version="1.0.0", by=lead)
    edit(corpus, lead)
    second = freeze(project=corpus, version="1.1.0", by=lead)
    client = client_of(lead)
    assert client.get(f"/api/v1/releases/{first.pk}/difference/").json() == {"before": None, "files": [], "rows": []}
    found = client.get(f"/api/v1/releases/{second.pk}/difference/").json()
    assert found["before"] == "1.0.0"
    files: dict[str, dict[str, Any]] = {f["path"]: f for f in found["files"]}
    level3 = files["m3/level3.jsonl"]
    assert [level3[k] for k in ("added", "removed", "changed", "keys")] == [0, 0, 1, ["26258610_1"]]
    assert files["provenance/values.csv"]["changed"] == 2
    assert files["LICENSE"]["changed"] == 0


def test_the_list_costs_the_same_queries_however_many_releases_there_are(
    corpus: Project, lead: User, client_of: Client, django_assert_max_num_queries: Any
) -> None:
    for n in range(3):
        freeze(project=corpus, version=f"1.{n}.0", by=lead)
    client = client_of(lead)
    with django_assert_max_num_queries(5):
        page = client.get("/api/v1/projects/eye/releases/").json()
    assert [r["version"] for r in page["results"]] == ["1.2.0", "1.1.0", "1.0.0"]
    assert page["count"] == 3
    assert page["results"][0]["files"] == len(Release.objects.get(version="1.2.0").manifest["files"])


def test_a_release_is_pending_while_it_is_created_and_after_it_failed(
    corpus: Project, lead: User, stranger: User, client_of: Client
) -> None:
    add_member(project=corpus, user=stranger, role="viewer", by=None)

    def pending(user: User) -> list[tuple[str, str, str]]:
        rows = client_of(user).get("/api/v1/projects/eye/releases/pending/").json()
        return [(row["version"], row["status"], row["error"]) for row in rows]

    old, job = (
        Job.objects.create(project=corpus, kind="release", params={"version": version}, created_by=lead)
        for version in ("0.9.0", "1.0.0")
    )
    assert pending(lead) == [("1.0.0", "queued", ""), ("0.9.0", "queued", "")]
    Job.objects.filter(pk=old.pk).update(status="done")
    Job.objects.filter(pk=job.pk).update(status="failed", error="The disk is full.")
    assert pending(lead) == [("1.0.0", "failed", "The disk is full.")]
    assert pending(stranger) == []
    Job.objects.create(project=corpus, kind="release", params={"version": "1.0.0"}, status="done")
    assert pending(lead) == []


def test_a_stranger_gets_404_on_every_address_of_a_release(
    corpus: Project, lead: User, stranger: User, client_of: Client
) -> None:
    release = freeze(project=corpus, version="1.0.0", by=lead)
    client = client_of(stranger)
    for address in ("", "verify/", "difference/", "archive/", "files/manifest.json"):
        assert client.get(f"/api/v1/releases/{release.pk}/{address}").status_code == 404
    for address in ("", "checks/"):
        assert client.get(f"/api/v1/projects/eye/releases/{address}").status_code == 404
