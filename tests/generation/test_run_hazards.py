"""Concurrent changes at the worst moments of a run."""

import logging
from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import User
from generation.backends.protocol import Failure, Output, Source
from generation.models import ItemStatus, Run, RunStatus, Version
from generation.runs.actions import resume_run, start_run, stop_run
from projects.jobs.running import RunningJob
from projects.models import Job, JobStatus, Project
from tests.builders import build_cluster
from tests.generation.staged import StagedBackend
from tests.generation.workers import staged_version, work

pytestmark = pytest.mark.usefixtures("impatient")


@pytest.fixture
def version(project: Project, staged: StagedBackend) -> Version:
    for number in range(8):
        build_cluster(project, number, text="word " * (number + 1))
    return staged_version(project)


def fresh(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


@pytest.mark.django_db(transaction=True)
def test_a_run_resumed_before_its_chunk_stopped_continues(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def stop_and_resume(batch: Sequence[Source]) -> None:
        if len(staged.batches) == 1:
            stop_run(run=fresh(run), by=lead)
            resume_run(run=fresh(run), by=lead)

    staged.before = stop_and_resume
    work()
    assert fresh(run).status == RunStatus.DONE
    assert run.items.filter(status=ItemStatus.DONE).count() == 8


@pytest.mark.django_db(transaction=True)
def test_a_chunk_that_ends_after_resuming_does_not_stop_the_run(
    version: Version, staged: StagedBackend, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    finish = RunningJob.finish

    def stop(batch: Sequence[Source]) -> None:
        if len(staged.batches) == 1:
            stop_run(run=fresh(run), by=lead)

    def resumed_first(self: RunningJob, status: JobStatus, **fields: object) -> bool:
        if status == JobStatus.CANCELLED:
            resume_run(run=fresh(run), by=lead)
        return finish(self, status, **fields)

    staged.before = stop
    monkeypatch.setattr(RunningJob, "finish", resumed_first)
    work()
    assert fresh(run).status == RunStatus.DONE
    assert run.items.filter(status=ItemStatus.DONE).count() == 8


def test_a_text_that_no_database_takes_fails_alone(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead)

    def odd(batch: Sequence[Source]) -> list[Output | Failure]:
        return [
            Output(source.unit, "One\0two")
            if source.key == "DEMO0003_0"
            else Failure(source.unit, "bad\0byte")
            if source.key == "DEMO0004_0"
            else Output(source.unit, "Fine.")
            for source in batch
        ]

    staged.before = odd
    work()
    assert fresh(run).status == RunStatus.DONE
    failed = dict(run.items.filter(status=ItemStatus.FAILED).values_list("unit__key", "error"))
    assert failed == {
        "DEMO0003_0": "The output contains a NUL character, which cannot be stored.",
        "DEMO0004_0": "bad\ufffdbyte",
    }
    assert len(staged.batches) == 2, "nothing was done twice for it"


def test_postponed_jobs_run_after_the_clock_is_set_back(version: Version, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)
    Job.objects.update(not_before=timezone.now() + timedelta(days=1))
    work()
    assert fresh(run).status == RunStatus.DONE


@pytest.fixture
def without_logs() -> Iterator[None]:
    """Logs pass between test processes, which cannot encode lone surrogates."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("without_logs")
def test_an_unstorable_error_message_fails_its_item_only(version: Version, staged: StagedBackend, lead: User) -> None:
    run = start_run(version=version, by=lead, concurrency=1)

    def odd(batch: Sequence[Source]) -> None:
        if any(source.key == "DEMO0003_0" for source in batch):
            raise RuntimeError("half \ud800 and \0")

    staged.before = odd
    work()
    assert fresh(run).status == RunStatus.DONE
    failed = run.items.get(status=ItemStatus.FAILED)
    assert (failed.unit.key, failed.error) == ("DEMO0003_0", "RuntimeError: half ? and \ufffd")
