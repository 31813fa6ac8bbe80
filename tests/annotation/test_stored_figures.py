"""Stored figures of the corpus: computed by one job after changes, never lost, and equal to a plain computation."""

import statistics as plain
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import Q
from rest_framework.test import APIClient

from accounts.models import User
from annotation.clusters.completeness import count_lacking, find_lacking
from annotation.clusters.figures import COMPLETENESS, lacking_now
from annotation.corpus.figures import LEVELS, SUMMARY, LevelFigures, SummaryFigures
from annotation.corpus.queries import states
from annotation.corpus.statistics import table
from annotation.curation.actions import add_review, remove_cluster
from annotation.documents.actions import make_documents
from annotation.kinds.supersede import supersede_text
from annotation.models import Cluster, Proposition, Review
from projects.curation.actions import correct
from projects.jobs.running import run_job
from projects.models import Job, JobStatus, Member, Project, StoredFigures
from projects.stored_figures.actions import compute_and_store, enqueue_figures, enqueue_missing
from projects.stored_figures.queries import KIND, stored
from tests.annotation.m3_files import cluster, import_records, write
from tests.builders import label_value
from tests.concurrency import outside_the_job

Client = Callable[[User], APIClient]
SAMPLE = Path("annotation/sample/level3.jsonl")


def waiting(project: Project) -> list[Job]:
    return list(Job.objects.filter(project=project, kind=KIND, status=JobStatus.QUEUED).order_by("pk"))


