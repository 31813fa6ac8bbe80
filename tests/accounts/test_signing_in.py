"""Sign-in by password: equal replies, new session id, throttling over all processes, no secrets in the log."""

import json
import logging
import os
import sys
from datetime import timedelta
from typing import Any

import pytest
from axes.models import AccessAttempt
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from accounts import throttling
from accounts.models import Failure, User
from audit.models import Entry
from sql import expressions
from tests.processes import fork_server

PASSWORD = "correct horse battery staple"


@pytest.fixture
def anna(db: None) -> User:
    return User.objects.create_user(email="anna@example.org", password=PASSWORD, name="Anna")


def sign_in(client: APIClient, email: str = "anna@example.org", password: str = PASSWORD, **headers: Any) -> Any:
    return client.post("/api/v1/session/", {"email": email, "password": password}, format="json", **headers)


def test_the_right_password_signs_in_whatever_the_case_of_the_address(anna: User) -> None:
    client = APIClient()
    reply = sign_in(client, email="ANNA@Example.org ")
    assert reply.status_code == 200
    assert reply.json()["user"]["email"] == "anna@example.org"
    assert reply.json()["user"]["preferences"].items() >= {"single_keys": True, "theme": "auto"}.items()
    assert reply.json()["projects"] == []
    assert client.get("/api/v1/session/").json() == reply.json()
    assert Entry.objects.get().verb == "sign in"


@pytest.mark.row(42)
def test_unknown_address_wrong_password_and_closed_account_get_one_reply(anna: User) -> None:
    User.objects.create_user(email="gone@example.org", password=PASSWORD, name="Gone", is_active=False)
    User.objects.create_user(email="link@example.org", name="Only by link")
    replies = [
        sign_in(APIClient(), password="wrong"),
        sign_in(APIClient(), email="nobody@example.org"),
        sign_in(APIClient(), email="gone@example.org"),
        sign_in(APIClient(), email="link@example.org", password=""" """),
    ]
    assert {r.status_code for r in replies} == {422}
    assert len({r.content for r in replies}) == 1
    assert replies[0].json()["type"] == "/problems/wrong-credentials"


