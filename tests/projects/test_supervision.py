"""When a supervisor kills a worker process, and what happens to its job. For real processes see tests/processes."""

import os
from collections.abc import Callable, Iterator

import pytest

from accounts.models import User
from projects.jobs import jobs, supervision
from projects.jobs.running import HUNG, _claim, end_killed
from projects.jobs.supervision import BUSY, CANCEL_SECONDS, CANCELLED, IDLE, SILENCE_SECONDS, ProcessMonitor
from projects.models import Job, JobStatus, Project

Report = Callable[[int], None]
PID = os.getpid()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


@pytest.fixture
def watch(pipe: tuple[int, int], clock: Clock) -> ProcessMonitor:
    return ProcessMonitor(pipe[0], clock=clock)


@pytest.fixture
def report(pipe: tuple[int, int], watch: ProcessMonitor) -> Report:
    def send(state: int) -> None:
        os.write(pipe[1], supervision._MESSAGE.pack(PID, state))
        watch.listen(0)

    return send


def killed_after(watch: ProcessMonitor, clock: Clock, each_second: Callable[[], None], most: int) -> int | None:
    """Return the second at which the supervisor names the process."""
    for second in range(1, most):
        clock.now += 1
        each_second()
        if watch.hanging() == [PID]:
            return second
    return None


def test_a_process_that_is_silent_in_a_job_hangs(watch: ProcessMonitor, clock: Clock, report: Report) -> None:
    report(BUSY)
    assert killed_after(watch, clock, lambda: None, 100) == SILENCE_SECONDS + 1
    assert watch.hanging() == [], "it is killed once"


def test_a_process_that_reports_does_not_hang_and_neither_does_an_idle_one(
    watch: ProcessMonitor, clock: Clock, report: Report
) -> None:
    assert killed_after(watch, clock, lambda: report(BUSY), 200) is None
    report(IDLE)
    assert killed_after(watch, clock, lambda: None, 200) is None


def test_a_process_that_ignores_a_cancellation_hangs(watch: ProcessMonitor, clock: Clock, report: Report) -> None:
    assert killed_after(watch, clock, lambda: report(CANCELLED), 100) == CANCEL_SECONDS + 1


def test_the_time_limit_after_a_cancellation_restarts_with_the_next_job(
    watch: ProcessMonitor, clock: Clock, report: Report
) -> None:
    for _ in range(5):
        assert killed_after(watch, clock, lambda: report(CANCELLED), 10) is None
        report(IDLE)


def test_a_supervisor_that_was_suspended_itself_kills_nobody(
    watch: ProcessMonitor, clock: Clock, report: Report
) -> None:
    report(BUSY)
    clock.now += 3600
    assert watch.hanging() == []


def test_a_process_that_is_gone_is_forgotten(watch: ProcessMonitor, clock: Clock, pipe: tuple[int, int]) -> None:
    os.write(pipe[1], supervision._MESSAGE.pack(2**22 + 1, BUSY))
    watch.listen(0)
    clock.now += 1
    assert watch.hanging() == []
    assert watch._states == {}


@pytest.fixture
def running(project: Project, lead: User, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setitem(jobs.handlers, "test", lambda job: None)
    job = jobs.enqueue(project=project, kind="test", params={}, by=lead)
    assert _claim(job.pk, job.created_at)
    job.refresh_from_db()
    return job


@pytest.mark.django_db
def test_a_cancelled_job_with_a_killed_process_ends_as_cancelled(running: Job) -> None:
    jobs.cancel(running)
    end_killed(PID)
    running.refresh_from_db()
    assert (running.status, running.error) == (
        "cancelled",
        "The job did not stop after it was cancelled, so its worker process was killed.",
    )


@pytest.mark.django_db
def test_a_job_whose_process_was_killed_is_tried_again_and_given_up_at_last(running: Job) -> None:
    end_killed(PID)
    running.refresh_from_db()
    assert (running.status, running.error) == ("queued", "Attempt 1: " + HUNG)
    Job.objects.update(status=JobStatus.RUNNING, attempts=3)
    end_killed(PID)
    running.refresh_from_db()
    assert (running.status, running.error) == ("failed", HUNG + " This happened in all 3 attempts.")


@pytest.mark.django_db
def test_jobs_of_other_processes_are_left_alone(running: Job) -> None:
    end_killed(PID + 1)
    running.refresh_from_db()
    assert running.status == "running"
