"""Jobs: claimed once, fenced, retried, cancelled, swept (tests/processes kills real workers)."""

import os
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import ProgrammingError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.models import User
from api.problems import Refused
from projects.jobs import batches, jobs
from projects.jobs import queries as jobs_queries
from projects.jobs.pace import Pace
from projects.jobs.queries import claim_next
from projects.jobs.running import LEASE, LostLease, RunningJob, WorkerUnhealthy, _claim, run_job
from projects.management.commands import work
from projects.models import Job, JobStatus, Project
from projects.tasks import resend_lost as sweep
from projects.tasks import run as run_by_celery
from tests.concurrency import outside_the_job
from tests.projects.test_contests import at_once

pytestmark = pytest.mark.django_db
Do = Callable[[Callable[[RunningJob], Any]], None]


@pytest.fixture
def do(monkeypatch: pytest.MonkeyPatch) -> Do:
    """``do(function)`` registers the function for jobs of the kind *test*."""

    def register(function: Callable[[RunningJob], Any]) -> None:
        monkeypatch.setitem(jobs.handlers, "test", function)

    register(lambda job: {"done": True})
    return register


@pytest.fixture
def job(do: Do, project: Project, lead: User) -> Job:
    return jobs.enqueue(project=project, kind="test", params={"x": 1}, by=lead)


def again(job: Job) -> Job:
    job.refresh_from_db()
    return job


