"""Throttling slows guessing without affecting other people at the same address (reliability row 52)."""

from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import throttling
from accounts.actions import make_sign_in_link
from accounts.models import Failure, User
from projects.models import Project
from projects.participation.actions import make_links
from projects.people.invitations import invite
from tests.builders import build_cluster, build_round

pytestmark = pytest.mark.row(52)
PASSWORD = "correct horse battery staple"
#: Where each kind of token is used, and the field of a valid one.
DOORS = ("session/link/", "invitations/look/", "invitations/accept/", "take/look/", "take/accept/")


@pytest.fixture
def anna(db: None) -> User:
    return User.objects.create_user(email="anna@example.org", password=PASSWORD, name="Anna")


@pytest.fixture
def bea(db: None) -> User:
    return User.objects.create_user(email="bea@example.org", password=PASSWORD, name="Bea")


def sign_in(client: APIClient, email: str = "anna@example.org", password: str = PASSWORD, **headers: Any) -> int:
    body = {"email": email, "password": password}
    return int(client.post("/api/v1/session/", body, format="json", **headers).status_code)


def use(door: str, token: str) -> Any:
    return APIClient().post(f"/api/v1/{door}", {"token": token}, format="json")


def failures(what: Failure.What, how_many: int, who: str = "127.0.0.1") -> None:
    Failure.objects.bulk_create(Failure(what=what, who=who, at=timezone.now()) for _ in range(how_many))


def test_wrong_tokens_of_one_place_keep_no_right_one_out(project: Project, lead: User, ann1: User) -> None:
    """A lab behind one address may have one faulty script."""
    build_cluster(project)
    round = build_round(project, list(project.members.filter(user=ann1)))
    invitation = invite(project=project, email="new@example.org", role="viewer", by=lead)[1]
    link = make_links(round=round, by=lead, labels=["one"])[0][1]
    sign_in_link = make_sign_in_link(user=lead)
    limit = throttling.LIMITS[Failure.What.TOKEN]
    told = [use(DOORS[n % len(DOORS)], f"wrong {n}") for n in range(limit + len(DOORS))]
    assert [reply.status_code for reply in told] == [410] * limit + [429] * len(DOORS)
    assert 800 < int(told[-1]["Retry-After"]) <= 900
    assert Failure.objects.count() == limit, "what is refused is not counted: no table grows by it"
    assert use("session/link/", sign_in_link).status_code == 200
    assert use("take/look/", link).status_code == 200
    assert use("invitations/look/", invitation).status_code == 200
    named = {"token": invitation, "name": "New", "password": PASSWORD}
    assert APIClient().post("/api/v1/invitations/accept/", named, format="json").status_code == 200
    # Used tokens are treated like unknown ones.
    assert {use(door, sign_in_link).status_code for door in DOORS} == {429}


@pytest.mark.parametrize("state", ["open", "spent"])
def test_spent_and_unknown_tokens_are_counted_equally(project: Project, lead: User, ann1: User, state: str) -> None:
    """Otherwise the count would reveal that an old link once existed."""
    build_cluster(project)
    round = build_round(project, list(project.members.filter(user=ann1)))
    link, token = make_links(round=round, by=lead, labels=["one"])[0]
    if state == "spent":
        type(link).objects.update(revoked_at=timezone.now())
        assert use("take/look/", token).status_code == 410
    else:
        assert use("take/look/", "never was").status_code == 410
    assert Failure.objects.count() == 1


def test_a_known_browser_can_sign_in_after_failures_of_others_at_its_address(anna: User, bea: User) -> None:
    at_home, new = APIClient(), APIClient()
    assert sign_in(at_home) == 200
    failures(Failure.What.SIGN_IN, throttling.LIMITS[Failure.What.SIGN_IN])
    assert sign_in(new) == 429, "a browser that nobody knows"
    assert sign_in(at_home) == 200
    assert sign_in(at_home, email=bea.email) == 429, "known for one account is not known for another"


def test_a_known_browser_can_sign_in_while_others_guess_at_the_account(anna: User) -> None:
    at_home, beside = APIClient(), APIClient()
    assert sign_in(at_home) == 200
    assert [sign_in(beside, password=f"wrong {n}") for n in range(11)] == [422] * 9 + [429] * 2
    assert sign_in(beside) == 429
    assert sign_in(at_home) == 200


def test_a_known_browser_has_few_guesses_of_its_own_and_takes_none_from_others(anna: User, bea: User) -> None:
    at_home = APIClient()
    assert sign_in(at_home) == 200
    limit = throttling.LIMITS[Failure.What.DEVICE]
    told = [sign_in(at_home, password=f"wrong {n}") for n in range(limit + 1)]
    assert told == [422] * limit + [429]
    assert sign_in(at_home) == 429
    assert AccessAttempt.objects.count() == 0
    assert sign_in(APIClient()) == 200, "another browser is not held up"
    Failure.objects.update(at=timezone.now() - timedelta(minutes=16))
    assert sign_in(at_home) == 200


def test_known_browser_cookies_are_unforgeable_and_anonymous(anna: User, settings: Any) -> None:
    at_home = APIClient()
    assert sign_in(at_home) == 200
    cookie = at_home.cookies["known_browser"]
    assert "anna" not in cookie.value
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Strict", "/api/v1/session/")
    failures(Failure.What.SIGN_IN, throttling.LIMITS[Failure.What.SIGN_IN])
    for forged in (cookie.value[:-1], cookie.value + "x", cookie.value.replace(":", "", 1), "", "{}", "a:b:c"):
        stranger = APIClient()
        stranger.cookies["known_browser"] = forged
        assert sign_in(stranger) == 429, forged
    settings.SESSION_COOKIE_SECURE = True
    assert sign_in(at_home) == 200
    assert at_home.cookies["known_browser"]["secure"]


def test_a_failed_try_makes_no_browser_known(anna: User) -> None:
    client = APIClient()
    assert sign_in(client, password="wrong") == 422
    assert "known_browser" not in client.cookies
