"""The API of the Results page."""

import shlex
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from generation.backends.identity import GPU
from generation.models import Embargo, Run, Scoring
from generation.results.tables.m3_4 import OverlapTable
from generation.results.tables.scored import Scores
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Member, Project
from projects.reports.table import Table
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.conftest import person
from tests.generation.summaries import build_run, scored, the_target

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/eye/results/"
ClientOf = Callable[[User], APIClient]


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    records = [
        cluster("111_0", [source("It helps a lot", "1")], target_text="It helps"),
        cluster("222_0", [source("It is safe", "2")], target_text="It harms"),
        cluster("333_0", [source("It helps", "3")], target_text="It helps"),
    ]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    return project


@pytest.fixture
def run(corpus: Project) -> Run:
    return build_run(corpus, "Lead")


@pytest.fixture
def client(client_of: ClientOf, lead: User) -> APIClient:
    return client_of(lead)


def table(client: APIClient, key: str) -> dict[str, Any]:
    return next(each for each in client.get(API).json()["tables"] if each["key"] == key)


def test_a_lead_scores_what_is_missing_and_reads_the_table(client: APIClient, run: Run) -> None:
    before = table(client, "m3-4")
    assert [cell["text"] for cell in before["rows"][0]][:3] == ["Lead", "proposition", "own target"]
    assert before["rows"][0][5] == {
        "text": "",
        "value": None,
        "ci": None,
        "undefined": "not scored yet",
        "ci_reason": "",
        "note": "",
        "mark": "a",
        "best": False,
    }
    step = before["missing"][0]
    assert (step["runs"], step["metric"], step["words"]) == ([run.pk], "rouge", "ROUGE of Lead (proposition)")
    reply = client.post(f"/api/v1/runs/{run.pk}/scores/", {"metric": step["metric"]}, format="json")
    assert reply.status_code == 202
    job = reply.json()["job"]["id"]
    assert client.get(API).json()["under_way"] == [{"job": job, "run": run.pk, "metric": "rouge"}]
    assert run_job(job)
    after = table(client, "m3-4")
    # F1 2/3, 2/5 and 1.
    assert after["rows"][0][5]["text"] == "68.9"
    assert [step["metric"] for step in after["missing"]] == ["bertscore"]
    assert client.post(f"/api/v1/runs/{run.pk}/scores/", {"metric": "rouge"}, format="json").json() == {"job": None}
    assert Scoring.objects.get().created_by_id == Job.objects.get(pk=job).created_by_id


def test_wrong_metrics_and_parameters_are_named_by_field(client: APIClient, run: Run) -> None:
    def fields(body: dict[str, Any]) -> list[str]:
        reply = client.post(f"/api/v1/runs/{run.pk}/scores/", body, format="json")
        assert reply.status_code == 422
        return [error["field"] for error in reply.json()["errors"]]

    assert fields({"metric": "rouje"}) == ["metric"]
    assert fields({"metric": "rouge", "params": {"stemmer": "x", "y": 1}}) == ["params.y", "params.stemmer"]
    assert fields({"metric": "rouge", "shape": 1}) == ["shape"]


@pytest.mark.parametrize(
    ("form", "ending", "begins"),
    [
        ("csv", "csv", "System,Level,Against,n"),
        ("latex", "tex", "% In the preamble"),
        ("json", "json", "{\n"),
        ("markdown", "md", "### Overlap"),
    ],
)
def test_a_table_is_downloaded(client: APIClient, run: Run, form: str, ending: str, begins: str) -> None:
    scored(run, "rouge")
    reply = client.get(f"{API}m3-4/{form}/")
    assert reply.status_code == 200
    assert reply["Content-Disposition"] == f'attachment; filename="eye-m3-4.{ending}"'
    assert reply.content.decode().startswith(begins)
    assert client.get(f"{API}m3-99/{form}/").status_code == client.get(f"{API}m3-4/pdf/").status_code == 404


def test_scores_of_single_summaries_can_be_sorted(client: APIClient, run: Run) -> None:
    scored(run, "rouge")

    def keys(**query: Any) -> list[str]:
        reply = client.get(f"/api/v1/runs/{run.pk}/scores/", {"metric": "rouge"} | query)
        assert reply.status_code == 200
        return [row["key"] for row in reply.json()["results"]]

    assert keys(figure="rouge1_f1") == ["222_0", "111_0", "333_0"]
    assert keys(figure="rouge1_f1", descending=True) == ["333_0", "111_0", "222_0"]
    assert keys() == ["111_0", "222_0", "333_0"]
    row = client.get(f"/api/v1/runs/{run.pk}/scores/").json()["results"][0]
    assert (row["text"], row["against"]) == ("It helps a lot", "own target")
    assert row["values"]["rouge1_precision"] == 0.5
    assert client.get(f"/api/v1/runs/{run.pk}/scores/", {"figure": "x"}).status_code == 422
    assert client.get(f"/api/v1/runs/{run.pk}/scores/", {"metric": "chrf"}).json()["results"] == []


