"""The order of jobs: projects take turns, short jobs come first, and no job waits forever."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from projects.jobs import jobs, running
from projects.jobs import queries as jobs_queries
from projects.jobs.running import _claim, handle_wake_up
from projects.models import Job, JobStatus, Project
from tests.conftest import person
from tests.projects.test_contests import at_once

pytestmark = pytest.mark.django_db
Queue = Callable[..., Job]


@pytest.fixture
def others(project: Project) -> list[Project]:
    """Two more projects with other leads."""
    return [Project.objects.create(slug=slug, name=slug) for slug in ("ear", "nose")]


@pytest.fixture
def queue() -> Queue:
    """``queue(project, "release", by=somebody)`` queues a job, by default for a person without other jobs."""
    people: Iterator[User] = (person(f"asker{n}") for n in range(10_000))

    def enqueue(project: Project | None, kind: str, by: User | None = None, **rest: Any) -> Job:
        return jobs.enqueue(project=project, kind=kind, params={}, by=by or next(people), **rest)

    return enqueue


def take(pk: int | None = None, *, queues: list[str] | None = None) -> Job:
    """Claim the next job as a worker does."""
    pk = pk or jobs_queries.claim_next(queues)
    assert pk is not None
    claimed = _claim(pk, timezone.now())
    assert claimed
    return claimed


def done(job: Job) -> Job:
    Job.objects.filter(pk=job.pk).update(status=JobStatus.DONE)
    return job


def drain(most: int = 10_000) -> list[Job]:
    """Return the jobs in the order in which one worker runs them."""
    order: list[Job] = []
    while len(order) < most and (pk := jobs_queries.claim_next()) is not None:
        order.append(done(take(pk)))
    return order


@pytest.mark.row(60)
@pytest.mark.parametrize("busy", [False, True])
def test_a_closing_does_not_wait_for_another_project_s_releases(
    project: Project, others: list[Project], queue: Queue, lead: User, busy: bool
) -> None:
    for _ in range(50):
        queue(others[0], "release", by=lead)
    if busy:
        take()
    closing = queue(project, "finish_round")
    assert jobs_queries.claim_next() == closing.pk


@pytest.mark.row(60)
def test_projects_take_turns_however_much_one_of_them_asks_for(
    project: Project, others: list[Project], queue: Queue
) -> None:
    for owner, count in ((others[0], 12), (others[1], 3), (project, 2)):
        for _ in range(count):
            queue(owner, "release")
    order = [job.project.slug for job in drain() if job.project]
    assert sorted(order[:3]) == sorted(order[3:6]) == ["ear", "eye", "nose"]
    assert sorted(order[6:8]) == ["ear", "nose"]
    assert order[8:] == ["ear"] * 9


def test_later_requests_are_not_behind_the_whole_queue(project: Project, others: list[Project], queue: Queue) -> None:
    for _ in range(20):
        queue(others[0], "release")
    for _ in range(5):
        drain(1)
    late = queue(project, "release")
    assert late in drain(2)


def test_projects_accumulate_no_credit_in_the_queue(project: Project, others: list[Project], queue: Queue) -> None:
    """Past use does not count, only what waits now."""
    for _ in range(30):
        queue(others[0], "release")
    drain()
    mine = [queue(project, "release") for _ in range(3)]
    theirs = [queue(others[0], "release") for _ in range(3)]
    assert [job.pk for job in drain()] == [job.pk for pair in zip(mine, theirs, strict=True) for job in pair]


@pytest.mark.row(60)
def test_follow_up_jobs_of_a_project_come_before_requested_ones(project: Project, queue: Queue) -> None:
    releases = [queue(project, "release") for _ in range(5)]
    closing = queue(project, "finish_round")
    assert [job.pk for job in drain()] == [closing.pk, *(job.pk for job in releases)]


@pytest.mark.row(60)
def test_endless_closings_keep_nobody_from_a_release(project: Project, others: list[Project], queue: Queue) -> None:
    take(queue(others[0], "finish_round").pk)
    for _ in range(100):
        queue(others[0], "finish_round")
    release = queue(project, "release")
    order = [job.pk for job in drain(jobs_queries.LONG + 2)]
    assert release.pk in order
    second = queue(project, "release")
    assert second.pk in [job.pk for job in drain(2 * jobs_queries.LONG)]


@pytest.mark.row(60)
def test_a_person_with_many_projects_gets_no_larger_share_of_the_queue(
    project: Project, queue: Queue, stranger: User
) -> None:
    for number in range(30):
        queue(Project.objects.create(slug=f"p{number}", name="P"), "release", by=stranger)
    late = queue(project, "release")
    assert late in drain(2)


def test_jobs_without_a_project_get_their_turn(project: Project, queue: Queue) -> None:
    for _ in range(20):
        queue(project, "release")
    assert queue(None, "release") in drain(2)


def test_retried_and_abandoned_jobs_keep_their_position(project: Project, others: list[Project], queue: Queue) -> None:
    failed, left = queue(project, "release"), queue(others[1], "release")
    for job in (failed, left):
        take(job.pk)
    for _ in range(3):
        queue(others[0], "release")
    now = timezone.now()
    Job.objects.filter(pk=failed.pk).update(status=JobStatus.QUEUED, not_before=now)
    Job.objects.filter(pk=left.pk).update(leased_until=now)
    assert {job.pk for job in drain(2)} == {failed.pk, left.pk}


def test_several_workers_share_the_turns(project: Project, others: list[Project], queue: Queue) -> None:
    for _ in range(6):
        queue(others[0], "release")
    mine = [queue(project, "release") for _ in range(3)]
    under_way = [take() for _ in range(3)]
    for _ in range(3):
        done(under_way.pop(0))
        under_way.append(take())
    assert {job.pk for job in mine} <= set(Job.objects.exclude(status="queued").values_list("pk", flat=True))


@pytest.mark.row(60)
def test_a_wake_up_claims_the_best_job_rather_than_the_named_one(
    project: Project, others: list[Project], queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[int] = []
    for kind in ("release", "finish_round"):
        monkeypatch.setitem(jobs.handlers, kind, lambda running: ran.append(running.job.pk))
    releases = [queue(others[0], "release") for _ in range(4)]
    closing = queue(project, "finish_round")
    for job in [*releases, closing]:
        assert handle_wake_up(job.pk)
    assert ran == [closing.pk, *(job.pk for job in releases)]
    assert not handle_wake_up(closing.pk)


def test_a_wake_up_that_loses_its_job_to_another_worker_does_the_next(
    project: Project, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the message of the next job would be lost, and it would wait for the sweeper."""
    ran: list[int] = []
    monkeypatch.setitem(jobs.handlers, "release", lambda running: ran.append(running.job.pk))
    first, second = queue(project, "release"), queue(project, "release")
    claim = _claim

    def beaten(pk: int, now: Any) -> Job | None:
        monkeypatch.setattr(running, "_claim", claim)
        take(pk)
        return claim(pk, now)

    monkeypatch.setattr(running, "_claim", beaten)
    assert handle_wake_up(second.pk)
    assert ran == [second.pk]
    assert Job.objects.get(pk=first.pk).status == JobStatus.RUNNING


