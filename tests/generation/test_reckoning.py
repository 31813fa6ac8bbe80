"""Means of scores and likelihoods are stored by the job that finishes; tables only read them."""

import json
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Cluster
from audit.actions import create_checkpoints
from audit.models import RowDigest
from audit.row_digests import differences
from generation.models import ProbeFigures, Score, Scoring, Summary
from generation.results.tables.scored import Scores
from generation.scoring.actions import compute_probe_figures, request_scores
from generation.scoring.checking import wrong_means
from generation.scoring.computing import (
    OWN,
    figures_of,
    has_current_means,
    means_of,
    probe_results,
    stored_results,
    summaries_of,
)
from measures.means import ScoreMeans
from projects import reports
from projects.jobs.running import run_job
from projects.models import Job, Project
from projects.reports.writing import words
from tests.annotation.m3_files import cluster, import_records, source, write
from tests.generation.score_tables import score_tables
from tests.generation.staged import StagedBackend
from tests.generation.summaries import bring_two_reviews, build_run, scored, the_target
from tests.generation.test_probing import clusters, judging, probed
from tests.generation.workers import staged_version

pytestmark = pytest.mark.django_db
__all__ = ["clusters", "judging"]
METRICS = ("rouge", "copying", "length", "direction")


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    return bring_two_reviews(project, tmp_path)


def rouge1(project: Project) -> str:
    cell = reports.get("m3-4").build(Scores(project)).rows[0][5]
    return words(cell) or cell.undefined


def test_means_that_are_not_those_of_the_scores_are_found(corpus: Project) -> None:
    scored(build_run(corpus), "length")
    scoring = Scoring.objects.complete().get()
    assert list(wrong_means()) == []
    assert scoring.means
    Scoring.objects.update(means=scoring.means | {"summaries": 3})
    assert [row for row, _ in wrong_means()] == [f"generation.scoring {scoring.pk}"]


def test_a_worker_stores_the_means_with_the_last_score(corpus: Project) -> None:
    run = build_run(corpus)
    job = request_scores(run=run, metric="rouge", params={}, by=None)
    assert isinstance(job, Job)
    run_job(job.pk)
    scoring = Scoring.objects.get()
    assert (has_current_means(scoring), summaries_of(scoring)) == (True, 2)
    mean = figures_of(scoring)["rouge1_f1", OWN].mean
    assert (mean.n, mean.clusters) == (2, 2)
    assert (mean.ci, mean.ci_reason) == (None, "no reliable interval (few reviews; n = 2 reviews)")
    assert mean.value == pytest.approx((2 / 3 + 2 / 5) / 2)
    assert figures_of(scoring) == figures_of(Scoring(means=json.loads(json.dumps(means_of(scoring)))))


def test_tables_read_no_score_and_no_likelihood(
    corpus: Project, clusters: list[Cluster], judging: StagedBackend
) -> None:
    for name in ("One", "Two"):
        scored(build_run(corpus, name), *METRICS)
        probed(staged_version(corpus, f"Probed {name}"))
    with CaptureQueriesContext(connection) as seen:
        scores = Scores(corpus)
        made = [each.build(scores) for each in score_tables()]
    # Tables of the levels of pairs and questions: no run of this test has these levels.
    assert all(made_rows.rows for each, made_rows in zip(score_tables(), made, strict=True) if each.is_of(scores))
    rows = [query["sql"] for query in seen if '"generation_score"' in query["sql"] or "probescore" in query["sql"]]
    assert rows
    assert all(sql.split("COUNT(DISTINCT")[0].count(",") == 1 for sql in rows), "they are only counted"


def test_the_page_takes_the_same_queries_for_more_systems_metrics_and_units(corpus: Project, tmp_path: Path) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            scores = Scores(corpus)
            for each in score_tables():
                each.build(scores)
        return len(seen)

    for name in ("Nought", "Half"):
        scored(build_run(corpus, name), "rouge")
    before = queries()
    more = [cluster(f"{n}_0", [source(f"It is {n}", str(n))], target_text=f"It was {n}") for n in range(400, 420)]
    import_records(corpus, write(tmp_path / "more.jsonl", more))
    for name in ("One", "Two"):
        scored(build_run(corpus, name, write=the_target), *METRICS, "bleu", "chrf", "repetition")
    assert queries() == before
    assert before <= 15


