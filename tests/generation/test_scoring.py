"""Scoring a run: every summary once, with every reference, under all faults of workers."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from annotation.kinds.supersede import supersede_text
from annotation.models import Proposition
from api.problems import Conflict, Refused
from audit.models import Entry
from generation import metrics
from generation.metrics.length import LengthScorer
from generation.metrics.protocol import Judged, Row
from generation.models import Run, Score, Scoring
from generation.scoring.actions import request_scores, score_run
from generation.sources import units_of
from projects.jobs import jobs
from projects.jobs.running import RunningJob, run_job
from projects.models import Job, Project, Unit
from tests.annotation.m3_files import cluster, import_records, plain, source, write
from tests.concurrency import outside_the_job
from tests.generation.summaries import add_summary, build_run, the_target

pytestmark = pytest.mark.django_db


def quiet(done: int, total: int | None, note: str) -> None:
    pass


def scored(run: Run, metric: str = "length", **params: Any) -> Scoring:
    return score_run(run=run, metric=metric, params=params, by=None, progress=quiet)


def asked(run: Run, metric: str = "length", **params: Any) -> Job | Scoring:
    return request_scores(run=run, metric=metric, params=params, by=None)


@pytest.fixture
def corpus(project: Project, tmp_path: Path) -> Project:
    """Seven clusters of one review, and the review as a document with two target sentences."""
    clusters = [
        cluster(f"111_{n}", [source(f"Trial {n} helped.", str(n + 1))], target_text=f"It reduces relapse {n}.")
        for n in range(7)
    ]
    import_records(project, write(tmp_path / "level3.jsonl", clusters))
    document = plain("111", "It helps, and is safe.", ("1", "Trial one."), ("2", "Trial two."))
    import_records(project, write(tmp_path / "level1.jsonl", [document]), level="1")
    sentences = [plain(f"111_{n}", f"It helps {n}.", ("1", f"Trial {n} is cited.")) for n in range(2)]
    import_records(project, write(tmp_path / "level2.jsonl", sentences), level="2")
    return project


@pytest.fixture
def run(corpus: Project) -> Run:
    return build_run(corpus)


class Counting(LengthScorer):
    """A metric that records its calls."""

    asked: list[int] = []

    def score(self, batch: Sequence[Judged]) -> list[list[Row]]:
        self.asked.extend(judged.summary for judged in batch)
        return super().score(batch)


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr("generation.scoring.actions.BATCH", 2)
    monkeypatch.setattr(metrics.get("length"), "load", lambda params: Counting())
    Counting.asked = []
    return Counting.asked


def test_a_job_scores_every_summary_and_reports_progress(run: Run, lead: User) -> None:
    job = request_scores(run=run, metric="length", params={}, by=lead)
    assert isinstance(job, Job)
    assert run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.total, job.queue) == ("done", 7, 7, "default")
    scoring = Scoring.objects.get(pk=(job.result or {})["scoring"])
    assert scoring.finished_at is not None
    assert scoring.libraries["sentences"]
    own = [score.values for score in scoring.scores.filter(reference=None)]
    assert own == [{"words": 3, "sentences": 1, "characters": 15}] * 7
    ratios = [score.values["words_ratio"] for score in scoring.scores.exclude(reference=None)]
    assert ratios == [pytest.approx(3 / 4)] * 7
    entry = Entry.objects.get(verb="ask for scores")
    assert (entry.actor_id, entry.after) == (lead.pk, {"metric": "length", "params": {}})


def test_an_identical_scoring_is_not_repeated(run: Run) -> None:
    job = asked(run)
    assert asked(run) == job, "it is under way already"
    assert isinstance(job, Job)
    run_job(job.pk)
    done = asked(run)
    assert isinstance(done, Scoring)
    assert scored(run) == done
    assert Scoring.objects.count() == 1
    assert Job.objects.filter(kind="score_run").count() == 1


def test_new_summaries_make_a_new_scoring(run: Run, corpus: Project, tmp_path: Path) -> None:
    before = scored(run)
    import_records(corpus, write(tmp_path / "more.jsonl", [cluster("222_0")]))
    add_summary(run, units_of(corpus, "proposition")[-1], "One more.")
    assert isinstance(asked(run), Job)
    after = scored(run)
    assert after != before
    assert (before.scores.filter(reference=None).count(), after.scores.filter(reference=None).count()) == (7, 8)


def test_a_corrected_target_makes_a_new_scoring(run: Run, corpus: Project, lead: User) -> None:
    before = scored(run)
    target = Proposition.objects.get(position=0, cluster__key="111_3")
    by = corpus.members.get(user=lead)
    supersede_text(proposition=target, text="It does much, much more harm than good.", by=by, reason="misread")
    after = scored(run)
    assert after != before
    assert sorted(after.scores.exclude(reference=None).values_list("values__words_ratio", flat=True))[0] == 3 / 8


def test_a_document_is_judged_against_its_own_text_and_each_proposition(corpus: Project) -> None:
    run = build_run(corpus, level="document", write=the_target)
    scoring = scored(run, "rouge")
    rows = {score.reference_id: score.values for score in scoring.scores.all()}
    assert len(rows) == 1 + 7
    assert sorted(row["rouge1_f1"] == 1.0 for row in rows.values()) == [False] * 7 + [True]
    assert [row["rouge1_recall"] for row in rows.values() if row["rouge1_f1"] != 1.0] == [pytest.approx(1 / 4)] * 7


def test_target_sentences_are_judged_against_their_own_text(corpus: Project) -> None:
    scoring = scored(build_run(corpus, level="sentence", write=the_target), "rouge")
    assert list(scoring.scores.values_list("values__rougeL_f1", flat=True)) == [1.0, 1.0]


def test_a_killed_scoring_continues_where_it_stopped(run: Run, counting: list[int]) -> None:
    """The worker dies while it stores the third batch, and another one continues."""
    job = asked(run)
    assert isinstance(job, Job)

    def vanish(running: RunningJob, done: int, total: int | None = None, note: str = "") -> None:
        if done == 6:
            raise SystemExit("killed")
        told(running, done, total, note)

    told = RunningJob.progress
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningJob, "progress", vanish)
        with pytest.raises(SystemExit):
            run_job(job.pk)
    assert Score.objects.filter(reference=None).count() == 4
    assert Scoring.objects.complete().count() == 0
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))
    first, counting[:] = list(counting), []
    assert run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "done"
    assert (len(first), len(counting)) == (6, 3), "what was stored is not scored again"
    assert Score.objects.filter(reference=None).count() == 7
    assert Scoring.objects.get().finished_at is not None


def test_a_worker_that_lost_its_lease_writes_nothing_more(run: Run, counting: list[int]) -> None:
    job = asked(run)
    assert isinstance(job, Job)

    def overtaken(running: RunningJob, done: int, total: int | None = None, note: str = "") -> None:
        if done == 4:
            running.job.fence -= 1  # as seen by a worker whose job another has taken
        told(running, done, total, note)

    told = RunningJob.progress
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningJob, "progress", overtaken)
        run_job(job.pk)
    assert Score.objects.filter(reference=None).count() == 2
    assert Scoring.objects.get().finished_at is None


def test_a_cancelled_scoring_keeps_what_it_has_and_can_be_asked_for_again(run: Run, counting: list[int]) -> None:
    job = asked(run)
    assert isinstance(job, Job)

    def stop(running: RunningJob, done: int, total: int | None = None, note: str = "") -> None:
        if done == 2:
            with outside_the_job():
                jobs.cancel(job)
        told(running, done, total, note)

    told = RunningJob.progress
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RunningJob, "progress", stop)
        run_job(job.pk)
    job.refresh_from_db()
    assert job.status == "cancelled"
    again = asked(run)
    assert again != job
    assert isinstance(again, Job)
    run_job(again.pk)
    assert Score.objects.filter(reference=None).count() == 7


def test_concurrent_scorings_store_every_row_once(run: Run, counting: list[int]) -> None:
    def overlapping(done: int, total: int | None, note: str) -> None:
        if done == 4 and not Scoring.objects.complete().exists():
            scored(run)

    score_run(run=run, metric="length", params={}, by=None, progress=overlapping)
    assert Score.objects.filter(reference=None).count() == 7
    assert Scoring.objects.count() == 1


@pytest.mark.parametrize(
    ("metric", "params", "said"),
    [
        ("rouje", {}, "Unknown metric"),
        ("rouge", {"stemer": True}, "Unknown parameter"),
        ("rouge", {"stemmer": 3}, "Expected true or false"),
    ],
)
def test_missing_objects_are_refused(run: Run, metric: str, params: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        request_scores(run=run, metric=metric, params=params, by=None)
    assert not Job.objects.filter(kind="score_run").exists()


def test_a_summary_without_a_target_has_a_note(run: Run, corpus: Project) -> None:
    targets = Proposition.objects.filter(position=0).select_related("unit")
    lost, other = targets[0], targets[1]
    Unit.objects.filter(pk=lost.unit_id).update(superseded_by=other.unit)
    rows = scored(run, "rouge").scores.filter(summary__item__unit=lost.cluster.unit)
    assert [(row.reference, row.values["rouge1_f1"]) for row in rows] == [(None, None)]
    assert rows[0].undefined["rouge1_f1"] == "its unit has no target"


def test_a_run_without_summaries_is_refused(corpus: Project) -> None:
    with pytest.raises(Conflict, match="no summaries"):
        asked(build_run(corpus, write=lambda material: None))


def test_a_row_says_why_a_figure_is_missing() -> None:
    with pytest.raises(ValueError, match="x"):
        Row(None, {"x": None})
    with pytest.raises(ValueError, match="x"):
        Row(None, {"x": float("nan")})
