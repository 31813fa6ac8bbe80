"""What a judge is worth, from stored answers to the API: blinding, permissions and people's results."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from evaluation.judge_figures.actions import compute_judges, default_group
from evaluation.judge_figures.reading import JudgedRatings, own_systems
from evaluation.models import JudgeFigures, RatingDesign, RatingFigures
from evaluation.results.actions import KIND, compute_ratings
from projects.jobs.running import run_job
from projects.models import Job, Project
from releases.formats import judges
from releases.formats.notes import Notes
from releases.methods.facts.judges import judge_facts
from tests.evaluation.judged_rounds import build_judge, extended, judge_by_quality, judge_round
from tests.evaluation.rating_rounds import PREFERENCE, QUALITY, build_runs, close_rating_round, open_rating

pytestmark = pytest.mark.django_db


@pytest.fixture
def raters(evaluator: User, ann1: User, ann2: User) -> list[User]:
    return [evaluator, ann1, ann2]


def rated(project: Project, lead: User, raters: list[User], **plan: Any) -> RatingDesign:
    return close_rating_round(project, lead, raters, build_runs(project, clusters=14), sample=10, **plan)


def worth(client: Any, design: RatingDesign) -> list[Any]:
    reply = client.get(f"/api/v1/rounds/{design.round_id}/judge-figures/")
    assert reply.status_code == 200, reply.json()
    found: list[Any] = reply.json()
    return found


def test_the_page_says_in_one_sentence_what_a_judge_is_worth(
    project: Project, lead: User, raters: list[User], client_of: Any
) -> None:
    design = rated(project, lead, raters)
    judge_round(design, judge_by_quality(), judge_set=extended(design))
    [before] = worth(client_of(lead), design)
    assert before["figures"] is None
    compute_judges(design=design)
    [one] = worth(client_of(lead), design)
    [coherence, relevance, consistency] = one["figures"]["criteria"]
    assert "Quill v1 may" in coherence["sentence"]
    assert "replace a rater for Coherence" in coherence["sentence"]
    assert coherence["decision"] != "yes" or coherence["length"]["ci"] is not None
    assert coherence["agreement"]["judge"]["value"] > 0.5
    assert coherence["systems"][0]["n"] == 10
    assert coherence["systems"][0]["others"] == 4
    assert coherence["systems"][0]["ci"] is None
    assert consistency["agreement"]["coefficient"] == "AC1"
    assert relevance["alternative"]["epsilon"] == 0.15


def test_a_release_and_its_methods_text_contain_the_sentences(project: Project, lead: User, raters: list[User]) -> None:
    design = rated(project, lead, raters)
    judge_round(design, judge_by_quality())
    compute_judges(design=design)
    files = dict(judges.files(project, Notes()))
    [line] = map(json.loads, files["judges/worth.jsonl"])
    assert line["judge"] == "Quill v1"
    sentences = tuple(row["sentence"] for row in line["figures"]["criteria"])
    assert all("replace a rater for" in sentence for sentence in sentences)
    assert judge_facts(project)[0].worth == sentences


def test_a_judge_changes_nothing_in_the_results_of_people(project: Project, lead: User, raters: list[User]) -> None:
    design = rated(project, lead, raters)
    compute_ratings(design=design, replicates=50)
    before = RatingFigures.objects.get(design=design).figures
    judge_round(design, judge_by_quality(), judge_set=extended(design))
    compute_ratings(design=design, replicates=50)
    compute_judges(design=design)
    assert RatingFigures.objects.get(design=design).figures == before


def test_the_job_of_a_rounds_results_computes_its_judges(
    project: Project, lead: User, raters: list[User], client_of: Any
) -> None:
    design = rated(project, lead, raters)
    judge_round(design, judge_by_quality())
    reply = client_of(lead).post(
        f"/api/v1/rounds/{design.round_id}/judge-figures/", {"group": "experts"}, format="json"
    )
    assert reply.status_code == 202
    assert run_job(Job.objects.get(pk=reply.json()["id"]).pk)
    [one] = worth(client_of(lead), design)
    assert (one["group"], one["figures"]["epsilon"]) == ("experts", 0.2)
    assert Job.objects.filter(kind=KIND).exists()
    # A later computation keeps the group.
    compute_judges(design=design)
    assert JudgeFigures.objects.get().group == "experts"
    assert default_group(design.round) == "skilled"


def test_a_closed_round_that_is_still_blind_shows_no_judge(
    project: Project, lead: User, evaluator: User, client_of: Any
) -> None:
    round = open_rating(project, [project.members.get(user=evaluator)], build_runs(project))
    judge_round(RatingDesign.objects.get(round=round), judge_by_quality())
    for user in (lead, evaluator):
        assert client_of(user).get(f"/api/v1/rounds/{round.pk}/judge-figures/").status_code in (403, 409)


def test_who_rates_now_sees_no_judge_of_an_earlier_round(
    project: Project, lead: User, raters: list[User], client_of: Any
) -> None:
    design = rated(project, lead, raters)
    judge_round(design, judge_by_quality())
    compute_judges(design=design)
    assert len(worth(client_of(lead), design)) == 1
    member = project.members.get(user=lead)
    open_rating(project, [member], [each.run for each in design.systems.all() if each.run], name="second")
    reply = client_of(lead).get(f"/api/v1/rounds/{design.round_id}/judge-figures/")
    # The systems are under embargo for the lead, who rates them blindly in the second round.
    assert reply.status_code == 403 or reply.json() == []


def test_queries_do_not_grow_with_judges(project: Project, lead: User, raters: list[User], client_of: Any) -> None:
    design = rated(project, lead, raters)
    client = client_of(lead)
    counts = []
    for n in (1, 3):
        while design.judge_runs.count() < n:
            judge_round(design, judge_by_quality())
        compute_judges(design=design)
        with CaptureQueriesContext(connection) as queries:
            assert len(worth(client, design)) == n
        counts.append([len(queries)])
        for path in ("", "judges/csv/", "judges-means/csv/", "ratings/latex/"):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(f"/api/v1/projects/{project.slug}/results/{path}").status_code == 200
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]


def test_pages_without_a_valid_answer_are_counted_and_filled(
    project: Project, lead: User, raters: list[User], client_of: Any
) -> None:
    design = rated(project, lead, raters)
    judge_round(design, judge_by_quality(), judge_set=extended(design), failed=(0, 1))
    compute_judges(design=design)
    [one] = worth(client_of(lead), design)
    facts, first = one["figures"]["facts"], one["figures"]["criteria"][0]
    assert facts["failed"] == 2
    assert first["imputed"] > 0
    assert first["systems"][0]["n"] == 10


def test_pairs_are_compared_in_both_orders(project: Project, lead: User, raters: list[User], client_of: Any) -> None:
    design = rated(project, lead, raters, protocol=PREFERENCE, options={"pairs_a_source": 3})
    judge_round(design, lambda criterion, system, code: f"{QUALITY[system] + 5:.1f}")
    compute_judges(design=design)
    [one] = worth(client_of(lead), design)
    row = one["figures"]["criteria"][0]
    assert row["kind"] == "preference"
    assert row["position"]["flips"]["value"] == 0
    assert row["position"]["first"]["value"] == 0.5
    best = max(row["systems"], key=lambda each: each["judge"])
    assert best["system"] == "Alder"


def test_the_sample_must_be_random(project: Project, lead: User, raters: list[User]) -> None:
    design = rated(project, lead, raters)
    run = judge_round(design, judge_by_quality(), judge_set=extended(design))
    assert JudgedRatings(run).sampled() == ""
    design.round.sampling |= {"sample": None}
    run.design = design
    assert JudgedRatings(run).sampled() == "the rated sources are no random sample: no interval"


def test_the_family_of_a_judge_names_its_own_systems(project: Project, lead: User, raters: list[User]) -> None:
    design = rated(project, lead, raters)
    run = judge_round(design, judge_by_quality(), judge=build_judge(project, family="No such family"))
    assert own_systems(run) == set()
