"""Long runs: items are created in batches, the first one in the request; none is lost or doubled."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from generation.models import ItemStatus, Run, RunStatus, Version
from generation.runs import chunks
from generation.runs.actions import resume_run, start_run, stop_run
from generation.runs.queries import State, progress_of
from projects.jobs.running import RunningJob
from projects.models import Job, JobStatus, Project
from tests.builders import build_cluster
from tests.concurrency import outside_the_job
from tests.generation.staged import StagedBackend
from tests.generation.test_runs import done_once, fresh
from tests.generation.workers import Killed, lapse, staged_version, work


@pytest.fixture
def version(project: Project, staged: StagedBackend, monkeypatch: pytest.MonkeyPatch) -> Version:
    monkeypatch.setattr(chunks, "BATCH", 5)
    for number in range(12):
        build_cluster(project, number)
    return staged_version(project)


def in_hand(check: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Call ``check`` after each batch of items."""
    hold = RunningJob.hold

    def held(self: RunningJob, done: int | None = None, total: int | None = None) -> None:
        hold(self, done, total)
        with outside_the_job():
            check()

    monkeypatch.setattr(RunningJob, "hold", held)


def test_beginning_a_run_asks_no_more_however_many_units(project: Project, version: Version, lead: User) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as seen:
            run = start_run(version=version, by=lead)
        assert run.items.count() == 5
        stop_run(run=run, by=lead)
        return len(seen)

    before = queries()
    for number in range(12, 20):
        build_cluster(project, number)
    assert queries() == before


def test_chunks_create_the_remaining_items_and_do_each_once_longest_first(
    version: Version, staged: StagedBackend, lead: User
) -> None:
    run = start_run(version=version, by=lead)
    assert (progress_of(run).total, progress_of(run).waiting) == (12, 12)
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run, 12)
    keys = [key for batch in staged.batches for key in batch]
    assert keys == [f"DEMO{number:04d}_0" for number in reversed(range(12))]
    assert list(run.items.order_by("pk").values_list("unit__key", flat=True)) == sorted(keys)


def test_a_run_shows_that_its_items_are_being_created(
    version: Version, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, seen = start_run(version=version, by=lead), []

    def look() -> None:
        progress = progress_of(fresh(run))
        seen.append((progress.state, progress.total, progress.waiting, progress.note, Job.objects.earliest("pk").done))

    in_hand(look, monkeypatch)
    work(1)
    assert seen[0] == (State.CREATING_ITEMS, 12, 12, "10 of 12 units have an item.", 10)
    assert seen[1][0] == seen[2][0] == State.RUNNING


def test_another_worker_continues_creating_items_of_a_dead_worker(
    version: Version, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    made = chunks.make_items
    with monkeypatch.context() as patched:

        def die(run: Run, units: list[int], **how: Any) -> None:
            made(run, units, **how)
            if run.items.count() == 12:
                raise Killed

        patched.setattr(chunks, "make_items", die)
        with pytest.raises(Killed):
            work()
    assert run.items.count() == 10, "a batch is there whole, or not at all"
    lapse()
    work()
    assert fresh(run).status == RunStatus.DONE
    assert done_once(run, 12)


def test_a_run_stopped_while_creating_items_resumes_there(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead)
    stop_run(run=run, by=lead)
    work()
    assert run.items.count() == 5
    run.items.all().update(status=ItemStatus.DONE)
    resume_run(run=fresh(run), by=lead)
    assert Job.objects.filter(status=JobStatus.QUEUED).exists(), "there are units without an item yet"
    work()
    assert fresh(run).status == RunStatus.DONE
    assert run.items.filter(status=ItemStatus.DONE).count() == 12


def test_a_chunk_takes_no_more_than_fits_into_memory(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    work(0)
    longest = max(run.items.values_list("size", flat=True))
    monkeypatch.setattr(chunks, "MOST_CHARACTERS", 2 * longest)
    work(1)
    assert run.items.filter(status=ItemStatus.DONE).count() == 2
    monkeypatch.setattr(chunks, "MOST_CHARACTERS", 1)
    work(1)
    assert run.items.filter(status=ItemStatus.DONE).count() == 3, "one at least, however long"