def run(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(not_before=None)
    assert run_job(job.pk)
    job.refresh_from_db()
    return job


@pytest.fixture
def by(project: Project, lead: User) -> Member:
    return Member.objects.get(project=project, user=lead)


@pytest.fixture
def computed(corpus: Project) -> Project:
    """The corpus with current figures."""
    run(waiting(corpus)[0])
    return corpus


def add(project: Project, by: Member) -> None:
    add_review(project=project, pmid="7", title="", abstract="", sentences=[], by=by)


def correct_label(project: Project, by: Member) -> None:
    unit = Proposition.objects.filter(cluster__project=project)[0].unit
    correct(unit=unit, kind="label", value=label_value("no effect", "weak"), reason="Read again.", by=by)


def correct_text(project: Project, by: Member) -> None:
    supersede_text(proposition=Proposition.objects.current()[0], text="Nepralin may help.", reason="Typo.", by=by)


def remove(project: Project, by: Member) -> None:
    remove_cluster(cluster=Cluster.objects.current()[0], reason="Twice.", by=by)


def create_documents(project: Project, by: Member) -> None:
    make_documents(project=project, by=by.user)


@pytest.mark.parametrize("change", [add, correct_label, correct_text, remove, create_documents])
def test_a_change_enqueues_one_job_and_the_page_says_that_its_figures_are_outdated(
    computed: Project, by: Member, change: Callable[[Project, Member], None]
) -> None:
    assert stored(computed, SUMMARY).job is None
    change(computed, by)
    remove(computed, by)
    [job] = waiting(computed)
    assert lacking_now(computed) == count_lacking(find_lacking(Cluster.objects.current())), "counted anew"
    before = stored(computed, SUMMARY)
    assert before.job == job
    assert before.figures["reviews"] == 2
    run(job)
    after = stored(computed, SUMMARY)
    assert after.job is None
    assert (after.as_of or 0) > (before.as_of or 0)  # type: ignore[operator]
    assert after.figures == SummaryFigures().compute(computed, lambda *_: None)


def test_incomplete_clusters_are_not_counted_again_while_the_stored_counts_are_current(computed: Project) -> None:
    assert lacking_now(computed) == count_lacking(find_lacking(Cluster.objects.current()))
    StoredFigures.objects.filter(key=COMPLETENESS).update(figures='{"counts": {"all": 99}}')
    assert lacking_now(computed) == {"all": 99}


def test_a_filtered_list_counts_incomplete_clusters_among_the_stored_ones(computed: Project) -> None:
    review = Cluster.objects.all()[0].review.pmid
    Proposition.objects.filter(position__gte=1).delete()
    compute_and_store(project=computed)
    known = [states(computed, filters, curates=True) for filters in ({}, {"review": review})]
    StoredFigures.objects.filter(key=COMPLETENESS).update(rule=0)
    assert known == [states(computed, filters, curates=True) for filters in ({}, {"review": review})]
    lacking_inputs = [{row["state"]: row["clusters"] for row in rows}["no_inputs"] for rows in known]
    assert lacking_inputs[0] > lacking_inputs[1] > 0


def test_a_large_corpus_is_not_counted_in_a_request_while_a_job_is_about_to_count_it(
    computed: Project, by: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = lacking_now(computed)
    remove(computed, by)
    monkeypatch.setattr("projects.stored_figures.queries.LARGE", before["all"])
    now = count_lacking(find_lacking(Cluster.objects.current()))
    assert lacking_now(computed) == now != before, "small"
    monkeypatch.setattr("projects.stored_figures.queries.LARGE", before["all"] - 1)
    assert lacking_now(computed) == before
    Job.objects.filter(kind=KIND, status=JobStatus.QUEUED).update(status=JobStatus.FAILED)
    assert lacking_now(computed) == now, "no job is about to count it"


def test_the_page_of_a_new_corpus_shows_the_job_that_computes_its_figures(
    corpus: Project, lead: User, client_of: Client
) -> None:
    [job] = waiting(corpus)
    reply = client_of(lead).get("/api/v1/projects/eye/summary/").json()
    assert (reply["figures"], reply["as_of"], reply["job"]["id"]) == (None, None, job.pk)


def test_two_jobs_of_simultaneous_imports_are_one_computation(corpus: Project, tmp_path: Path) -> None:
    first = waiting(corpus)[0]
    # The transaction of the second import does not see the job of the first.
    second = Job.objects.create(project=corpus, kind=KIND)
    import_records(corpus, write(tmp_path / "b", [cluster("40000001_0")]))
    run(first)
    second.refresh_from_db()
    assert second.status == JobStatus.DONE
    assert stored(corpus, SUMMARY).job is None
    assert stored(corpus, SUMMARY).figures["clusters"] == 4


def test_a_change_during_the_computation_is_computed_by_a_job_of_its_own(
    computed: Project, by: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(self: Any, project: Project, progress: Any) -> Any:
        with outside_the_job():
            remove(project, by)
        return []

    remove(computed, by)
    [job] = waiting(computed)
    monkeypatch.setattr(LevelFigures, "compute", compute)
    run(job)
    [later] = waiting(computed)
    assert stored(computed, SUMMARY).job == later
    monkeypatch.undo()
    run(later)
    assert stored(computed, SUMMARY).figures["clusters"] == 1


def test_an_older_computation_does_not_replace_a_newer_one(
    computed: Project, by: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute = SummaryFigures.compute

    def overtaken(self: SummaryFigures, project: Project, progress: Any) -> Any:
        monkeypatch.undo()
        old = compute(self, project, progress)
        remove(project, by)
        compute_and_store(project=project)
        return old

    monkeypatch.setattr(SummaryFigures, "compute", overtaken)
    compute_and_store(project=computed)
    assert stored(computed, SUMMARY).figures["clusters"] == 2


def test_a_second_attempt_computes_the_sets_that_are_left_and_leaves_later_changes_to_their_job(
    computed: Project, by: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    correct_label(computed, by)
    [job] = waiting(computed)
    sets: list[str] = []

    def counting(self: SummaryFigures, project: Project, progress: Any) -> Any:
        sets.append(SUMMARY)
        return {"clusters": len(sets)}

    def die(self: LevelFigures, project: Project, progress: Any) -> Any:
        raise RuntimeError("The worker died.")

    monkeypatch.setattr(SummaryFigures, "compute", counting)
    with monkeypatch.context() as patch:
        patch.setattr(LevelFigures, "compute", die)
        assert run(job).status == JobStatus.QUEUED
    later = Job.objects.create(project=computed, kind=KIND)
    assert run(job).status == JobStatus.DONE
    assert (sets, stored(computed, SUMMARY).figures) == ([SUMMARY], {"clusters": 1})
    assert stored(computed, SUMMARY).job == later


def test_figures_of_an_earlier_version_are_computed_without_a_change(
    computed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    enqueue_missing()
    assert waiting(computed) == []
    monkeypatch.setattr(LevelFigures, "rule", 99)
    enqueue_missing()
    enqueue_missing()
    [job] = waiting(computed)
    assert stored(computed, LEVELS).figures is None
    run(job)
    assert stored(computed, LEVELS).job is None
    Job.objects.filter(kind=KIND).update(status=JobStatus.FAILED)
    StoredFigures.objects.all().delete()
    enqueue_missing()
    assert waiting(computed) == [], "a job that fails would fail every minute"


def test_a_command_computes_current_figures_before_it_prints_tables(
    computed: Project, by: Member, capsys: pytest.CaptureFixture[str]
) -> None:
    Review.objects.update(topic="pain")
    enqueue_figures(Q(pk=computed.pk))
    call_command("tables", "--project", "eye", "--table", "m3-1")
    printed = capsys.readouterr().out
    assert "| pain | 2 |" in printed
    assert "being" not in printed
    assert stored(computed, SUMMARY).job is None


def levels_read_at_once(project: Project) -> Iterator[dict[str, Any]]:
    """Yield Table 2 of the propositions, with all texts in memory."""
    rows = Proposition.objects.current().filter(cluster__project=project)
    targets = {p.cluster_id: len(p.text.split()) for p in rows if not p.position}
    inputs = [p for p in rows if p.position]
    words = {pk: sum(len(p.text.split()) for p in inputs if p.cluster_id == pk) for pk in targets}
    yield {
        "level": "proposition",
        "targets": len(targets),
        "inputs": len(inputs),
        "reviews": len({p.cluster.review_id for p in rows}),
        "studies": len({p.study_id for p in inputs}),
        "inputs_per_target": len(inputs) / len(targets),
        "compression": plain.fmean(words[pk] / n for pk, n in targets.items()),
    }


def test_figures_read_in_batches_equal_those_read_at_once(
    project: Project, by: Member, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_records(project, write(tmp_path / "sample.jsonl", SAMPLE.read_bytes()))
    remove(project, by)
    correct_text(project, by)
    [expected] = levels_read_at_once(project)
    for size in (1, 7, 100):
        monkeypatch.setattr("annotation.corpus.statistics.BATCH", size)
        [row] = table(project)
        assert row["compression"] == pytest.approx(expected["compression"], rel=1e-14)
        assert row | {"compression": 0} == expected | {"compression": 0}
