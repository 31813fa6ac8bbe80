"""Evidence mapping: a job ranks sentences of studies; rankings are compared with people's choices."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.sentences import split
from annotation.evidence import actions as evidence_actions
from annotation.evidence.queries import evaluation
from annotation.evidence.tables import REFERENCE
from annotation.models import Input, Level, Ranking, Review, Study, Target
from projects import reports
from projects.jobs.running import Cancelled, run_job
from projects.models import Job, JobStatus, Project, Unit
from projects.reports.registry import Tables
from projects.stored_figures.actions import compute_and_store
from tests.builders import include

pytestmark = pytest.mark.django_db
TARGET = "Nepralin reduces attacks of migraine."
ABSTRACT = (
    "Nepralin is a drug for migraine. We randomised adults to nepralin or placebo. "
    "Nepralin reduced attacks of migraine. Nausea was common."
)
EVIDENCE = "Nepralin reduced attacks of migraine."
ADDRESS = "/api/v1/projects/eye/evidence/"


def build_review(project: Project, number: int, studies: int = 2, **study: Any) -> Target:
    """Create a review with a target sentence and studies with a chosen sentence each."""
    unit = Unit.objects.create(project=project, type="review", key=str(26_000_000 + number))
    review = Review.objects.create(project=project, pmid=unit.key, unit=unit, title=f"Review {number}")
    own = Unit.objects.create(project=project, type="target", key=f"{unit.key}_0")
    target = Target.objects.create(
        project=project, review=review, level=Level.SENTENCE, key=own.key, position=number, text=TARGET, unit=own
    )
    for n in range(studies):
        made = Study.objects.create(
            project=project, pmid=str(10_000_000 + 100 * number + n), **{"abstract": ABSTRACT} | study
        )
        include(review, made)
        split([made])
        Input.objects.create(target=target, study=made, position=n, text=EVIDENCE)
    return target


def test_shared_words_rank_what_people_took_and_the_report_says_how_often(project: Project) -> None:
    for number in range(3):
        build_review(project, number)
    build_review(project, 3, studies=1, abstract="")
    other = build_review(project, 4, studies=1)
    Input.objects.create(
        target=other, study=Study.objects.latest("pk"), position=1, text="Not a sentence of it at all."
    )
    made = evidence_actions.rank(project=project, ranker="words", model="")
    assert made == {"ranker": "words: BM25, 1", "ranked": 7, "pairs": 7}
    assert all(row.order[0] == 3 and len(row.similarities) == 4 for row in Ranking.objects.all())
    found = evaluation(project)
    assert (found["targets"], found["studies"], found["studies_without_sentences"]) == (5, 8, 1)
    assert (found["pairs"], found["mapped"], found["not_found"], found["no_abstract"]) == (7, 7, 1, 1)
    only = found["rankings"][0]
    assert (only["ranked"], only["report"]["top_1"]["value"], only["report"]["top_1"]["n"]) == (7, 1.0, 7)
    # In an unstructured abstract the last two sentences come first, and the evidence is one of them here.
    assert found["baseline"]["position"]["value"] == 1.0
    assert (found["baseline"]["chance_1"], found["baseline"]["sentences"]) == (0.25, 4.0)


def test_rankings_are_kept_until_a_text_changes(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    build_review(project, 0)
    evidence_actions.rank(project=project, ranker="words", model="")
    asked: list[int] = []
    compare = evidence_actions._rows

    def counted(name: str, study: int, targets: list[Target], *rest: Any) -> list[Ranking]:
        asked.append(len(targets))
        return compare(name, study, targets, *rest)

    monkeypatch.setattr(evidence_actions, "_rows", counted)
    assert evidence_actions.rank(project=project, ranker="words", model="")["ranked"] == 0
    build_review(project, 1, studies=1)
    assert evidence_actions.rank(project=project, ranker="words", model="")["ranked"] == 1
    Target.objects.filter(position=0).update(text="Nausea was common.")
    assert evidence_actions.rank(project=project, ranker="words", model="")["ranked"] == 2
    assert asked == [1, 1, 1]
    assert Ranking.objects.count() == 3
    assert {row.order[0] for row in Ranking.objects.filter(target__position=0)} == {4}


def test_a_cancelled_ranking_keeps_its_results_and_the_next_job_continues(project: Project, lead: User) -> None:
    for number in range(4):
        build_review(project, number, studies=1)
    told: list[int] = []

    def stop(done: int, total: int | None, note: str) -> None:
        told.append(done)
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        evidence_actions.rank(project=project, ranker="words", model="", progress=stop)
    assert (told, Ranking.objects.count()) == ([0, 1, 2], 2)
    asked = evidence_actions.queue_ranking(project=project, ranker="words", model="", by=lead)
    assert run_job(asked.pk)
    asked.refresh_from_db()
    assert (asked.status, asked.done, asked.total) == (JobStatus.DONE, 4, 4)
    assert Ranking.objects.count() == 4


def test_a_curator_requests_ranks_and_reads_the_report_in_fixed_queries(
    project: Project, lead: User, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    build_review(project, 0)
    client = client_of(lead)
    assert client.get(ADDRESS).json()["rankings"] == []
    assert client_of(ann1).get(ADDRESS).status_code == 403
    unknown = client.post(ADDRESS, {"ranker": "tea leaves"}, format="json").json()
    assert unknown["errors"] == [{"field": "ranker", "message": "Unknown ranker 'tea leaves'."}]
    assert client.post(ADDRESS, {"ranker": "words", "model": "x"}, format="json").status_code == 422
    assert client.post(ADDRESS, {"ranker": "embeddings"}, format="json").json()["errors"][0]["field"] == "model"
    asked = client.post(ADDRESS, {"ranker": "words"}, format="json")
    assert asked.status_code == 202
    assert client.post(ADDRESS, {"ranker": "words"}, format="json").json()["id"] == asked.json()["id"]
    assert client.get(ADDRESS).json()["job"]["id"] == asked.json()["id"]
    run_job(asked.json()["id"])

    def queries() -> int:
        with CaptureQueriesContext(connection) as counted:
            assert client.get(ADDRESS).json()["job"] is None
        return len(counted)

    few = queries()
    for number in range(1, 6):
        build_review(project, number, studies=3)
    evidence_actions.rank(project=project, ranker="words", model="")
    assert queries() == few


def test_a_project_without_targets_has_nothing_to_rank(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    refused = client_of(lead).post(ADDRESS, {"ranker": "words"}, format="json").json()
    assert "Nothing to rank" in refused["errors"][0]["message"]
    assert not Job.objects.filter(kind=evidence_actions.KIND).exists()


def test_an_encoder_that_is_not_there_fails_with_the_reason(project: Project, lead: User, settings: Any) -> None:
    build_review(project, 0)
    asked = evidence_actions.queue_ranking(project=project, ranker="embeddings", model="none-such", by=lead)
    run_job(asked.pk)
    asked.refresh_from_db()
    assert asked.status == JobStatus.FAILED
    assert "none-such" in asked.error
    with pytest.raises(CommandError, match="none-such"):
        call_command("evidence", project="eye", ranker="embeddings", model="none-such")


def test_the_command_ranks_and_prints_every_share_with_its_n(project: Project) -> None:
    for number in range(3):
        build_review(project, number)
    out = StringIO()
    call_command("evidence", project="eye", ranker="words", stdout=out)
    said = out.getvalue()
    assert "6 of 6 pairs ranked by words: BM25, 1." in said
    assert "Chance, first: 0.250" in said
    assert "words: BM25, 1: first: 1.000 (no reliable interval (few reviews" in said
    assert "n = 6, 3 reviews" in said


def test_rankers_are_compared_with_the_best_or_a_chosen_one_on_page_and_in_a_table(
    project: Project, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    for number in range(3):
        build_review(project, number)
    evidence_actions.rank(project=project, ranker="words", model="")
    # Another ranker misses the evidence (sentence 3) once, and once more among the first three; it ranked 5 of 6 pairs.
    orders = ([3, 1, 2, 4], [3, 1, 2, 4], [1, 3, 2, 4], [1, 2, 4, 3], [3, 1, 2, 4])
    for row, order in zip(Ranking.objects.order_by("pk"), orders, strict=False):
        Ranking.objects.create(
            target=row.target, study=row.study, ranker="other", texts=row.texts, order=order, similarities=[]
        )
    client = client_of(lead)
    found = client.get(ADDRESS).json()
    assert found["against"] == "words: BM25, 1"
    other, words = found["rankings"]
    assert (words["mapped"], other["mapped"], words["report"]["top_1"]["n"]) == (6, 5, 5)
    assert [other["report"][name]["value"] for name in ("top_1", "top_3")] == [0.6, 0.8]
    assert [round(one["value"], 9) for one in other["differences"]] == [-0.4, -0.2]
    assert other["differences"][0]["clusters"] == 3
    assert "few reviews" in other["differences"][0]["ci_reason"]
    assert words["differences"] == []
    assert found["baseline"]["position"]["n"] == 5
    turned = client.get(ADDRESS, {"against": "other"}).json()
    assert [round(one["value"], 9) for one in turned["rankings"][1]["differences"]] == [0.4, 0.2]
    assert client.get(ADDRESS, {"against": "tea leaves"}).json()["errors"][0]["field"] == "against"
    compute_and_store(project=project)
    table = Tables(project).build(reports.get("rankers"))
    assert [cell.value for cell in table.rows[0][:5]] == ["other", 5, 3, 60.0, 80.0]
    assert table.rows[0][5].value == pytest.approx(-40)
    assert {cell.undefined for cell in table.rows[1][5:]} == {REFERENCE}
    assert any("other has ranked only 5 of 6 mapped pairs" in note for note in table.notes)
    assert any(".522" in note for note in table.notes)
