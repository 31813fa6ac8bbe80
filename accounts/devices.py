"""Browsers in which somebody has signed in by password before. What others at the same address tried, or tried at this
account, does not make them wait: they have a count of their own ("device cookies", as OWASP describes them).

The cookie tells nobody who it belongs to and is good for nothing else; whoever steals it gets a few guesses more.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from rest_framework.response import Response

from .throttling import username

COOKIE = "known_browser"
KEPT = timedelta(days=365)
_SALT = "accounts.devices"


def known(request: HttpRequest, email: str) -> str:
    """The name of this browser, where the account of the address was signed in to in it before; else empty. Nothing is
    looked up, so that the time it takes does not tell which accounts there are."""
    try:
        said = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=KEPT)
    except signing.BadSignature:
        return ""
    return str(said["name"]) if said["account"] == _account(email) else ""


def is_exempt(request: HttpRequest, credentials: dict[str, Any] | None) -> bool:
    """For axes, which counts by account and place: whether this browser is counted by itself instead."""
    return bool(known(request, username(request, credentials) or ""))


def remember(response: Response, email: str) -> None:
    """Know the browser again when somebody signs in to this account in it."""
    said = {"account": _account(email), "name": secrets.token_urlsafe(12)}
    response.set_cookie(
        COOKIE, signing.dumps(said, salt=_SALT), max_age=KEPT, path="/api/v1/session/", httponly=True,
        secure=settings.SESSION_COOKIE_SECURE, samesite="Strict",
    )  # fmt: skip


def _account(email: str) -> str:
    return salted_hmac(_SALT, email.strip().lower(), algorithm="sha256").hexdigest()
