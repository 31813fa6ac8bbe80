"""Machine ratings stay apart from those of people: gold, agreement, results and released ratings are unchanged."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command

from accounts.models import User
from evaluation.models import JudgeAnswer, RatingDesign
from evaluation.results.rating_rows import RoundRatings
from evaluation.unblinding.actions import unblind
from generation.backends.openai import client as clients
from generation.endpoints import parse
from projects.models import Answer, Assignment, Decision, Notification, Project, Round
from projects.rounds.actions import close_round
from releases.formats import FORMATS
from releases.formats.notes import Notes
from releases.methods.facts.study import study_facts
from tests.evaluation.judge_endpoint import BEHAVIOURS
from tests.evaluation.judge_runs import build_judge, judged
from tests.evaluation.rating_rounds import build_runs, open_rating, rate_all, rater_by_quality
from tests.generation.endpoint import Endpoint, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    with serving() as running:
        settings.GENERATION_ENDPOINTS = parse(f"lab={running.url}")
        running.reply = BEHAVIOURS["well"]
        yield running


@pytest.fixture
def closed(project: Project, lead: User, evaluator: User, ann1: User) -> Round:
    users = [evaluator, ann1]
    people = [project.members.get(user=user) for user in users]
    round = open_rating(project, people, build_runs(project, 3))
    for n, user in enumerate(users):
        rate_all(user, round, rater_by_quality(n))
    close_round(round=round, by=lead)
    unblind(design=RatingDesign.objects.get(round=round), by=lead)
    round.refresh_from_db()
    return round


def of_people(round: Round) -> dict[str, Any]:
    """Return all that is computed and released from what people answered."""
    design = RatingDesign.objects.select_related("round__project").get(round=round)
    files = {
        f"{name}: {path}": b"".join(chunks)
        for name in ("rounds", "answers", "agreement", "reliability", "ratings", "provenance")
        for path, chunks in FORMATS[name](round.project, Notes())
    }
    counts = [model._default_manager.count() for model in (Answer, Assignment, Decision, Round, Notification)]
    return {**files, "rated": str(RoundRatings(design).rated), "counts": counts}


def test_all_that_people_gave_is_equal_with_and_without_a_judge(
    endpoint: Endpoint, project: Project, closed: Round
) -> None:
    before = of_people(closed)
    run = judged(build_judge(project), closed)
    assert (run.state, run.answers.count()) == ("done", 3)
    after = of_people(closed)
    # A notification tells the lead that the run has ended; no lead started this one.
    assert {name: after[name] == value for name, value in before.items()} == dict.fromkeys(before, True)


def test_a_release_has_versions_runs_and_machine_ratings(endpoint: Endpoint, project: Project, closed: Round) -> None:
    assert list(FORMATS["judges"](project, Notes())) == []
    endpoint.one_after_the_other(BEHAVIOURS["off the scale"], BEHAVIOURS["well"])
    judged(build_judge(project, decoding={"retries": 0}), closed, concurrency=1)
    files = {path: b"".join(chunks).decode() for path, chunks in FORMATS["judges"](project, Notes())}
    assert set(files) == {f"judges/{name}" for name in ("judges.jsonl", "runs.jsonl", "ratings.csv", "failures.csv")}
    [version] = [json.loads(line) for line in files["judges/judges.jsonl"].splitlines()]
    assert (version["name"], version["number"], version["prompt"]["template"]) == ("Judge", 1, "concord-judge 2")
    [run] = [json.loads(line) for line in files["judges/runs.jsonl"].splitlines()]
    assert (run["valid"], run["failed"], run["invalid"], run["state"]) == (2, 1, 1, "done")
    assert "Coherence" in run["system_message"]
    ratings = files["judges/ratings.csv"].splitlines()
    assert ratings[0].startswith("run,round,page,in_round,source,target,review,text,systems,criterion,value")
    assert len(ratings) == 1 + 2 * 4 * 3
    assert "Alder" in files["judges/ratings.csv"]


def test_a_release_leaves_judges_of_a_blind_round_out(endpoint: Endpoint, project: Project, evaluator: User) -> None:
    people = [project.members.get(user=evaluator)]
    judged(build_judge(project), open_rating(project, people, build_runs(project, 1)))
    assert list(FORMATS["judges"](project, Notes())) == []


def test_a_release_has_no_judge_while_somebody_rates(
    endpoint: Endpoint, project: Project, closed: Round, evaluator: User
) -> None:
    judged(build_judge(project), closed)
    assert study_facts(project, version="1.0.0").judges
    runs = [system.run for system in RatingDesign.objects.get(round=closed).systems.all() if system.run]
    open_rating(project, [project.members.get(user=evaluator)], runs, name="second")
    assert list(FORMATS["judges"](project, Notes())) == []
    assert not study_facts(project, version="1.0.0").judges


def test_a_command_runs_a_judge_and_continues_it(
    endpoint: Endpoint, project: Project, closed: Round, capsys: pytest.CaptureFixture[str]
) -> None:
    build_judge(project)
    given = {"project": project.slug, "licence_reason": "Agreed."}
    call_command("judge", round=closed.pk, judge="Judge", max_tokens=1, **given)
    assert ": budget; 0 answers" in capsys.readouterr().out
    run = JudgeAnswer.objects.none().count() or project.judges.get().runs.get().pk
    call_command("judge", run=run, max_tokens=10**9, **given)
    assert f"Run {run}: done; 3 answers, 0 pages failed." in capsys.readouterr().out
