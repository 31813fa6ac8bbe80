"""Ratings of the sample project: simulated blind raters with known effects, unblinding, and an open round."""

import time
from typing import Any

import pytest

from accounts.models import User
from evaluation.models import ComparedSystem, Rating, Unblinding
from generation.models import Embargo
from operations.sample_project import SAMPLE, seed
from operations.simulation.client import Client
from operations.simulation.history import Study, do_waiting_jobs, play_history
from operations.simulation.labels import from_file
from operations.simulation.ratings import OPEN, RATED, ROUND, SEVERITY, SYSTEMS, Rater, play_ratings
from operations.simulation.transport import InProcess
from projects.models import Project, Round
from projects.reports.registry import Tables
from projects.reports.registry import get as get_table
from tests.evaluation.rating_rounds import build_runs

pytestmark = [pytest.mark.django_db, pytest.mark.long]


def test_simulated_annotators_rate_four_systems_and_one_round_stays_open() -> None:
    project = seed().project
    play_history(project, truth=from_file(SAMPLE))
    began = time.process_time()
    assert play_ratings(project)
    assert time.process_time() - began < 30, "a newcomer waits for this"
    rated = Round.objects.get(project=project, name=ROUND)
    clusters = len(SAMPLE.read_text(encoding="utf-8").splitlines())
    assert (rated.status, rated.units_count) == ("closed", clusters)
    assert Unblinding.objects.filter(design__round=rated).exists()
    said = Rating.objects.filter(answer__assignment__round=rated, criterion="coherence")
    assert said.values("answer__author").distinct().count() == len(SEVERITY)
    # The order is that in which the systems were created.
    means = {}
    for number, name in enumerate(sorted(list(SYSTEMS)[:RATED], key=list(SYSTEMS).index)):
        values = [int(v) for v, of in said.values_list("value", "text__system_numbers") if number in of]
        means[name] = sum(values) / len(values)
    assert means["TextRank"] > means["Random sentences"]
    # Ratings and metric are available together.
    tables = Tables(project)
    for key, found in (("rated-systems", 4), ("rating-metrics", 1)):
        table = tables.build(get_table(key))
        assert len(table.rows) >= found
        assert table.missing == []
    waiting = Round.objects.get(project=project, name=OPEN)
    assert waiting.status == "open"
    embargoed = set(Embargo.objects.active().values_list("member__user__email", flat=True))
    assert embargoed == {"evaluator@example.org"}, "what was rated can be read again by all"
    assert not project.members.active().filter(user__email__startswith="robot").exists(), "rounds ask people only"
    assert not play_ratings(project)


#: True quality of each system in points, half a point apart.
EFFECTS = {"Alder": 0.75, "Birch": 0.25, "Cedar": -0.25, "Dogwood": -0.75}


@pytest.mark.long
def test_a_rating_study_runs_from_design_to_analysis_through_the_api(
    project: Project, lead: User, evaluator: User, ann1: User, ann2: User
) -> None:
    """Effects, severities and noise are recovered, in order, with letters and in the tables."""
    runs = build_runs(project, clusters=30)
    study = Study(Client(InProcess(lead)), project.slug, pump=do_waiting_jobs)
    raters = {user: project.members.get(user=user).pk for user in (evaluator, ann1, ann2)}
    plan: dict[str, Any] = {
        "kind": "rate",
        "purpose": "measure only",
        "overlap": 3,
        "allocation": "dealt",
        "seed": 20_261_123,
        "options": {"protocol": "shipped:guideline", "systems": [str(run.pk) for run in runs]},
    }
    round = study.open_round("Ratings", raters.values(), **plan)
    assert study.lead.get(f"rounds/{round}/rating-design/")["texts"] == 120
    effects = {number: EFFECTS[name] for number, name in ComparedSystem.objects.values_list("number", "name")}
    for number, (user, severity) in enumerate(zip(raters, SEVERITY, strict=True), start=1):
        client = Client(InProcess(user))
        assert Rater(client, round, severity=severity, effects=effects, seed=number).work() == 30
    study.close(round)
    study.lead.post(f"rounds/{round}/unblind/")
    do_waiting_jobs()
    figures = study.lead.get(f"rounds/{round}/ratings/")["figures"]["all"]
    coherence = next(each for each in figures["criteria"] if each["criterion"] == "coherence")
    values = {row["system"]: row["value"] for row in coherence["systems"]}
    assert sorted(values, key=values.__getitem__, reverse=True) == list(EFFECTS)
    assert {row["n"] for row in coherence["systems"]} == {30}
    assert coherence["letters"] == dict(zip(EFFECTS, "abcd", strict=True))
    severe = {row["rater"]: row["severity"]["coherence"]["value"] for row in figures["raters"]}
    names = dict(project.members.values_list("user", "pseudonym"))
    assert [names[user.pk] for user in raters] == sorted(severe, key=severe.__getitem__, reverse=True)
    said = study.lead.download(f"projects/{project.slug}/results/ratings/csv/").decode("utf-8-sig")
    assert len(said.splitlines()) == 1 + 3 * 4