@pytest.mark.row(42)
def test_an_unknown_address_costs_the_same_hashing_as_a_known_one(anna: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.contrib.auth.hashers import get_hasher

    hasher = type(get_hasher())
    encode, hashed = hasher.encode, []

    def counted(self: Any, *args: Any, **kwargs: Any) -> str:
        hashed.append(1)
        return encode(self, *args, **kwargs)

    monkeypatch.setattr(hasher, "encode", counted)
    counts = []
    for email in ("anna@example.org", "nobody@example.org"):
        hashed.clear()
        sign_in(APIClient(), email=email, password="wrong")
        counts.append(len(hashed))
    assert counts == [1, 1]


@pytest.mark.row(44)
def test_the_session_id_changes_on_signing_in(anna: User) -> None:
    client = APIClient()
    session = client.session
    session["planted"] = True
    session.save()
    planted = str(session.session_key)
    client.cookies["sessionid"] = planted
    sign_in(client)
    assert client.cookies["sessionid"].value != planted
    client.cookies["sessionid"] = planted
    assert client.get("/api/v1/session/").status_code == 401


def test_replies_of_the_api_are_never_stored(anna: User) -> None:
    for reply in (sign_in(APIClient()), APIClient().get("/api/v1/me/")):
        assert reply["Cache-Control"] == "no-store"


def test_signing_out_ends_the_session(anna: User) -> None:
    client = APIClient()
    sign_in(client)
    key = client.cookies["sessionid"].value
    assert client.delete("/api/v1/session/").status_code == 204
    client.cookies["sessionid"] = key
    assert client.get("/api/v1/session/").status_code == 401
    assert list(Entry.objects.values_list("verb", flat=True)) == ["sign in", "sign out"]


def test_without_a_session_the_reply_is_a_401_that_sets_the_csrf_cookie(db: None) -> None:
    client = APIClient()
    reply = client.get("/api/v1/session/")
    assert (reply.status_code, reply.json()["type"]) == (401, "/problems/not-authenticated")
    assert client.cookies["csrftoken"].value


@pytest.mark.row(44)
def test_signing_in_without_the_csrf_token_is_a_csrf_problem(anna: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    reply = sign_in(client)
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/csrf")
    client.get("/api/v1/session/")
    assert sign_in(client, HTTP_X_CSRFTOKEN=client.cookies["csrftoken"].value).status_code == 200


@pytest.mark.row(44)
def test_a_write_in_a_session_without_the_csrf_token_is_a_csrf_problem(anna: User) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(anna)
    reply = client.patch("/api/v1/me/", {"name": "Other"}, format="json")
    assert (reply.status_code, reply.json()["type"]) == (403, "/problems/csrf")
    anna.refresh_from_db()
    assert anna.name == "Anna"


@pytest.mark.row(42)
def test_ten_failures_lock_account_and_address_which_cools_off(anna: User) -> None:
    replies = [sign_in(APIClient(), password=f"wrong {n}") for n in range(10)]
    assert [r.status_code for r in replies[:9]] == [422] * 9
    locked = sign_in(APIClient())
    assert (locked.status_code, locked.json()["type"]) == (429, "/problems/too-many-tries")
    assert locked["Content-Type"] == "application/problem+json"
    assert 0 < int(locked["Retry-After"]) <= 900
    # Other addresses may still sign in, and this one after a quarter of an hour.
    assert sign_in(APIClient(), REMOTE_ADDR="192.0.2.7").status_code == 200
    AccessAttempt.objects.update(attempt_time=timezone.now() - timedelta(minutes=16))
    assert sign_in(APIClient()).status_code == 200


@pytest.mark.row(42)
def test_trying_while_locked_does_not_prolong_the_lock(anna: User) -> None:
    for n in range(10):
        sign_in(APIClient(), password=f"wrong {n}")
    began = AccessAttempt.objects.get().attempt_time
    assert sign_in(APIClient()).status_code == 429
    assert AccessAttempt.objects.get().attempt_time == began


@pytest.mark.row(42)
def test_the_lock_counts_however_the_case_of_the_address_is_written(anna: User) -> None:
    for n in range(10):
        sign_in(APIClient(), email=("anna@example.org", "Anna@example.org")[n % 2], password="wrong")
    assert sign_in(APIClient()).status_code == 429


@pytest.mark.row(42)
def test_an_unknown_address_is_locked_like_a_known_one(db: None) -> None:
    statuses = [sign_in(APIClient(), email="nobody@example.org").status_code for _ in range(11)]
    assert statuses == [422] * 9 + [429] * 2


@pytest.mark.row(42)
def test_one_place_that_tries_many_accounts_is_throttled(anna: User) -> None:
    limit = throttling.LIMITS[Failure.What.SIGN_IN]
    now = timezone.now()
    Failure.objects.bulk_create(Failure(what="sign-in", who="127.0.0.1", at=now) for _ in range(limit - 1))
    assert sign_in(APIClient(), email="b@example.org").status_code == 422
    reply = sign_in(APIClient())
    assert reply.status_code == 429
    assert 890 < int(reply["Retry-After"]) <= 900
    Failure.objects.update(at=now - timedelta(minutes=16))
    assert sign_in(APIClient()).status_code == 200


@pytest.mark.row(42)
def test_continued_guesses_at_a_locked_account_lock_nobody_else_at_the_address(anna: User) -> None:
    User.objects.create_user(email="bea@example.org", password=PASSWORD, name="Bea")
    limit = throttling.LIMITS[Failure.What.SIGN_IN]
    statuses = [sign_in(APIClient(), password="wrong").status_code for _ in range(limit + 10)]
    assert set(statuses[9:]) == {429}
    assert sign_in(APIClient(), email="bea@example.org").status_code == 200


GUESSER = """
import django, json, sys
django.setup()
from rest_framework.test import APIClient
client = APIClient(HTTP_HOST="localhost")
send = lambda n: client.post("/api/v1/session/", {"email": "anna@example.org", "password": f"wrong {n}"}, format="json")
print(json.dumps([send(n).status_code for n in range(8)]))
"""


@pytest.mark.row(42)
@pytest.mark.django_db(transaction=True)
def test_failures_count_over_two_processes(anna: User) -> None:
    kept = connection.settings_dict
    url = f"sqlite:///{kept['NAME']}" if connection.vendor == "sqlite" else expressions.database_url(kept["NAME"])
    environment = os.environ | {
        "DATABASE_URL": url,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "DEBUG": "1",
        "PYTHONPATH": str(fork_server.ROOT),
    }
    statuses: list[int] = []
    for _ in range(2):
        code, said, wrong = fork_server.ran([sys.executable, "-c", GUESSER], environment)
        assert code == 0, wrong
        statuses += json.loads(said)
    assert statuses == [422] * 9 + [429] * 7


@pytest.mark.row(43)
def test_neither_passwords_nor_tokens_reach_the_log(anna: User, caplog: pytest.LogCaptureFixture) -> None:
    from accounts.actions import make_sign_in_link

    caplog.set_level(logging.DEBUG)
    token = make_sign_in_link(user=anna)
    client = APIClient()
    sign_in(client, password="a wrong secret")
    sign_in(client)
    made = client.post("/api/v1/me/tokens/", {"name": "script"}, format="json").json()["token"]
    APIClient().post("/api/v1/session/link/", {"token": token}, format="json")
    APIClient().get("/api/v1/me/", HTTP_AUTHORIZATION=f"Bearer {made}")
    told = caplog.text + json.dumps(list(Entry.objects.values("before", "after", "reason")), default=str)
    told += json.dumps(list(AccessAttempt.objects.values()), default=str)
    for secret in (token, made, PASSWORD, "a wrong secret"):
        assert secret not in told