def test_an_embargoed_run_is_hidden_in_every_way(client_of: ClientOf, corpus: Project, run: Run) -> None:
    scored(run, "rouge")
    viewer = Member.objects.create(project=corpus, user=person("viewer"), role="viewer", pseudonym="V")
    embargo = Embargo.objects.create(run=run, member=viewer)
    reader = client_of(viewer.user)
    ways = [API, f"{API}m3-4/csv/", f"{API}m3-4/markdown/", f"/api/v1/runs/{run.pk}/scores/?metric=rouge"]
    for way in ways:
        shown = reader.get(way).content.decode()
        assert "Lead" not in shown, way
        assert "It helps a lot" not in shown, way
    Embargo.objects.filter(pk=embargo.pk).update(lifted_at="2026-01-01T00:00:00Z")
    assert all(reader.get(way).status_code == 200 for way in ways)
    assert "Lead" in reader.get(ways[1]).content.decode()


def test_people_who_work_with_summaries_never_see_results(
    client_of: ClientOf, run: Run, ann1: User, evaluator: User
) -> None:
    for user in (ann1, evaluator):
        assert client_of(user).get(API).status_code == 403
        assert client_of(user).get(f"/api/v1/runs/{run.pk}/scores/").status_code == 403
    assert client_of(person("nobody")).get(API).status_code == 404


def asked(run: Run, metric: str, status: JobStatus, **fields: Any) -> Job:
    """A current or former job to score the run."""
    params = {"run": run.pk, "metric": metric, "params": {}}
    return Job.objects.create(
        project=run.version.system.project, kind="score_run", params=params, status=status, **fields
    )


def test_the_error_of_a_scoring_is_shown_until_the_next_attempt(client: APIClient, run: Run) -> None:
    ended = timezone.now() - timedelta(minutes=1)
    for metric, error in (("rouge", "The disk is full."), ("bertscore", "No such folder: roberta-large.")):
        asked(run, metric, JobStatus.FAILED, error=error, finished_at=ended)
    scored(run, "rouge")
    assert client.get(API).json()["failed"] == [
        {"run": run.pk, "metric": "bertscore", "error": "No such folder: roberta-large."}
    ]
    asked(run, "bertscore", JobStatus.QUEUED)
    assert client.get(API).json()["failed"] == []


def test_the_next_metric_to_score_comes_first(client: APIClient, run: Run) -> None:
    asked(run, "bertscore", JobStatus.QUEUED, queue=GPU)
    asked(run, "rouge", JobStatus.QUEUED)
    asked(run, "length", JobStatus.RUNNING)
    assert [job["metric"] for job in client.get(API).json()["under_way"]] == ["length", "rouge", "bertscore"]


def test_a_scoring_that_ends_during_building_of_tables_counts_as_running(
    client: APIClient, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the page would show a table without it and wait for nothing."""
    job, build = asked(run, "rouge", JobStatus.QUEUED), OverlapTable.build

    def late(table: OverlapTable, scores: Scores) -> Table:
        made = build(table, scores)
        assert run_job(job.pk)
        return made

    monkeypatch.setattr(OverlapTable, "build", late)
    page = client.get(API).json()
    assert next(each for each in page["tables"] if each["key"] == "m3-4")["missing"][0]["metric"] == "rouge"
    assert [each["job"] for each in page["under_way"]] == [job.pk]


def test_more_systems_and_scores_take_no_more_queries(client: APIClient, corpus: Project, run: Run) -> None:
    def queries(address: str) -> int:
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        return len(seen)

    wanted = ("rouge", "copying", "length", "direction")
    for each in (run, build_run(corpus, "Other")):
        scored(each, *wanted)
    addresses = [API, f"{API}m3-4/csv/", f"/api/v1/runs/{run.pk}/scores/?metric=rouge"]
    before = [queries(address) for address in addresses]
    for name in ("One", "Two"):
        scored(build_run(corpus, name, write=the_target), *wanted)
    assert [queries(address) for address in addresses] == before
    assert before[0] <= 40


def test_a_command_that_is_copied_runs_nothing_but_itself(corpus: Project, client: APIClient) -> None:
    name = "\"; $(touch /tmp/x) `id` '"
    build_run(corpus, name)
    [step] = [step for step in table(client, "m3-4")["missing"] if step["metric"] == "rouge"]
    words = shlex.split(step["command"])
    assert words == ["manage.py", "score", "--project", "eye", "--metric", "rouge", "--system", name]


@pytest.mark.parametrize("figure", ["no change/no change", "delta_ei", "pairs"])
def test_scores_are_sorted_by_any_figure_whatever_it_is_called(client: APIClient, run: Run, figure: str) -> None:
    scored(run, "direction")
    for descending in (True, False):
        query = {"metric": "direction", "figure": figure, "descending": descending}
        found = client.get(f"/api/v1/runs/{run.pk}/scores/", query).json()["results"]
        values = [row["values"][figure] for row in found if row["values"][figure] is not None]
        assert len(found) == 3
        assert values == sorted(values, reverse=descending)
