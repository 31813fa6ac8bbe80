"""Runs with a failing endpoint: no finished item is lost or repeated, and errors are reported."""

from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from accounts.models import User
from generation.backends.openai import client as clients
from generation.endpoints import parse
from generation.models import ItemStatus, Run, RunStatus, Summary, Version
from generation.runs import chunks
from generation.runs.actions import resume_run, start_run
from generation.systems.actions import create_system, make_version
from projects.models import Project
from tests.builders import build_cluster
from tests.generation.endpoint import Endpoint, Handler, closed, said, serving, status
from tests.generation.workers import come_due, work

pytestmark = pytest.mark.usefixtures("impatient")
UNITS = 12


@pytest.fixture
def endpoint(settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    monkeypatch.setattr(clients, "FIRST_PAUSE", 0.0)
    with serving() as running:
        settings.GENERATION_ENDPOINTS = parse(f"lab={running.url}")
        yield running


def made(project: Project, timeout: int) -> Version:
    for number in range(UNITS):
        build_cluster(project, number, text=f"Text {number}. " + "word " * number)
    system = create_system(project=project, name="Endpoint", by=None)
    model = {"model": "tiny", "concurrency": 3, "timeout": timeout}
    return make_version(system=system, config={"backend": "openai", "model": model}, by=None)


@pytest.fixture
def version(project: Project, endpoint: Endpoint) -> Version:
    return made(project, 60)


def number_of(handler: Handler) -> str:
    return handler.prompt.rpartition("Text ")[2].partition(".")[0]


def answered(handler: Handler) -> None:
    handler.answer(said(f"About {number_of(handler)}."))


def whole(run: Run) -> bool:
    """Assert that every item has one summary of its own text."""
    found = Summary.objects.filter(item__run=run, item__status=ItemStatus.DONE)
    return sorted(found.values_list("text", flat=True)) == sorted(f"About {n}." for n in range(UNITS))


def test_repeated_temporary_errors_only_delay_the_run(version: Version, endpoint: Endpoint, lead: User) -> None:
    seen: dict[str, int] = {}
    faults = (status(500, b"oops"), closed, status(503, b""), status(429, b"", Retry_After="0"))

    def reply(handler: Handler) -> None:
        number = number_of(handler)
        with endpoint.lock:
            seen[number] = seen.get(number, 0) + 1
            times = seen[number]
        # Each request fails as often as its number, three times at most.
        (answered if times > int(number) % 4 else faults[(int(number) + times) % 4])(handler)

    endpoint.reply = reply
    run = start_run(version=version, by=lead)
    work()
    assert Run.objects.get(pk=run.pk).status == RunStatus.DONE
    assert whole(run)


def test_malformed_replies_fail_single_items_and_are_quoted(version: Version, endpoint: Endpoint, lead: User) -> None:
    def reply(handler: Handler) -> None:
        match number_of(handler) if handler.command == "POST" else "":
            case "3":
                handler.answer(b"<html>502 Bad Gateway</html>")
            case "5":
                handler.answer(b"CUDA error", 500)
            case _:
                answered(handler)

    endpoint.reply = reply
    run = start_run(version=version, by=lead)
    work()
    assert Run.objects.get(pk=run.pk).status == RunStatus.DONE
    errors = sorted(run.items.filter(status=ItemStatus.FAILED).values_list("error", flat=True))
    assert [("not JSON" in error, "HTTP 500" in error) for error in errors] == [(True, False), (False, True)]
    assert Summary.objects.filter(item__run=run).count() == UNITS - 2


def test_an_endpoint_that_goes_away_stops_the_run_without_repeated_requests(
    project: Project, endpoint: Endpoint, lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers five times, hangs, is restarted, and is back when the lead resumes."""
    monkeypatch.setattr(clients, "MAX_ATTEMPTS", 1)
    asked: list[str] = []

    def reply(handler: Handler) -> None:
        with endpoint.lock:
            is_well = len(asked) < 5 and handler.command == "POST"
            if is_well:
                asked.append(number_of(handler))
        answered(handler) if is_well else endpoint.hold(handler)

    endpoint.reply = reply
    run = start_run(version=made(project, 3), by=lead, concurrency=1)
    work(1)
    done = set(run.items.filter(status=ItemStatus.DONE).values_list("unit_id", flat=True))
    assert len(done) == 5
    assert Run.objects.get(pk=run.pk).status == RunStatus.RUNNING, "it is tried again later"

    endpoint.reply = status(500, b"restarting")
    for _ in range(chunks.TRIES):
        come_due()
        work()
    stopped = Run.objects.get(pk=run.pk)
    assert stopped.status == RunStatus.STOPPED
    assert "The endpoint 'lab' is unavailable" in stopped.error
    assert f"Tried {chunks.TRIES} times" in stopped.error
    assert not run.items.filter(status=ItemStatus.FAILED).exists()

    endpoint.reply = answered
    before = len(endpoint.posts())
    resume_run(run=stopped, by=lead)
    work()
    assert Run.objects.get(pk=run.pk).status == RunStatus.DONE
    assert whole(run)
    assert len(endpoint.posts()) - before == UNITS - 5, "what was answered is not asked for again"


def test_a_redirect_to_a_metadata_service_stops_the_run(version: Version, endpoint: Endpoint, lead: User) -> None:
    endpoint.reply = status(302, b"", Location="http://169.254.169.254/latest/")
    run = start_run(version=version, by=lead)
    work()
    stopped = Run.objects.get(pk=run.pk)
    assert stopped.status == RunStatus.STOPPED
    assert "redirects are never followed" in stopped.error
    assert not Summary.objects.filter(item__run=run).exists()
