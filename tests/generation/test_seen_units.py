"""Marks of systems whose model has seen units in a training, and tables without these units."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from generation.models import Run, RunStatus, UnseenFigures, Version
from generation.scoring.actions import request_scores
from generation.sources import materials, units_of
from projects.jobs.running import run_job
from projects.models import Job, Member, Project, Role
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.generation.exposures import build_trained_version, build_training
from tests.generation.summaries import add_summary, build_run, first_sentence, scored, the_target

pytestmark = pytest.mark.django_db
API = "/api/v1/projects/eye/results/"
MARK = "Units of Trained that were used to train or choose its model: 2 of 4."
LEFT_OUT = "Left out for all systems, because used to train or choose a model: 2 of the units of level proposition."


def summarised(version: Version, write: Callable[..., str]) -> Run:
    run = Run.objects.create(version=version, status=RunStatus.DONE)
    project = version.system.project
    units = units_of(project, version.level)
    for unit, material in materials(project, version.level, units).items():
        add_summary(run, unit, write(material))
    return run


@pytest.fixture
def secret(stranger: User) -> Project:
    project = Project.objects.create(name="Hidden heart", slug="hidden-heart")
    Member.objects.create(project=project, user=stranger, role=Role.LEAD)
    return project


@pytest.fixture
def runs(project: Project, secret: Project, tmp_path: Path) -> list[Run]:
    """A system that was trained on two of four reviews in another project, and one that was not trained."""
    texts = (
        ("It helps a lot", "It helps"),
        ("It is safe", "It harms"),
        ("It helps", "It helps"),
        ("No", "It is no help"),
    )
    records = [
        cluster(f"{n}11_0", [source(read, str(n))], target_text=target) for n, (read, target) in enumerate(texts, 1)
    ]
    import_records(project, write(tmp_path / "level3.jsonl", records))
    build_training(secret, "confidential", ["111", "2"])
    return [
        summarised(build_trained_version(project, "Trained", "trained-confidential"), the_target),
        build_run(project, "Lead", write=first_sentence),
    ]


@pytest.fixture
def client(client_of: Callable[[User], APIClient], lead: User) -> APIClient:
    return client_of(lead)


def table(client: APIClient, key: str, **query: Any) -> dict[str, Any]:
    return next(each for each in client.get(API, query).json()["tables"] if each["key"] == key)


def test_a_mark_counts_units_and_names_no_training(client: APIClient, runs: list[Run]) -> None:
    for run in runs:
        scored(run, "rouge", "bleu", "copying")
    reply = client.get(API)
    assert reply.json()["seen"] == [{"level": "proposition", "units": 2}]
    for key in ("m3-4", "m3-6", "ms2", "texts", "m3-4-pairs"):
        shown = table(client, key)
        assert shown["remarks"] == [{"mark": shown["remarks"][0]["mark"], "reason": MARK}], key
    files = [client.get(f"{API}m3-4/{form}/").content.decode() for form in ("markdown", "csv", "latex", "json")]
    for content in files:
        assert MARK in content
    assert "System,System note," in files[1]
    for content in (reply.content.decode(), *files):
        assert not any(word in content for word in ("confidential", "Hidden heart", "hidden-heart"))


def test_seen_units_are_left_out_for_all_systems(client: APIClient, runs: list[Run], lead: User) -> None:
    for run in runs:
        scored(run, "rouge", "bleu")
    shown = table(client, "m3-4", unseen="true")
    assert [row[3]["text"] for row in shown["rows"]] == ["2", "2"]
    assert (shown["remarks"], LEFT_OUT in shown["notes"]) == ([], True)
    # F1 of It helps, It helps: 1. Of No, It is no help: 0.4.
    assert [row[5]["text"] for row in shown["rows"]] == ["100.0", "70.0"]
    [pair] = [row for row in table(client, "m3-4-pairs", unseen="true")["rows"] if row[0]["text"] == "ROUGE-1 F1"]
    assert [cell["text"] for cell in pair[5:7]] == ["2", "2"]
    assert [row[2]["text"] for row in table(client, "texts", unseen="true")["rows"]] == ["2", "2"]
    assert [row[3]["text"] for row in table(client, "m3-4")["rows"]] == ["4", "4"]
    assert client.get(API, {"unseen": "perhaps"}).json()["errors"][0]["field"] == "unseen"


def test_figures_of_other_seen_units_are_missing_until_a_run_is_scored_again(
    client: APIClient, runs: list[Run], secret: Project, project: Project, lead: User
) -> None:
    for run in runs:
        scored(run, "rouge")
    build_training(secret, "later", ["3"])
    summarised(build_trained_version(project, "Later", "trained-later"), first_sentence)
    shown = table(client, "m3-4", unseen="true")
    assert {row[5]["undefined"] for row in shown["rows"]} == {"its mean is not computed yet", "not scored yet"}
    [step] = [step for step in shown["missing"] if step["metric"] == "rouge"]
    assert len(step["runs"]) == 3
    job = request_scores(run=Run.objects.get(pk=step["runs"][-1]), metric="rouge", params={}, by=lead)
    assert isinstance(job, Job)
    assert run_job(job.pk)
    shown = table(client, "m3-4", unseen="true")
    assert [row[3]["text"] for row in shown["rows"]] == ["1", "1", "1"]
    assert not [step for step in shown["missing"] if step["metric"] == "rouge"]


def test_more_units_and_systems_take_no_more_queries(client: APIClient, runs: list[Run], project: Project) -> None:
    def queries(**query: str) -> int:
        with CaptureQueriesContext(connection) as executed:
            assert client.get(API, query).status_code == 200
        return len(executed)

    for run in runs:
        scored(run, "rouge")
    before = queries(), queries(unseen="true")
    for name in ("One", "Two"):
        scored(summarised(build_trained_version(project, name, "trained-confidential"), the_target), "rouge")
    assert (queries(), queries(unseen="true")) == before
    assert before[0] <= 43
    assert UnseenFigures.objects.filter(key__startswith="comparison").count() == 6
