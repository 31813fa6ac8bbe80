"""A guideline round of ten clusters and four systems: three raters and a judge, to the release of its sentences."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from accounts.models import User
from evaluation.models import JudgeRun, RatingDesign
from evaluation.results.actions import compute_ratings
from evaluation.unblinding.actions import unblind
from generation.endpoints import parse
from projects.jobs.running import run_job
from projects.models import Project
from projects.rounds.actions import close_round
from releases.methods.markdown import escaped
from tests.evaluation.judge_endpoint import well
from tests.evaluation.rating_rounds import build_runs, open_rating, rate_all, rater_by_quality
from tests.generation.endpoint import serving

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_methods_text_and_release_contain_what_a_judge_behind_an_endpoint_is_worth(
    project: Project,
    lead: User,
    evaluator: User,
    ann1: User,
    ann2: User,
    client_of: Any,
    settings: LazySettings,
    tmp_path: Path,
) -> None:
    settings.GENERATION_NETWORKS = []
    people = [evaluator, ann1, ann2]
    members = [project.members.get(user=user) for user in people]
    round = open_rating(project, members, build_runs(project, clusters=10))
    for n, user in enumerate(people):
        assert rate_all(user, round, rater_by_quality(n)) == 10
    client, design = client_of(lead), RatingDesign.objects.get(round=round)

    def post(path: str, **body: Any) -> Any:
        reply = client.post(f"/api/v1/{path}/", body, format="json")
        assert reply.status_code < 300, reply.json()
        return reply.json()

    with serving() as stub:
        stub.reply = well
        settings.GENERATION_ENDPOINTS = parse(f"lab={stub.url}")
        judge = post(f"projects/{project.slug}/judges", name="Quill", endpoint="lab", model="tiny-instruct")
        run = post(f"rounds/{round.pk}/judge-runs", judge=judge["id"], licence_reason="Agreed with the publisher.")
        job = JudgeRun.objects.get(pk=run["id"]).job
        assert job
        assert run_job(job.pk)
    close_round(round=round, by=lead)
    unblind(design=design, by=lead)
    compute_ratings(design=design, replicates=50)
    job_id = post(f"rounds/{round.pk}/judge-figures", group="skilled")["id"]
    assert run_job(job_id)

    [one] = client.get(f"/api/v1/rounds/{round.pk}/judge-figures/").json()
    sentences = [each["sentence"] for each in one["figures"]["criteria"]]
    assert len(sentences) == 3
    assert all("replace a rater for" in each for each in sentences)
    # Ten sources are enough for the test and for length bias.
    assert not any("sources, and" in each for each in sentences)
    call_command("release", "--project", project.slug, "--version", "1.0.0", "--out", str(tmp_path / "r"))
    [row] = map(json.loads, (tmp_path / "r/judges/worth.jsonl").read_text(encoding="utf-8").splitlines())
    assert [each["sentence"] for each in row["figures"]["criteria"]] == sentences
    text = " ".join((tmp_path / "r/methods.md").read_text(encoding="utf-8").split())
    assert all(escaped(each) in text for each in sentences)