def lapse(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(leased_until=timezone.now() - timedelta(seconds=1))


def test_a_job_is_done_once_and_keeps_its_result(job: Job, do: Do) -> None:
    seen: list[dict[str, Any]] = []

    def handle(running: RunningJob) -> dict[str, Any]:
        seen.append(running.params)
        return {"n": 3}

    do(handle)
    assert claim_next() == job.pk
    assert run_job(job.pk)
    assert not run_job(job.pk)
    assert claim_next() is None
    assert seen == [{"x": 1}]
    assert (again(job).status, job.result, job.attempts, job.leased_until) == ("done", {"n": 3}, 1, None)
    assert job.started_at
    assert job.finished_at


def test_one_of_two_workers_claims_the_same_job(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second worker reads the row before the first claims it, and tries to claim it after."""
    now, first = timezone.now(), Job.objects.filter
    taken: list[Job | None] = []

    def filter_and_be_overtaken(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(Job.objects, "filter", first)
        rows = list(first(*args, **kwargs))
        taken.append(_claim(job.pk, now))
        return type("Read", (), {"first": lambda self: rows[0]})()

    monkeypatch.setattr(Job.objects, "filter", filter_and_be_overtaken)
    assert _claim(job.pk, now) is None
    assert taken[0] is not None
    assert (again(job).fence, job.attempts) == (1, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.contest
def test_eight_workers_at_once_do_twenty_jobs_once_each(do: Do, project: Project, lead: User) -> None:
    done: list[int] = []
    do(lambda running: done.append(running.job.pk))
    made = [jobs.enqueue(project=project, kind="test", params={}, by=lead).pk for _ in range(20)]

    def work() -> None:
        for pk in made:
            run_job(pk)

    assert at_once(*[work] * 8) == []
    assert sorted(done) == made
    assert set(Job.objects.values_list("status", "attempts")) == {("done", 1)}


@pytest.mark.row(3)
def test_a_worker_that_lost_its_lease_writes_nothing_more(job: Job, do: Do) -> None:
    outcome: list[str] = []

    def overtaken(running: RunningJob) -> dict[str, Any]:
        do(lambda second: {"by": "second"})
        with outside_the_job():
            lapse(job)
            assert run_job(job.pk)
        with pytest.raises(LostLease):
            running.progress(99)
        with pytest.raises(LostLease):
            running.problem("item", "said by a worker that has lost the job")
        outcome.append("refused twice")
        return {"by": "first"}

    do(overtaken)
    run_job(job.pk)
    assert outcome == ["refused twice"]
    assert (again(job).status, job.result, job.fence, job.done) == ("done", {"by": "second"}, 2, 0)
    assert not job.problems.exists()


def test_a_lease_that_has_not_lapsed_protects_the_job(job: Job, do: Do) -> None:
    inside: list[bool] = []
    do(lambda running: inside.append(run_job(job.pk)))
    run_job(job.pk)
    assert inside == [False]


def test_failures_are_retried_with_growing_delays_and_then_given_up(job: Job, do: Do) -> None:
    def fail(running: RunningJob) -> None:
        raise OSError("the disk is on fire")

    do(fail)
    waits = []
    for attempt in (1, 2):
        assert run_job(job.pk)
        assert (again(job).status, job.attempts) == ("queued", attempt)
        assert job.error == f"Attempt {attempt}: the disk is on fire"
        assert job.not_before
        waits.append(job.not_before - timezone.now())
        assert claim_next() is None
        assert not run_job(job.pk), "it is not due yet"
        Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
    assert waits[1] > 1.5 * waits[0] > timedelta(seconds=5)
    run_job(job.pk)
    assert (again(job).status, job.error) == ("failed", "OSError: the disk is on fire")
    assert claim_next() is None


def test_a_failed_attempt_rolls_back_its_transaction(job: Job, do: Do, lead: User) -> None:
    def fail(running: RunningJob) -> None:
        with batches.batch():
            User.objects.filter(pk=lead.pk).update(name="half done")
            raise OSError

    do(fail)
    run_job(job.pk)
    lead.refresh_from_db()
    assert lead.name == "Lead"


def test_a_refusal_is_final_and_says_which_field(job: Job, do: Do) -> None:
    def refuse(running: RunningJob) -> None:
        raise Refused.field("version", "No such version.")

    do(refuse)
    run_job(job.pk)
    assert (again(job).status, job.attempts, job.error) == ("failed", 1, "No such version.")
    assert job.result
    assert job.result["errors"] == [{"field": "version", "message": "No such version."}]


def test_progress_and_problems_are_seen_while_it_runs(
    job: Job, do: Do, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    seen: list[Any] = []

    def handle(running: RunningJob) -> None:
        running.progress(3, 10, "reading")
        running.problem("row 2", "no text")
        with outside_the_job():
            seen.append(client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json())

    do(handle)
    run_job(job.pk)
    [shown] = seen
    assert (shown["status"], shown["done"], shown["total"], shown["note"]) == ("running", 3, 10, "reading")
    assert [(p["item"], p["message"]) for p in shown["problems"]] == [("row 2", "no text")]
    assert not shown["stalled"]


@pytest.mark.row(4)
def test_a_job_whose_lease_has_lapsed_is_shown_as_stalled(
    job: Job, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    _claim(job.pk, timezone.now())
    assert not client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["stalled"]
    lapse(job)
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["stalled"]


@pytest.mark.row(4)
def test_a_job_is_shown_as_stalled_within_30_seconds_of_the_last_report(
    job: Job, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    _claim(job.pk, timezone.now())
    longest_poll = timedelta(seconds=5)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - (timedelta(seconds=30) - longest_poll))
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["stalled"]
    assert not run_job(job.pk), "another worker takes over only after the lease"


def test_a_running_job_has_a_rate_and_a_time_left(job: Job, lead: User, client_of: Callable[[User], APIClient]) -> None:
    now = [0.0]
    Job.objects.filter(pk=job.pk).update(attempts=1, done=600)
    claimed = _claim(job.pk, timezone.now())
    assert claimed
    running = RunningJob(claimed)
    # A second attempt that begins anew, and slows down after a fast start.
    running._pace = Pace(claimed.done, clock=lambda: now[0])
    for seconds, done in ((0, 0), (10, 1000), (20, 1000), (80, 1120)):
        now[0] = seconds
        running.progress(done, 1200)
    shown = client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()
    assert (round(shown["rate"]), round(shown["seconds_left"])) == (120, 40)
    running.finish(JobStatus.DONE)
    shown = client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()
    assert (shown["rate"], shown["seconds_left"]) == (None, None)


def test_a_job_names_who_asked_for_it_to_those_who_read_its_report(
    job: Job, lead: User, ann1: User, client_of: Callable[[User], APIClient]
) -> None:
    Job.objects.filter(pk=job.pk).update(created_by=ann1)
    for user in (lead, ann1):
        assert client_of(user).get(f"/api/v1/jobs/{job.pk}/").json()["by"] == ann1.name
    Job.objects.filter(pk=job.pk).update(created_by=None)
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["by"] == ""


@pytest.mark.parametrize(
    ("queue", "command"),
    [("default", "manage.py work"), ("gpu", "manage.py work --queue gpu"), ("gpu.0a1b", "manage.py work --queue gpu")],
)
def test_a_job_without_a_worker_names_the_command_that_starts_one(
    queue: str, command: str, job: Job, lead: User, client_of: Callable[[User], APIClient]
) -> None:
    Job.objects.filter(pk=job.pk).update(queue=queue)
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["command"] == ""
    Job.objects.filter(pk=job.pk).update(created_at=timezone.now() - jobs_queries.PATIENCE)
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["command"] == command
    _claim(job.pk, timezone.now())
    assert client_of(lead).get(f"/api/v1/jobs/{job.pk}/").json()["command"] == ""


def test_a_queued_job_is_cancelled_at_once(job: Job) -> None:
    jobs.cancel(job)
    assert again(job).status == "cancelled"
    assert not run_job(job.pk)


def test_a_cancelled_job_stops_at_its_next_progress_report(job: Job, do: Do) -> None:
    steps: list[int] = []

    def handle(running: RunningJob) -> None:
        for step in range(5):
            running.progress(step)
            steps.append(step)
            if step == 1:
                with outside_the_job():
                    jobs.cancel(running.job)

    do(handle)
    run_job(job.pk)
    assert steps == [0, 1]
    assert (again(job).status, job.done) == ("cancelled", 2)


def test_a_cancelled_job_whose_worker_died_is_not_done_by_the_next(job: Job, do: Do) -> None:
    _claim(job.pk, timezone.now())
    jobs.cancel(job)
    lapse(job)
    do(lambda running: pytest.fail("it was cancelled"))
    run_job(job.pk)
    assert again(job).status == "cancelled"


def test_a_job_that_kills_its_workers_is_given_up(job: Job, do: Do) -> None:
    for _ in range(job.max_attempts):
        assert _claim(job.pk, timezone.now())
        lapse(job)
    do(lambda running: pytest.fail("it has had its chances"))
    assert run_job(job.pk)
    assert (again(job).status, job.error) == ("failed", "The worker died 3 times while running this job.")


def test_a_worker_takes_only_jobs_of_its_queues(do: Do, project: Project, lead: User) -> None:
    heavy = jobs.enqueue(project=project, kind="test", params={}, by=lead, queue="model a")
    light = jobs.enqueue(project=project, kind="test", params={}, by=lead)
    assert claim_next(["default"]) == light.pk
    assert claim_next(["model a"]) == heavy.pk
    assert claim_next() == heavy.pk


def test_a_kind_that_nothing_handles_is_refused_when_it_is_queued(project: Project, lead: User) -> None:
    with pytest.raises(ValueError, match="has no handler"):
        jobs.enqueue(project=project, kind="nonsense", params={}, by=lead)


class Broker:
    """A broker that stores messages or refuses them."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, str]] = []
        self.is_up = True
        self.due: datetime | None = None

    def send_task(self, name: str, args: list[int], queue: str, retry: bool, eta: datetime | None) -> None:
        assert name == "projects.run_job"
        if not self.is_up:
            raise ConnectionError("no broker")
        self.sent.append((args[0], queue))
        self.due = eta


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Broker:
    settings.REDIS_URL = "redis://somewhere"
    made = Broker()
    monkeypatch.setattr(jobs, "current_app", made)
    return made


@pytest.mark.django_db(transaction=True)
def test_a_wake_up_is_sent_when_the_row_is_committed_and_not_before(
    do: Do, project: Project, lead: User, broker: Broker
) -> None:
    from django.db import transaction

    with transaction.atomic():
        job = jobs.enqueue(project=project, kind="test", params={}, by=lead, queue="model a")
        assert broker.sent == []
    assert broker.sent == [(job.pk, "model a")]
    assert again(job).sent_at


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_transaction_failed_wakes_nobody(do: Do, project: Project, lead: User, broker: Broker) -> None:
    from django.db import transaction

    def enqueue_and_fail() -> None:
        with transaction.atomic():
            jobs.enqueue(project=project, kind="test", params={}, by=lead)
            raise OSError("no")

    with pytest.raises(OSError, match="no"):
        enqueue_and_fail()
    assert (broker.sent, Job.objects.count()) == ([], 0)


@pytest.mark.django_db(transaction=True)
@pytest.mark.row(5)
def test_without_a_broker_jobs_are_queued_and_sent_later_by_the_sweeper(
    do: Do, project: Project, lead: User, broker: Broker
) -> None:
    broker.is_up = False
    job = jobs.enqueue(project=project, kind="test", params={}, by=lead)
    assert (again(job).status, job.sent_at) == ("queued", None)
    broker.is_up = True
    assert sweep() == 1
    assert broker.sent == [(job.pk, "default")]
    assert sweep() == 0, "it was sent a moment ago"


@pytest.mark.row(7)
def test_the_sweeper_wakes_only_forgotten_or_abandoned_jobs(
    do: Do, project: Project, lead: User, broker: Broker
) -> None:
    now, long_ago = timezone.now(), timezone.now() - jobs.RESEND_AFTER
    made = {
        name: jobs.enqueue(project=project, kind="test", params={}, by=lead)
        for name in ("forgotten", "fresh", "left", "early", "died", "held", "done", "later")
    }
    states: dict[str, dict[str, Any]] = {
        "forgotten": {"sent_at": long_ago},
        "fresh": {"sent_at": now},
        "left": {"sent_at": long_ago, "status": JobStatus.RUNNING, "leased_until": now},
        "early": {"sent_at": now - timedelta(seconds=5), "not_before": now - timedelta(seconds=1)},
        "died": {"sent_at": now - LEASE, "status": JobStatus.RUNNING, "leased_until": now},
        "held": {"sent_at": long_ago, "status": JobStatus.RUNNING, "leased_until": now + LEASE},
        "done": {"sent_at": None, "status": JobStatus.DONE},
        "later": {"sent_at": None, "not_before": now + timedelta(minutes=5)},
    }
    for name, state in states.items():
        Job.objects.filter(pk=made[name].pk).update(**state)
    assert sweep() == 4
    assert [pk for pk, _ in broker.sent] == [made[name].pk for name in ("forgotten", "left", "early", "died")]
    assert sweep() == 0, "once each"


def test_a_postponed_job_is_woken_when_it_is_due(do: Do, project: Project, lead: User, broker: Broker) -> None:
    later = timezone.now() + timedelta(seconds=20)
    jobs.wake(jobs.enqueue(project=project, kind="test", params={}, by=lead, not_before=later))
    assert broker.due == later


def test_an_attempt_that_failed_is_followed_by_a_wake_up_for_the_next(job: Job, do: Do, broker: Broker) -> None:
    def fail(running: RunningJob) -> None:
        raise OSError("the disk is on fire")

    do(fail)
    run_job(job.pk)
    assert broker.sent == [(job.pk, "default")]
    assert broker.due == again(job).not_before


def test_a_worker_says_where_the_database_has_not_been_migrated(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def claim(*_: Any, **__: Any) -> None:
        raise ProgrammingError('relation "projects_job" does not exist\nLINE 1: SELECT')

    monkeypatch.setattr("projects.jobs.queries.claim_next", claim)
    monkeypatch.setattr(work, "close_old_connections", lambda: None)
    with pytest.raises(CommandError, match=r'\(relation "projects_job" does not exist\)\. Run manage.py migrate'):
        call_command("work", once=True)


def test_a_wake_up_that_comes_twice_does_the_job_once(job: Job, do: Do) -> None:
    from projects.tasks import run

    done: list[int] = []
    do(lambda running: done.append(1))
    run(job.pk)
    run(job.pk)
    assert done == [1]


def test_the_broker_is_the_one_of_the_settings(settings: Any) -> None:
    """Settings read `.env`, which the environment does not contain."""
    from config.celery import app

    assert app.conf.broker_url == settings.CELERY_BROKER_URL
    assert app.conf.accept_content == ["json"]
    assert app.conf.task_acks_late
    assert app.conf.worker_prefetch_multiplier == 1


def enqueue() -> Job:
    return jobs.enqueue(project=None, kind="test", params={}, by=None)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Records status and error of jobs that end."""
    heard: list[tuple[str, str]] = []
    monkeypatch.setitem(jobs._ended, "test", lambda job: heard.append((job.status, job.error)))
    return heard


def test_the_owner_of_a_job_is_notified_when_it_is_refused(do: Do, told: list[tuple[str, str]]) -> None:
    def refuse(running: RunningJob) -> None:
        raise Refused("No.")

    do(refuse)
    run_job(enqueue().pk)
    assert told == [("failed", "No.")]


def test_the_owner_of_a_job_is_notified_when_it_is_given_up(do: Do, told: list[tuple[str, str]]) -> None:
    do(lambda running: None)
    job = enqueue()
    Job.objects.filter(pk=job.pk).update(attempts=3)
    run_job(job.pk)
    assert told == [("failed", "The worker died 3 times while running this job.")]


def test_the_owner_of_a_job_is_notified_once_of_its_cancellation(do: Do, told: list[tuple[str, str]]) -> None:
    job = enqueue()
    jobs.cancel(job)
    jobs.cancel(job)
    assert told == [("cancelled", "")]

    def cancel_it(running: RunningJob) -> None:
        with outside_the_job():
            jobs.cancel(running.job)
        running.check_cancelled()

    do(cancel_it)
    run_job(enqueue().pk)
    assert told == [("cancelled", "")] * 2


def test_the_owner_of_a_job_is_notified_when_it_is_done_but_not_of_retries(do: Do, told: list[tuple[str, str]]) -> None:
    do(lambda running: None)
    run_job(enqueue().pk)
    do(lambda running: 1 / 0)
    run_job(enqueue().pk)
    assert told == [("done", "")]


def test_only_the_worker_with_the_job_stores_its_results(do: Do) -> None:
    def overtaken(running: RunningJob) -> None:
        with transaction.atomic():
            running.hold(1, 2)
        with outside_the_job():
            Job.objects.filter(pk=running.job.pk).update(fence=9)
        with pytest.raises(LostLease), transaction.atomic():
            running.hold(2, 2)

    do(overtaken)
    job = enqueue()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.status, job.done, job.total) == ("running", 1, 2)


def test_a_job_can_be_postponed_when_it_is_created(do: Do) -> None:
    do(lambda running: None)
    later = timezone.now() + timedelta(minutes=1)
    job = jobs.enqueue(project=None, kind="test", params={}, by=None, not_before=later, note="waits " * 99)
    assert claim_next() is None
    assert len(job.note) == 200
    Job.objects.filter(pk=job.pk).update(not_before=timezone.now())
    assert claim_next() == job.pk


def test_a_worker_that_cannot_continue_returns_its_job_and_ends(do: Do, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(running: RunningJob) -> None:
        raise WorkerUnhealthy("The GPU is lost.")

    do(spoil)
    job = enqueue()
    monkeypatch.setattr(work, "close_old_connections", lambda: None)
    with pytest.raises(CommandError, match=r"cannot continue and exits\. Restart it\. Reason: The GPU is lost\."):
        call_command("work", once=True)
    assert (again(job).status, job.attempts, job.error) == ("queued", 1, "Attempt 1: The GPU is lost.")
    ended: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: ended.append(number))
    Job.objects.update(not_before=None)
    run_by_celery(job.pk)
    assert ended == [signal.SIGTERM]
    assert again(job).attempts == 2
