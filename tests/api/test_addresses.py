"""The client address of a request, whatever headers a proxy or client sends (reliability row 52)."""

from typing import Any

import pytest
from axes.models import AccessAttempt
from django.test import RequestFactory
from rest_framework.test import APIClient

from accounts.models import Failure, User
from api.addresses import client_ip, client_ip_prefix

pytestmark = pytest.mark.row(52)
PEER = "10.0.0.1"


@pytest.fixture
def behind(settings: Any) -> None:
    settings.BEHIND_PROXY = True


def asked(forwarded: str | None, peer: str = PEER) -> Any:
    headers: dict[str, Any] = {} if forwarded is None else {"HTTP_X_FORWARDED_FOR": forwarded}
    return RequestFactory().get("/", REMOTE_ADDR=peer, **headers)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("6.6.6.6, 192.0.2.1", "192.0.2.1"),
        ("6.6.6.6,192.0.2.1 ", "192.0.2.1"),
        ("192.0.2.1:51234", "192.0.2.1"),
        ("2001:db8:1:2::7", "2001:db8:1:2::7"),
        ("2001:DB8:1:2:0:0:0:7", "2001:db8:1:2::7"),
        ("[2001:db8:1:2::7]", "2001:db8:1:2::7"),
        ("[2001:db8:1:2::7]:443", "2001:db8:1:2::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("[fe80::1%eth0]:443", "fe80::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("[::ffff:192.0.2.1]:443", "192.0.2.1"),
    ],
)
def test_an_address_is_read_as_proxies_write_it(behind: None, written: str, meant: str) -> None:
    assert str(client_ip(asked(written))) == meant


NASTY = [
    "unknown",
    "_hidden",
    "localhost",
    "'; drop table accounts_user; --",
    "1.2.3",
    "1.2.3.4.5",
    "256.1.1.1",
    "01.2.3.4",
    "1.2.3.4/24",
    "1.2.3.4:99999999",
    "[1.2.3.4",
    "::1]",
    "[]",
    "[]:80",
    ":80",
    "%eth0",
    "::%",
    "::g",
    "1" * 70_000,
    "\u0661.2.3.4",
    "\xff\xfe",
    "1.2.3.4\x00",
    "\x00",
    "6.6.6.6, ",
    "::ffff:1.2.3.4.5",
    "3221225985",
    "0x7f.1",
    "-",
]


@pytest.mark.parametrize("written", NASTY, ids=range(len(NASTY)))
def test_invalid_forwarded_addresses_count_for_the_peer(behind: None, written: str) -> None:
    """A correct proxy never sends this; with others guessing is still throttled."""
    assert client_ip_prefix(asked(written)) == PEER


def test_forwarded_addresses_are_ignored_without_a_proxy() -> None:
    assert client_ip_prefix(asked("192.0.2.1")) == PEER


@pytest.mark.parametrize("peer", ["", "unix:", "@\x00", "/run/concord.sock"])
def test_a_peer_without_an_address_has_one_prefix_for_all(peer: str) -> None:
    assert client_ip(asked(None, peer)) is None
    assert client_ip_prefix(asked(None, peer)) == "0.0.0.0"


def test_ipv6_addresses_of_one_subscriber_have_one_prefix(behind: None) -> None:
    """A subscriber has 2^64 IPv6 addresses, so they are counted by prefix."""
    assert (
        client_ip_prefix(asked("2001:db8:1:2::7"))
        == client_ip_prefix(asked("2001:db8:1:2:ffff::9"))
        == "2001:db8:1:2::"
    )
    assert client_ip_prefix(asked("2001:db8:1:3::7")) == "2001:db8:1:3::"


@pytest.mark.parametrize("written", NASTY, ids=range(len(NASTY)))
def test_a_wrong_password_from_no_address_is_refused_and_counted(behind: None, lead: User, written: str) -> None:
    reply = _wrong(HTTP_X_FORWARDED_FOR=written, REMOTE_ADDR=PEER)
    assert (reply.status_code, reply.json()["type"]) == (422, "/problems/wrong-credentials")
    assert list(Failure.objects.values_list("who", flat=True)) == [PEER]
    assert list(AccessAttempt.objects.values_list("ip_address", flat=True)) == [PEER]


@pytest.mark.parametrize(
    "headers",
    [
        {"HTTP_USER_AGENT": "x" * 100_000},
        {"HTTP_USER_AGENT": "\x00"},
        {"HTTP_USER_AGENT": "\xff\xfe\u0100"},
        {"HTTP_ACCEPT": "application/json, */*;q=0." + "1" * 5000},
        {"HTTP_ACCEPT": "application/json, \x00"},
        {"HTTP_COOKIE": "sessionid=\x00; csrftoken=\xff; known_browser=\x00"},
        {"HTTP_REFERER": "\x00"},
        {"HTTP_X_REQUEST_ID": "\x00" * 30},
        {"QUERY_STRING": "a=%00&b=%ff&c=%ed%a0%80"},
    ],
    ids=["long agent", "NUL agent", "agent", "long accept", "NUL accept", "cookie", "referer", "request id", "query"],
)
def test_a_wrong_password_with_odd_headers_is_refused_and_counted(lead: User, headers: dict[str, str]) -> None:
    reply = _wrong(**headers)
    assert (reply.status_code, reply.json()["type"]) == (422, "/problems/wrong-credentials")
    assert Failure.objects.count() == AccessAttempt.objects.count() == 1


@pytest.mark.parametrize("host", ["\x00", "\xff", "a" * 5000, "localhost:99999999", "local host", "[::1", "evil.test"])
def test_an_unknown_host_never_causes_a_server_error(lead: User, host: str) -> None:
    reply = _wrong(HTTP_HOST=host)
    assert reply.status_code < 500
    assert Failure.objects.count() == (1 if reply.status_code == 422 else 0)


def _wrong(**extra: Any) -> Any:
    client = APIClient(raise_request_exception=False)
    body = {"email": "lead@example.org", "password": "wrong"}
    return client.post("/api/v1/session/", body, format="json", **extra)