def test_missing_means_of_old_scores_are_computed_by_a_job(corpus: Project) -> None:
    run = build_run(corpus)
    scored(run, "rouge")
    whole = rouge1(corpus)
    for means in (None, {"rule": "another rule", "summaries": 2, "figures": []}):
        Scoring.objects.update(means=means)
        assert rouge1(corpus) == "its mean is not computed yet"
        step = reports.get("m3-4").build(Scores(corpus)).missing[0]
        assert (step.words, step.runs, step.metric) == ("ROUGE of Lead (proposition)", [run.pk], "rouge")
        job = request_scores(run=run, metric="rouge", params={}, by=None)
        assert isinstance(job, Job)
        run_job(job.pk)
        assert rouge1(corpus) == whole
    assert Scoring.objects.count() == 1


def test_interleaved_rows_of_scorings_are_kept_apart(corpus: Project) -> None:
    made = [Scoring.objects.create(run=build_run(corpus, name), metric="length", hash=name) for name in ("A", "B")]
    for summaries in zip(*(Summary.objects.filter(item__run=scoring.run) for scoring in made), strict=True):
        for count, (scoring, summary) in enumerate(zip(made, summaries, strict=True), start=1):
            Score.objects.create(scoring=scoring, summary=summary, values={"words": count})
    for count, scoring in enumerate(made, start=1):
        with CaptureQueriesContext(connection) as seen:
            [words] = means_of(scoring)["figures"]
        assert words["mean"]["value"] == count
        assert len(seen) == 1


def test_a_worker_computes_probe_figures_when_the_run_ends(clusters: list[Cluster], judging: StagedBackend) -> None:
    run = probed(staged_version(clusters[0].project))
    assert Job.objects.get(kind="reckon_probe").status == "done"
    stored = ProbeFigures.objects.get()
    assert (stored.run_id, stored.items) == (run.pk, 2)
    assert stored_results(stored, "all") + stored_results(stored, "content") == probe_results(run)


def test_probe_figures_of_another_rule_are_reported_missing_and_recomputed(
    clusters: list[Cluster], judging: StagedBackend
) -> None:
    run = probed(staged_version(clusters[0].project))
    stored = ProbeFigures.objects.get()
    of_today = stored.rows
    stored.rule = ""
    stored.save()
    table = reports.get("m3-7").build(Scores(run.version.system.project))
    assert table.rows == []
    [step] = table.missing
    assert step.words.startswith("the figures of 2 of the 2 finished items of Staged")
    assert compute_probe_figures(run).rows == of_today
    assert ProbeFigures.objects.exclude(pk=stored.pk).get().rows == of_today
    assert compute_probe_figures(run) == ProbeFigures.objects.exclude(pk=stored.pk).get(), "they are reckoned once"
    assert reports.get("m3-7").build(Scores(run.version.system.project)).missing == []


def test_no_interval_of_a_mean_is_printed_where_most_reviews_have_no_word_in_common() -> None:
    means = ScoreMeans({"rouge1_f1": (0.0, 1.0)})
    for review, value in enumerate((0.0,) * 38 + (0.6, 0.3)):
        means.add(summary=review, review=review, side=OWN, values={"rouge1_f1": value}, undefined={})
    [figure] = means.as_json()["figures"]
    assert figure["mean"]["ci"] is None
    assert figure["mean"]["ci_reason"]


def test_reasons_stand_in_an_order_of_their_own(corpus: Project) -> None:
    made = [Scoring.objects.create(run=build_run(corpus, name), metric="length", hash=name) for name in ("A", "B")]
    for scoring, reasons in zip(made, (("no words", "empty"), ("empty", "no words")), strict=True):
        for reason, summary in zip(reasons, Summary.objects.filter(item__run=scoring.run), strict=True):
            Score.objects.create(scoring=scoring, summary=summary, values={"words": None}, undefined={"words": reason})
        figure = figures_of(Scoring(means=means_of(scoring)))["words", OWN]
        assert figure.why == "empty; no words"
        assert list(figure.undefined.items()) == [("empty", 1), ("no words", 1)]
    stored = means_of(made[0])
    stored["figures"][0]["undefined"] = {"no words": 1, "empty": 1}
    assert list(figures_of(Scoring(means=stored))["words", OWN].undefined) == ["empty", "no words"]


def test_recomputing_a_probe_does_not_change_recorded_digests(clusters: list[Cluster], judging: StagedBackend) -> None:
    """An upgrade with another interval rule must not look like tampering."""
    run = probed(staged_version(clusters[0].project))
    stored = ProbeFigures.objects.get()
    ProbeFigures.objects.update(rule="", rows=[{**row, "method": "another"} for row in stored.rows])
    create_checkpoints()
    compute_probe_figures(run)
    assert [found for made in RowDigest.objects.all() for found in differences(made)] == []