@pytest.mark.django_db(transaction=True)
@pytest.mark.contest
def test_concurrent_wake_ups_do_every_job(project: Project, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[int] = []
    monkeypatch.setitem(jobs.handlers, "release", lambda running: ran.append(running.job.pk))
    made = [queue(project, "release").pk for _ in range(8)]
    assert at_once(*[lambda pk=pk: handle_wake_up(pk) for pk in made]) == []
    assert sorted(ran) == made


def test_a_long_run_lets_another_model_in(
    project: Project, others: list[Project], queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs of the loaded model come first, but not for days."""
    monkeypatch.setattr(jobs_queries, "_loaded_queue", "gpu.a")
    under_way = take(queue(others[0], "run_chunk", queue="gpu.a").pk)
    other = queue(project, "run_chunk", queue="gpu.b")
    chunks = 0
    while under_way.pk != other.pk and chunks < 100:
        chunks += 1
        queue(others[0], "run_chunk", queue="gpu.a")  # as at the end of a chunk
        done(under_way)
        under_way = take()
    assert 10 < chunks < 40


def test_the_search_for_the_next_job_reads_no_more_than_what_waits(project: Project, queue: Queue) -> None:
    Job.objects.bulk_create([Job(project=project, kind="release", status=JobStatus.DONE) for _ in range(3000)])
    queue(project, "release")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE projects_job")
    plan = jobs_queries.in_order()[:1].explain()
    assert not re.search(r"SCAN projects_job(?! USING)|Seq Scan on projects_job", plan), plan
