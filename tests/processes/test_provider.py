"""Sign-in by an identity provider, from the button to the session: who gets in, and who does not."""

import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import jwt
import pytest
import requests

from tests.processes.identity_provider import CLIENT, SECRET, IdentityProvider, new_key
from tests.processes.site import Site

pytestmark = pytest.mark.processes
ANNA = {"email": "Anna@Example.org", "email_verified": True, "name": "Anna A."}


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    made = IdentityProvider()
    yield made
    made.stop()


@pytest.fixture
def house_with_provider(make_site: Callable[..., Site], provider: IdentityProvider) -> Site:
    site = make_site()
    site.environment |= {
        "OIDC_ISSUER": provider.issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_NEW_ACCOUNTS_FROM": "lab.example.org",
        "LOG_LEVEL": "INFO",
    }
    site.call("make_user", email="anna@example.org", password="a password of her own 1")
    site.call("make_user", email="gone@example.org", password="a password of his own 2", is_active=False)
    site.call("make_invitation", email="bea@example.org", by="anna@example.org")
    site.start_web()
    return site


def come_in(site: Site, browser: requests.Session, next_page: str = "/api/v1/session/") -> str:
    """Press the button, follow redirects, and return the final path."""
    reply = browser.get(f"{site.address}/sign-in/oidc/", params={"next": next_page}, allow_redirects=False, timeout=30)
    while reply.status_code in (301, 302):
        to = urlsplit(reply.headers["Location"])
        if not to.netloc and not to.path.startswith("/sign-in/oidc"):
            return to.geturl()
        reply = browser.get(reply.headers["Location"], allow_redirects=False, timeout=30)
    raise AssertionError(f"{reply.status_code} at {reply.url}")


def who(site: Site, browser: requests.Session) -> str | None:
    reply = browser.get(f"{site.address}/api/v1/session/", timeout=30)
    return str(reply.json()["user"]["email"]) if reply.status_code == 200 else None


def test_sign_in_by_the_provider(house_with_provider: Site, provider: IdentityProvider) -> None:
    site = house_with_provider

    def tried(claims: dict[str, Any], next_page: str = "/") -> tuple[str, str | None]:
        provider.claims = claims
        browser = requests.Session()
        return come_in(site, browser, next_page), who(site, browser)

    # An existing account in any case of its address returns to the requested page, if it is ours.
    assert tried(ANNA, "/projects?x=1") == ("/projects?x=1", "anna@example.org")
    assert tried(ANNA, "//evil.example.org/") == ("/", "anna@example.org")
    assert tried(ANNA, "https://evil.example.org/") == ("/", "anna@example.org")
    # The address may come from the user endpoint instead of the token.
    provider.in_token = False
    assert tried(ANNA) == ("/", "anna@example.org")
    assert tried(ANNA | {"sub": "somebody else"}) == ("/sign-in?refused=failed", None)
    provider.in_token = True
    # Clocks differ a little.
    ahead = int(time.time()) + 30
    assert tried(ANNA | {"iat": ahead, "exp": ahead + 60}) == ("/", "anna@example.org")

    unverified = [ANNA | {"email_verified": no} for no in (False, "false", None)] + [{"email_verified": True}]
    for claims in unverified:
        assert tried(claims) == ("/sign-in?refused=not-verified", None)
    for email in ("gone@example.org", "nobody@example.org", "eve@notlab.example.org"):
        assert tried({"email": email, "email_verified": True, "sub": email}) == ("/sign-in?refused=no-account", None)
    # Invited people and members of the organisation get an account, but no role in a project.
    bea = ANNA | {"sub": "person-2", "email": "bea@example.org", "name": "\u202eBea"}
    assert tried(bea) == ("/", "bea@example.org")
    assert tried(ANNA | {"sub": "person-3", "email": "new@Lab.example.org", "name": ""}) == ("/", "new@lab.example.org")
    # Addresses of different people do not match, and a changed address belongs to the same person.
    assert tried(bea | {"sub": "person-4"}) == ("/sign-in?refused=other-person", None)
    assert tried(bea | {"email": "anna@example.org"}) == ("/", "bea@example.org")
    for subject in ("", "x" * 256, 7):
        assert tried(ANNA | {"sub": subject}) == ("/sign-in?refused=failed", None)
    # The password set before the address was verified has ended.
    signed_out = requests.Session()
    signed_out.get(f"{site.address}/api/v1/session/", timeout=30)
    body = {"email": "anna@example.org", "password": "a password of her own 1"}
    token = {"X-CSRFToken": str(signed_out.cookies["csrftoken"])}
    assert signed_out.post(f"{site.address}/api/v1/session/", json=body, headers=token, timeout=30).status_code == 422

    made = {person["email"]: person for person in site.call("people")}
    assert set(made) == {"anna@example.org", "gone@example.org", "bea@example.org", "new@lab.example.org"}
    assert made["bea@example.org"] == {"email": "bea@example.org", "name": "Bea", "password": False, "projects": 0}
    assert made["new@lab.example.org"]["name"] == "new"

    assert site.web
    log = site.web.log.read_text()
    assert "/sign-in/oidc/back/" in log
    assert len(provider.given) > 20
    assert [secret for secret in provider.given if secret in log] == []


def test_forged_provider_tokens_are_refused(house_with_provider: Site, provider: IdentityProvider) -> None:
    site, honest, thief = house_with_provider, provider.honest, new_key()
    provider.claims = ANNA
    forged: dict[str, Callable[[dict[str, Any]], str]] = {
        "another key": lambda c: jwt.encode(c, thief, "RS256", headers={"kid": "k1"}),
        "unknown key": lambda c: jwt.encode(c, thief, "RS256", headers={"kid": "k2"}),
        "no signature": lambda c: jwt.encode(c, "", "none", headers={"kid": "k1"}),
        "the client's secret": lambda c: jwt.encode(c, SECRET, "HS256", headers={"kid": "k1"}),
        "another audience": lambda c: honest(c | {"aud": "another client"}),
        "another issuer": lambda c: honest(c | {"iss": "https://evil.example.org"}),
        "expired": lambda c: honest(c | {"exp": c["iat"] - 3600}),
        "never expiring": lambda c: honest({name: value for name, value in c.items() if name != "exp"}),
        "no token": lambda c: "nothing.of.value",
    }
    for name, sign in forged.items():
        provider.sign = sign
        browser = requests.Session()
        assert (name, come_in(site, browser), who(site, browser)) == (name, "/sign-in?refused=failed", None)
    provider.sign = honest

    # A callback that this browser did not start would sign the visitor in as somebody else.
    back = f"{site.address}/sign-in/oidc/back/"
    for query in ({}, {"code": "x"}, {"code": "x", "state": "y"}, {"error": "access_denied", "state": "y"}):
        reply = requests.get(back, params=query, allow_redirects=False, timeout=30)
        assert reply.headers["Location"] == "/sign-in?refused=failed"

    # The session id changes at sign-in, and an unreachable provider is reported.
    browser = requests.Session()
    begun = browser.get(f"{site.address}/sign-in/oidc/", allow_redirects=False, timeout=30)
    before = browser.cookies["sessionid"]
    browser.get(begun.headers["Location"], timeout=30, allow_redirects=False)
    assert come_in(site, browser) == "/api/v1/session/"
    assert browser.cookies["sessionid"] != before
    kept = next(cookie.expires for cookie in browser.cookies if cookie.name == "sessionid")
    assert kept is not None
    assert kept - time.time() > 86_400, "not as short as the session that began it"
    provider.stop()
    assert come_in(site, requests.Session()) == "/sign-in?refused=failed"
