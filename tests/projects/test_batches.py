"""A worker that lost its job without knowing it writes nothing more (reliability row 59).

Such a worker was suspended and wakes after its lease, when another has done the job.
`tests/processes/test_suspended.py` suspends real workers.
"""

from typing import Any

import pytest
from django.db import transaction

from accounts.models import User
from projects.gold import actions as gold_actions
from projects.jobs import batches
from projects.jobs.running import RunningJob, run_job
from projects.models import Decision, Job, Member, Project
from projects.queue.actions import next_assignments
from projects.rounds.actions import close_round
from tests.builders import answer, build_cluster, build_round
from tests.concurrency import Background, outside_the_job, paused_before
from tests.projects.test_jobs import Do, do, job, lapse
from tests.projects.test_meanwhile import ON_POSTGRES

__all__ = ["do", "job"]
row = pytest.mark.row(59)


@pytest.fixture
def closed(project: Project, ann1: User, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A closed round of ten answered units; gold is formed for four units at a time."""
    monkeypatch.setattr(gold_actions, "BATCH", 4)
    build_cluster(project, inputs=9)
    round = build_round(project, [Member.objects.get(project=project, user=ann1)])
    while held := next_assignments(user=ann1, round=round):
        answer(ann1, held[0])
    return close_round(round=round, by=None)


def taken_over(job: Job) -> None:
    """The lease expires, and another worker does the whole job."""
    with outside_the_job():
        lapse(job)
        assert run_job(job.pk)


def check_done_once(job: Job) -> None:
    job.refresh_from_db()
    assert (job.status, job.attempts) == ("done", 2)
    assert Decision.objects.count() == 40
    assert Decision.objects.values("unit", "field").distinct().count() == 40


@pytest.mark.django_db
@row
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_gold_is_formed_once_if_a_job_moves_to_another_worker_before_a_batch(
    closed: Job, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    real, begun = gold_actions._store_decisions, list[int]()

    def decide(*args: Any) -> Any:
        begun.append(1)
        return real(*args)

    check = RunningJob.check

    def checked(self: RunningJob) -> None:
        if len(begun) == batch - 1 and self.job.fence == 1:
            taken_over(closed)
        check(self)

    monkeypatch.setattr(gold_actions, "_store_decisions", decide)
    monkeypatch.setattr(RunningJob, "check", checked)
    run_job(closed.pk)
    check_done_once(closed)


@pytest.mark.django_db(transaction=True)
@row
@pytest.mark.contest
@pytest.mark.skipif(not ON_POSTGRES, reason="on SQLite whoever writes is alone: nobody takes the job meanwhile")
def test_gold_is_formed_once_when_the_worker_is_held_up_between_reading_and_writing(closed: Job) -> None:
    with paused_before(gold_actions, "insert_decisions") as pause:
        first = Background(lambda: run_job(closed.pk))
        assert pause.reached.wait(10)
        taken_over(closed)
        assert Decision.objects.count() == 40
    first.end()
    check_done_once(closed)


@pytest.mark.django_db
@row
def test_a_batch_of_a_job_claimed_by_another_worker_is_rolled_back(job: Job, do: Do, lead: User) -> None:
    def handle(running: RunningJob) -> None:
        with batches.batch():
            User.objects.filter(pk=lead.pk).update(name="Written by the first")
            running.job.fence -= 1  # as seen by a worker whose job another has taken

    do(handle)
    run_job(job.pk)
    lead.refresh_from_db()
    job.refresh_from_db()
    assert (job.status, lead.name) == ("running", "Lead")


@pytest.mark.django_db
@row
def test_job_progress_is_stored_with_its_batch(job: Job, do: Do) -> None:
    def handle(running: RunningJob) -> None:
        with batches.batch(3, 10):
            pass
        with batches.batch():
            pass

    do(handle)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.total) == ("done", 3, 10)


@pytest.mark.django_db(transaction=True)
@row
def test_a_job_that_writes_outside_a_batch_is_stopped_before_it_does(job: Job, do: Do, lead: User) -> None:
    def at_once(running: RunningJob) -> None:
        User.objects.filter(pk=lead.pk).update(name="unproved")

    def in_a_transaction(running: RunningJob) -> None:
        with transaction.atomic():
            User.objects.filter(pk=lead.pk).update(name="unproved")

    def after_one_that_was_proved(running: RunningJob) -> None:
        with transaction.atomic():
            running.hold()
            User.objects.filter(pk=lead.pk).update(name="Lead")
        in_a_transaction(running)

    for attempt, handle in enumerate((at_once, in_a_transaction, after_one_that_was_proved), 1):
        do(handle)
        run_job(job.pk)
        job.refresh_from_db()
        lead.refresh_from_db()
        assert job.attempts == attempt
        assert "A job wrote outside of a batch" in job.error
        assert lead.name == "Lead"
        Job.objects.update(not_before=None)  # unchanged for a request in the same thread


@pytest.mark.django_db
def test_a_command_s_batch_is_a_transaction(lead: User) -> None:
    with pytest.raises(ZeroDivisionError), batches.batch(1, 2):
        _ = User.objects.filter(pk=lead.pk).update(name="half done") / 0
    lead.refresh_from_db()
    assert lead.name == "Lead"
