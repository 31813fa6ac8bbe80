"""The progress of runs in words and figures, from rows only."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from generation.models import Run, Version
from generation.runs.actions import start_run, stop_run
from generation.runs.queries import State, progress_of, progress_of_many
from projects.models import Job, JobStatus, Project
from tests.builders import build_cluster
from tests.generation.staged import StagedBackend
from tests.generation.test_runs import fresh
from tests.generation.workers import lapse, staged_version, work


@pytest.fixture
def version(project: Project, staged: StagedBackend) -> Version:
    for number in range(20):
        build_cluster(project, number)
    return staged_version(project, torch=True)


def test_a_run_without_a_worker_says_since_when_and_how_to_start_one(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    assert progress_of(run).state == State.RUNNING, "a worker may be about to look"
    assert progress_of(run).unknown == "No worker has claimed the run yet."
    long_ago = timezone.now() - timedelta(minutes=3)
    Job.objects.update(created_at=long_ago)
    progress = progress_of(run)
    assert (progress.state, progress.since) == (State.NO_WORKER, long_ago)
    assert progress.command == "manage.py work --queue gpu"
    assert (progress.pace, progress.seconds_left, progress.unknown) == (None, None, "No worker is processing the run.")


def test_backends_without_torch_run_on_any_worker(project: Project, version: Version, lead: User) -> None:
    run = start_run(version=staged_version(project, "Light"), by=lead)
    Job.objects.update(created_at=timezone.now() - timedelta(minutes=3))
    assert progress_of(run).command == "manage.py work"


def test_pace_and_time_left_are_those_of_the_recent_minutes(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    work(1)
    now = timezone.now()
    Job.objects.filter(status=JobStatus.DONE).update(started_at=now - timedelta(minutes=2))
    Job.objects.filter(status=JobStatus.QUEUED).update(
        status=JobStatus.RUNNING, leased_until=now + timedelta(minutes=1)
    )
    progress = progress_of(run)
    assert (progress.state, progress.total, progress.done, progress.waiting) == (State.RUNNING, 20, 8, 12)
    assert progress.pace == pytest.approx(8 / 2, rel=0.1)
    assert progress.seconds_left == pytest.approx(12 / 4 * 60, rel=0.1)
    assert progress.unknown == ""
    run.items.filter(status="done").update(finished_at=now - timedelta(minutes=6))
    progress = progress_of(run)
    assert (progress.pace, progress.seconds_left) == (None, None)
    assert progress.unknown == "No item was finished in the last five minutes."


def test_a_run_with_a_silent_worker_is_stalled_since_its_last_report(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    heard = timezone.now() - timedelta(minutes=7)
    Job.objects.filter(pk=Job.objects.earliest("pk").pk).update(status=JobStatus.RUNNING, heartbeat_at=heard)
    lapse()
    progress = progress_of(run)
    assert (progress.state, progress.since) == (State.STALLED, heard)
    assert (progress.pace, progress.seconds_left, progress.command) == (None, None, "manage.py work --queue gpu")


def test_a_run_is_stopping_until_the_batch_in_hand_is_stored(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    Job.objects.update(status=JobStatus.RUNNING, leased_until=timezone.now() + timedelta(minutes=1))
    assert progress_of(run).unknown == "No item is finished yet."
    stop_run(run=run, by=lead)
    assert progress_of(fresh(run)).state == State.STOPPING
    Job.objects.update(status=JobStatus.CANCELLED)
    assert progress_of(fresh(run)).state == State.STOPPED


def test_cut_tokens_are_counted(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    work()
    progress = progress_of(fresh(run))
    assert (progress.items_cut, progress.tokens_cut, progress.tokens_out) == (0, 0, 60)
    assert (progress.pace, progress.unknown) == (None, "The run is not in progress.")
    assert progress.since == fresh(run).finished_at


def test_a_stopped_run_says_by_what_error_it_stopped(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)
    stop_run(run=run, by=lead)
    assert (progress_of(fresh(run)).state, progress_of(fresh(run)).error) == (State.STOPPED, "")
    broken = start_run(version=version, by=lead)
    staged.release = "2.0"
    work()
    progress = progress_of(fresh(broken))
    assert (progress.state, progress.error[:11]) == (State.STOPPED, "The version")


def test_the_progress_of_many_takes_no_more_queries_than_that_of_one(
    project: Project, version: Version, lead: User
) -> None:
    def queries(runs: list[Run]) -> int:
        with CaptureQueriesContext(connection) as seen:
            progress_of_many(runs)
        return len(seen)

    runs = [start_run(version=version, by=lead)]
    work(1)
    one = queries(runs)
    runs += [start_run(version=staged_version(project, f"System {n}"), by=lead) for n in range(4)]
    work(3)
    assert queries(runs) == one == 3
    assert [progress.total for progress in progress_of_many(runs).values()] == [20] * 5
