"""One-time sign-in links: single use, expiring, stored as hashes."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from rest_framework.test import APIClient

from accounts.actions import make_sign_in_link
from accounts.models import SignInLink, User
from audit.models import Entry


def use(token: str, client: APIClient | None = None) -> int:
    reply = (client or APIClient()).post("/api/v1/session/link/", {"token": token}, format="json")
    return int(reply.status_code)


def test_a_link_signs_in_once(stranger: User) -> None:
    token = make_sign_in_link(user=stranger)
    client = APIClient()
    assert use(token, client) == 200
    assert client.get("/api/v1/session/").json()["user"]["email"] == stranger.email
    assert use(token) == 410
    assert list(Entry.objects.values_list("verb", flat=True)) == ["make sign-in link", "verify address", "sign in"]


@pytest.mark.row(44)
def test_the_session_id_changes_on_signing_in_by_a_link(stranger: User) -> None:
    client = APIClient()
    session = client.session
    session["planted"] = True
    session.save()
    planted = client.cookies["sessionid"] = str(session.session_key)
    assert use(make_sign_in_link(user=stranger), client) == 200
    assert client.cookies["sessionid"].value != planted
    client.cookies["sessionid"] = planted
    assert client.get("/api/v1/session/").status_code == 401


def test_only_the_hash_of_its_token_is_kept(stranger: User) -> None:
    token = make_sign_in_link(user=stranger)
    assert token not in str(list(SignInLink.objects.values()))


def test_an_expired_link_and_that_of_a_closed_account_do_not_work(stranger: User, lead: User) -> None:
    expired, closed = make_sign_in_link(user=stranger), make_sign_in_link(user=lead)
    SignInLink.objects.filter(user=stranger).update(expires_at=timezone.now() - timedelta(seconds=1))
    User.objects.filter(pk=lead.pk).update(is_active=False)
    assert (use(expired), use(closed)) == (410, 410)


def test_a_malformed_sign_in_token_is_a_bad_request(db: None) -> None:
    for body in ('{"token": "\\ud800"}', '{"token": "\\u0000"}', '{"token": 5', '{"token": NaN}', "[" * 100_000):
        reply = APIClient().post("/api/v1/session/link/", body, content_type="application/json")
        assert reply.status_code == 400, body[:20]


def test_the_command_prints_a_link_that_works(stranger: User) -> None:
    out = StringIO()
    call_command("sign_in_link", "STRANGER@example.org", address="https://concord.example/", stdout=out)
    address, token = out.getvalue().strip().split("#")
    assert address == "https://concord.example/enter"
    assert use(token) == 200


def test_the_command_refuses_an_unknown_address(db: None) -> None:
    with pytest.raises(CommandError, match="No active user"):
        call_command("sign_in_link", "nobody@example.org")
