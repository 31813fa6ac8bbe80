"""A refusal by a limit is repeated from memory, to the same person and of the same thing alone (reliability row 60)."""

import gc
import weakref
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import resolve
from pytest_django import DjangoAssertNumQueries
from rest_framework.renderers import JSONRenderer
from rest_framework.test import APIClient

from accounts.actions import make_token
from accounts.models import User
from api.problems import Busy, Conflict, Problem, TooManyTries, TooMuch, Unavailable, as_problem_details
from config import told_to_wait
from config.told_to_wait import ToldToWait
from projects.models import Job, Project

pytestmark = pytest.mark.row(60)
RELEASES, ANSWERS = "/api/v1/projects/eye/releases/", "/api/v1/answers/{}/"


class Door:
    """The middleware before a view that counts how often it is reached."""

    def __init__(self, problem: Problem | None = None) -> None:
        self.reached, self.problem = 0, problem or TooMuch("no", wait=30)
        self.door = ToldToWait(self._handle)

    def _handle(self, request: Any) -> HttpResponse:
        if (held := self.door.process_view(request, None, (), {})) is not None:
            return held
        self.reached += 1
        reply = as_problem_details(self.problem, {})
        assert reply is not None
        reply.accepted_renderer, reply.accepted_media_type = JSONRenderer(), "application/json"
        reply.renderer_context = {"request": request}  # type: ignore[attr-defined]
        rendered: HttpResponse = reply.render()
        return rendered

    def ask(self, path: str = RELEASES, method: str = "POST", token: str = "a", cookie: str = "") -> Any:
        request = RequestFactory().generic(method, path)
        if token:
            request.META["HTTP_AUTHORIZATION"] = f"Bearer {token}"
        if cookie:
            request.COOKIES["sessionid"] = cookie
        request.resolver_match = resolve(path)
        return self.door(request)


def test_the_same_request_hears_the_same_again_and_reaches_nothing() -> None:
    door = Door()
    said = [door.ask() for _ in range(5)]
    assert door.reached == 1
    assert {(r.status_code, r["Retry-After"], r["Content-Type"]) for r in said} == {
        (429, "30", "application/problem+json")
    }
    assert len({r.content for r in said}) == 1


def test_it_is_asked_anew_after_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    door, now = Door(), 100.0
    monkeypatch.setattr("config.told_to_wait.time.monotonic", lambda: now)
    for _ in range(40):
        door.ask()
        now += 0.1
    assert door.reached == 2, "two seconds each; asking again does not make it longer"


def test_nobody_else_and_nothing_else_is_refused_by_it() -> None:
    door = Door()
    door.ask()
    for other in (
        {"token": "b"}, {"token": "", "cookie": "a"}, {"path": RELEASES.replace("eye", "ear")},
        {"path": "/api/v1/projects/eye/guidelines/"}, {"method": "PUT"},
    ):  # fmt: skip
        before = door.reached
        door.ask(**other)
        assert door.reached == before + 1, other


def test_every_answer_of_a_person_is_the_same_request() -> None:
    door = Door()
    for _ in range(5):
        door.ask(ANSWERS.format(uuid4()), "PUT")
    assert door.reached == 1


@pytest.mark.parametrize(
    ("door", "asked"),
    [
        (Door(), {"token": ""}),
        (Door(), {"method": "GET"}),
        (Door(Unavailable("no")), {}),
        (Door(Conflict("no")), {}),
        (Door(TooManyTries("no", wait=30)), {}),
    ],
    ids=["who brings nothing", "reading", "a failure that passes", "a conflict", "a guess"],
)
def test_what_is_not_repeated(door: Door, asked: dict[str, Any]) -> None:
    for _ in range(3):
        door.ask(**asked)
    assert door.reached == 3


def test_who_must_wait_for_others_hears_it_again_too() -> None:
    door = Door(Busy("no", wait=30))
    assert [door.ask().status_code for _ in range(3)] == [503] * 3
    assert door.reached == 1


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told_to_wait, "MOST", 10)
    door = Door()
    for n in range(35):
        door.ask(token=f"t{n}")
        assert len(door.door._held) <= 10


def test_nothing_of_a_request_is_kept_with_its_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of refused requests, each with a body of some MiB, would fill the memory of the process."""
    monkeypatch.setattr(told_to_wait, "HELD", 60.0)  # collecting garbage may take a while
    door = Door()
    request = weakref.ref(door.ask().renderer_context["request"])
    gc.collect()
    assert request() is None
    assert door.ask().status_code == 429
    assert door.reached == 1


@pytest.mark.django_db
def test_a_burst_costs_a_limit_one_look(
    project: Project, lead: User, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    monkeypatch.setattr(settings, "LIMITS", {**settings.LIMITS, "LIMIT_JOBS_OF_A_PROJECT": 1})
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {make_token(user=lead, name='burst')[1]}")
    assert client.post(RELEASES, {"version": "1.0.0"}, format="json").status_code == 202
    refused = client.post(RELEASES, {"version": "1.0.1"}, format="json")
    with django_assert_num_queries(0):
        again = client.post(RELEASES, {"version": "1.0.2"}, format="json")
    assert (again.status_code, again.json(), again["Retry-After"]) == (429, refused.json(), refused["Retry-After"])
    assert again["Content-Type"] == "application/problem+json"
    assert again["Content-Security-Policy"] == refused["Content-Security-Policy"]
    assert client.get(RELEASES).status_code == 200
    assert Job.objects.count() == 1


def test_it_stands_before_what_costs() -> None:
    assert settings.MIDDLEWARE[:2] == ["config.request_log.RequestLog", "config.told_to_wait.ToldToWait"]
