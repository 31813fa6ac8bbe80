"""The own account: profile, password, personal API tokens."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.actions import make_sign_in_link
from accounts.models import ApiToken, SignInLink, User
from audit.models import Entry

ClientOf = Callable[[User], APIClient]
DEFAULTS = {"single_keys": True, "theme": "auto", "introduced": [], "mail": True, "pin_guideline": False}


def test_name_and_preferences_change_one_by_one(stranger: User, client_of: ClientOf) -> None:
    client = client_of(stranger)
    assert client.patch("/api/v1/me/", {"preferences": {"theme": "dark"}}, format="json").status_code == 200
    told = client.patch("/api/v1/me/", {"name": "Stefania"}, format="json").json()
    assert told["name"] == "Stefania"
    assert told["preferences"] == DEFAULTS | {"theme": "dark"}
    assert [e.after for e in Entry.objects.all()] == [
        {"preferences": DEFAULTS | {"theme": "dark"}},
        {"name": "Stefania"},
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"is_staff": True},
        {"is_superuser": True},
        {"email": "other@example.org"},
        {"preferences": {"colour": "red"}},
        {"preferences": {"theme": "<script>"}},
        {"preferences": "dark"},
        {"name": ""},
    ],
)
def test_unknown_fields_and_values_are_refused(stranger: User, client_of: ClientOf, body: dict[str, Any]) -> None:
    assert client_of(stranger).patch("/api/v1/me/", body, format="json").status_code == 422
    stranger.refresh_from_db()
    assert (stranger.is_staff, stranger.is_superuser, stranger.preferences) == (False, False, {})
    assert stranger.email == "stranger@example.org"


def password(client: APIClient, **body: str) -> int:
    return int(client.post("/api/v1/me/password/", body, format="json").status_code)


def test_the_first_password_needs_none_and_the_next_one_the_present_one(stranger: User, client_of: ClientOf) -> None:
    client = client_of(stranger)
    assert password(client, new="correct horse battery") == 204
    assert password(client, new="another horse battery") == 422
    assert password(client, new="another horse battery", current="wrong") == 422
    assert password(client, new="another horse battery", current="correct horse battery") == 204
    stranger.refresh_from_db()
    assert stranger.check_password("another horse battery")


def test_a_new_password_ends_the_other_sessions_and_not_this_one(stranger: User, client_of: ClientOf) -> None:
    here, there = client_of(stranger), client_of(stranger)
    before = here.cookies["sessionid"].value
    assert password(here, new="correct horse battery") == 204
    assert here.cookies["sessionid"].value != before
    assert here.get("/api/v1/me/").status_code == 200
    assert there.get("/api/v1/me/").status_code == 401


@pytest.mark.parametrize("weak", ["12345678", "password", "short", "stranger@example.org"])
def test_a_weak_password_is_refused(stranger: User, client_of: ClientOf, weak: str) -> None:
    assert password(client_of(stranger), new=weak) == 422
    stranger.refresh_from_db()
    assert not stranger.has_usable_password()


def test_guessing_the_present_password_is_throttled(stranger: User, client_of: ClientOf) -> None:
    client = client_of(stranger)
    password(client, new="correct horse battery")
    tries = [password(client, new="another horse battery", current=f"wrong {n}") for n in range(11)]
    assert tries == [422] * 10 + [429]


def make(client: APIClient, **body: Any) -> dict[str, Any]:
    reply = client.post("/api/v1/me/tokens/", {"name": "script"} | body, format="json")
    assert reply.status_code == 201
    return dict(reply.json())


def bearer(secret: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def test_a_token_is_shown_once_and_works_until_it_is_revoked(stranger: User, client_of: ClientOf) -> None:
    client = client_of(stranger)
    made = make(client)
    listed = client.get("/api/v1/me/tokens/").json()
    assert listed["count"] == 1
    assert made["token"] not in str(listed) + str(list(ApiToken.objects.values()))
    assert bearer(made["token"]).get("/api/v1/me/").json()["email"] == stranger.email
    assert client.delete(f"/api/v1/me/tokens/{made['id']}/").status_code == 204
    assert bearer(made["token"]).get("/api/v1/me/").status_code == 401
    assert client.get("/api/v1/me/tokens/").json()["count"] == 0
    assert list(Entry.objects.values_list("verb", flat=True)) == ["make API token", "revoke API token"]


def test_an_expired_token_does_not_work(stranger: User, client_of: ClientOf) -> None:
    made = make(client_of(stranger), days=1)
    assert bearer(made["token"]).get("/api/v1/me/").status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert bearer(made["token"]).get("/api/v1/me/").status_code == 401


def test_a_leaked_token_can_make_no_tokens_and_set_no_password(stranger: User, client_of: ClientOf) -> None:
    script = bearer(make(client_of(stranger))["token"])
    assert script.post("/api/v1/me/tokens/", {"name": "more"}, format="json").status_code == 403
    assert password(script, new="correct horse battery") == 403


def test_a_token_reads_for_90_days_unless_something_else_is_asked(stranger: User, client_of: ClientOf) -> None:
    made = make(client_of(stranger))
    assert made["scope"] == "read"
    assert (ApiToken.objects.get().expires_at - timezone.now()).days in (89, 90)  # type: ignore[operator]
    script = bearer(made["token"])
    assert script.get("/api/v1/me/").status_code == 200
    reply = script.patch("/api/v1/me/", {"name": "Other"}, format="json")
    assert reply.status_code == 403
    assert "This API token has the scope read; this request needs lead." in reply.json()["detail"]
    for body in ({"days": None}, {"days": 367}, {"scope": "admin"}):
        refused = client_of(stranger).post("/api/v1/me/tokens/", {"name": "x"} | body, format="json")
        assert refused.status_code == 422


def sign_out_everywhere(client: APIClient) -> int:
    return client.delete("/api/v1/me/sessions/").status_code


def new_password(client: APIClient) -> int:
    return password(client, new="correct horse battery")


@pytest.mark.parametrize("end", [sign_out_everywhere, new_password])
def test_signing_out_everywhere_and_a_new_password_end_tokens_and_links(
    stranger: User, client_of: ClientOf, end: Callable[[APIClient], int]
) -> None:
    client, link = client_of(stranger), make_sign_in_link(user=stranger)
    token = make(client)["token"]
    assert end(client) == 204
    assert client.get("/api/v1/me/").status_code == 200
    assert bearer(token).get("/api/v1/me/").status_code == 401
    assert APIClient().post("/api/v1/session/link/", {"token": link}, format="json").status_code in (401, 403, 404, 410)
    assert SignInLink.objects.filter(used_at=None).count() == 0


def test_another_persons_token_is_not_found(stranger: User, lead: User, client_of: ClientOf) -> None:
    made = make(client_of(lead))
    assert client_of(stranger).delete(f"/api/v1/me/tokens/{made['id']}/").status_code == 404
    assert client_of(stranger).get("/api/v1/me/tokens/").json()["count"] == 0
    assert bearer(made["token"]).get("/api/v1/me/").status_code == 200


def test_listing_tokens_costs_the_same_however_many(
    stranger: User, client_of: ClientOf, django_assert_num_queries: Any
) -> None:
    client = client_of(stranger)
    for _ in range(30):
        make(client)
    with django_assert_num_queries(4):
        assert len(client.get("/api/v1/me/tokens/").json()["results"]) == 30
