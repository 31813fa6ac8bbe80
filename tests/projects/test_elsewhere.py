"""Imported ratings: labels of external raters, in a round that is closed at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from audit.verify import findings
from projects import kinds
from projects.agreement.queries import report as agreement
from projects.external_ratings import actions as external_ratings_actions
from projects.external_ratings import raters
from projects.external_ratings.actions import import_ratings
from projects.jobs import jobs
from projects.jobs.running import RunningJob, run_job
from projects.models import Answer, Decision, Job, Member, Project, Round
from projects.uploads.faults import LISTED
from projects.uploads.files import Source
from tests.builders import build_cluster
from tests.concurrency import outside_the_job

pytestmark = pytest.mark.django_db
HEAD = "unit,rater,polarity,polarity_cue,modality,modality_cue"


@pytest.fixture(autouse=True)
def corpus(project: Project) -> None:
    build_cluster(project, inputs=1)


def table(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([HEAD, *lines]) + "\n", encoding="utf-8")
    return path


SOUND = [
    "DEMO0000_0/0,Ada,positive,significant association,weak,",
    "DEMO0000_0/0,Bo,positive,,weak,",
    "DEMO0000_0/1,Ada,no effect,Neither ... nor,moderate,",
    "DEMO0000_0/1,Bo,negative,,moderate,",
]


def bring(project: Project, path: Path, lead: User, purpose: str = "measure only") -> dict[str, Any]:
    return import_ratings(
        project=project, kind="label", source=Source.of(path), round_name="elsewhere", purpose=purpose, by=lead
    )


def test_imported_ratings_become_a_closed_round_with_agreement(project: Project, lead: User, tmp_path: Path) -> None:
    made = bring(project, table(tmp_path, *SOUND), lead)
    round = Round.objects.get(pk=made["round"])
    assert (round.status, round.overlap, round.units_count, made["answers"]) == ("closed", 2, 2, 4)
    found = {m["name"]: m for m in agreement(round)["measures"]}
    assert found["polarity"]["all_agree"] == {"count": 1, "of": 2}
    assert found["modality"]["all_agree"] == {"count": 2, "of": 2}
    assert list(findings()) == []
    assert all(
        answer.entry and answer.entry.at <= answer.received_at for answer in Answer.objects.select_related("entry")
    )


def test_raters_are_members_under_a_pseudonym_without_an_account(project: Project, lead: User, tmp_path: Path) -> None:
    accounts = User.objects.count()
    bring(project, table(tmp_path, *SOUND), lead)
    raters = Member.objects.filter(project=project, user=None)
    assert sorted(m.name for m in raters) == ["Ada", "Bo"]
    assert not any(m.name in m.pseudonym for m in raters)
    assert User.objects.count() == accounts


def test_the_same_file_again_changes_nothing(project: Project, lead: User, tmp_path: Path) -> None:
    first = bring(project, table(tmp_path, *SOUND), lead)
    again = bring(project, table(tmp_path, *SOUND), lead)
    assert again == {"known": True, "round": first["round"]}
    assert Answer.objects.count() == 4


def test_gold_forms_where_that_is_the_purpose(project: Project, lead: User, tmp_path: Path) -> None:
    bring(project, table(tmp_path, *SOUND), lead, purpose="gold")
    job = Job.objects.get(kind="finish_round")
    assert run_job(job.pk)
    origins = Decision.objects.filter(field="polarity").order_by("unit_id").values_list("origin", flat=True)
    assert list(origins) == ["unanimous", "contested"]


@pytest.mark.row(24)
def test_one_wrong_cell_keeps_the_whole_file_out_and_is_named(project: Project, lead: User, tmp_path: Path) -> None:
    path = table(tmp_path, *SOUND, "DEMO0000_0/9,Ada,positive,,weak,")
    with pytest.raises(Refused, match=r"ratings.csv:6: unit: this project has no unit 'DEMO0000_0/9'"):
        bring(project, path, lead)
    assert not Round.objects.exists()
    assert not User.objects.filter(email__endswith=".invalid").exists()


def test_a_lead_checks_a_file_sees_its_faults_and_imports_the_mended_one(
    project: Project, client_of: Callable[[User], APIClient], lead: User
) -> None:
    client = client_of(lead)

    def check(*lines: str) -> tuple[dict[str, Any], int]:
        file = SimpleUploadedFile("ratings.csv", "\n".join([HEAD, *lines]).encode())
        asked = {"file": file, "kind": "label"}
        reply = client.post(f"/api/v1/projects/{project.slug}/elsewhere/check/", asked, format="multipart")
        assert reply.status_code == 202, reply.content
        run_job(reply.json()["id"])
        return dict(Job.objects.get(pk=reply.json()["id"]).result or {}), reply.json()["id"]

    wrong = ["DEMO0000_0/0,,positive,,weak,", "DEMO0000_0/0,Ada,n/a,,weak,", SOUND[2], SOUND[2]]
    report, job = check(*wrong)
    assert [(f["line"], f["field"]) for f in report["faults"]["listed"]] == [
        (2, "rater"),
        (3, "polarity"),
        (5, "rater"),
    ]
    asked = {"job": job, "name": "outside", "purpose": "measure only"}
    importing = f"/api/v1/projects/{project.slug}/elsewhere/import/"
    assert client.post(importing, asked, format="json").status_code == 409
    report, job = check(*SOUND)
    assert (report["ratings"], report["units"], report["raters"]) == (4, 2, ["Ada", "Bo"])
    reply = client.post(importing, asked | {"job": job}, format="json")
    assert reply.status_code == 202
    run_job(reply.json()["id"])
    assert Round.objects.get(name="outside").status == "closed"
    page = client.get(f"/api/v1/projects/{project.slug}/imports/").json()
    assert page["results"][0]["format"] == "answers label"


@pytest.mark.row(55)
def test_an_imported_file_has_limits_on_ratings_and_raters(
    project: Project, lead: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_ratings_actions, "MAX_RATINGS", 3)
    with pytest.raises(Refused, match=r"ratings.csv:5: file: the file has more than 3 ratings"):
        bring(project, table(tmp_path, *SOUND), lead)
    monkeypatch.setattr(external_ratings_actions, "MAX_RATINGS", 4)
    monkeypatch.setattr(raters, "MAX_RATERS", 1)
    with pytest.raises(Refused, match=r"rater: the file has more than 1,000 raters"):
        bring(project, table(tmp_path, *SOUND), lead)
    assert not Round.objects.exists()


@pytest.mark.row(55)
def test_more_ratings_of_a_rater_take_no_more_statements(project: Project, lead: User, tmp_path: Path) -> None:
    """On SQLite nobody else can write meanwhile."""
    build_cluster(project, number=2, inputs=30)
    counts = []
    for name, inputs in (("few", 10), ("many", 30)):
        lines = [f"DEMO0002_0/{n},{rater},positive,,weak," for n in range(inputs) for rater in ("Ada", "Bo")]
        path = table(tmp_path, *lines)
        with CaptureQueriesContext(connection) as queries:
            import_ratings(
                project=project, kind="label", source=Source.of(path), round_name=name, purpose="measure only", by=lead
            )
        counts.append(len(queries))
    assert counts[1] <= counts[0]
    assert Answer.objects.count() == 80
    assert list(findings()) == []


@pytest.mark.row(55)
def test_the_first_of_many_faults_are_named_and_all_are_counted(project: Project, tmp_path: Path) -> None:
    path = table(tmp_path, *["nothing,Ada,positive,,weak,"] * 600)
    found = external_ratings_actions.read_ratings(project=project, kind=kinds.get("label"), path=path, name="a").faults
    assert (found.total, len(found.listed)) == (600, LISTED)


@pytest.mark.row(55)
def test_the_import_of_ratings_is_cancelled_while_it_reads(
    project: Project, lead: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(10_000))
    monkeypatch.setattr("projects.jobs.running.time.monotonic", lambda: float(next(ticks)))
    path = table(tmp_path, *SOUND)

    def handle(job: RunningJob) -> dict[str, Any]:
        with outside_the_job():
            jobs.cancel(job.job)
        return import_ratings(
            project=project, kind="label", source=Source.of(path), round_name="a", purpose="gold", by=lead, job=job
        )

    monkeypatch.setitem(jobs.handlers, "test", handle)
    job = jobs.enqueue(project=project, kind="test", params={}, by=lead)
    assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, Round.objects.exists()) == ("cancelled", False)
