"""Sessions, known browsers and the clean-up of expired rows.

Every request looks up the session and the user, so both use compiled statements.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.core import signing
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from api.problems import Refused
from sql.compiled import CompiledSelect

from . import throttling
from .models import ApiToken, Failure, SignInLink, User
from .throttling import username

_SESSION = CompiledSelect(
    lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now)[:1], key=str, now=datetime
)
_USER = CompiledSelect(lambda pk: User.objects.filter(pk=pk), pk=int)


class SessionStore(db.SessionStore):
    """Sessions in the database, without a cache.

    A shared cache would cost a request of its own. A cache per process would keep a session alive after sign-out.
    """

    def _get_session_from_db(self) -> Session | None:
        key = self.session_key or ""
        # PostgreSQL rejects NUL, which our cookies never contain.
        session = None if "\0" in key else _SESSION.first(key=key, now=timezone.now())
        if session is None:
            self._session_key = None
        return session


class Backend(ModelBackend):
    """Django's `ModelBackend` with a compiled user look-up."""

    def get_user(self, user_id: Any) -> User | None:
        user = _USER.first(pk=user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


COOKIE = "known_browser"
COOKIE_AGE = timedelta(days=365)
_SALT = "accounts.sessions"


def known_browser(request: HttpRequest, email: str) -> str:
    """Return the name of this browser if the account was signed in to in it before, otherwise an empty string.

    Does not query the database, so that response times do not reveal which accounts exist.
    """
    try:
        payload = signing.loads(request.COOKIES.get(COOKIE, ""), salt=_SALT, max_age=COOKIE_AGE)
    except signing.BadSignature:
        return ""
    return str(payload["name"]) if payload["account"] == _hash_address(email) else ""


def is_exempt(request: HttpRequest, credentials: dict[str, Any] | None) -> bool:
    """Return whether axes ignores this request, because failures of a known browser are counted separately.

    axes counts failures by account and IP address.
    """
    return bool(known_browser(request, username(request, credentials) or ""))


def remember_browser(response: Response, email: str) -> None:
    """Set the cookie that identifies this browser at later sign-ins to the account."""
    payload = {"account": _hash_address(email), "name": secrets.token_urlsafe(12)}
    response.set_cookie(
        COOKIE,
        signing.dumps(payload, salt=_SALT),
        max_age=COOKIE_AGE,
        path="/api/v1/session/",
        httponly=True,
        secure=settings.SESSION_COOKIE_SECURE,
        samesite="Strict",
    )


def _hash_address(email: str) -> str:
    return salted_hmac(_SALT, email.strip().lower(), algorithm="sha256").hexdigest()


def signed_in(request: Request) -> User:
    """Return the signed-in user. Raise `NotAuthenticated` (401) if there is none."""
    if not isinstance(request.user, User):
        raise exceptions.NotAuthenticated
    return request.user


def uses_api_token(request: Request) -> bool:
    """Return whether the request uses a personal API token instead of a session."""
    return isinstance(request.auth, ApiToken)


def query_parameter(request: Request, name: str) -> str:
    """Return a query parameter, or "" if it is missing. Raise `Refused` for NUL, which PostgreSQL cannot store."""
    value = request.query_params.get(name, "")
    if "\0" in value:
        raise Refused.field(name, "The value contains a NUL character. Remove it.")
    return value


_SINCE = "answers_since"


def hide_earlier_answers(request: HttpRequest, now: datetime) -> None:
    """Let this session continue a task, without access to answers that were given before.

    It was started by an id on a recruitment platform, which others may know or guess.
    """
    request.session[_SINCE] = now.isoformat()


def answers_since(request: Request) -> datetime | None:
    """Return the time before which answers are hidden from this session, or None."""
    since = request._request.session.get(_SINCE)
    return datetime.fromisoformat(since) if since else None


#: How long sign-in links are kept after they expire.
LINK_RETENTION = timedelta(days=30)
#: How long failed sign-ins are kept; longer than any lock.
FAILURE_RETENTION = timedelta(days=1)


def sweep(now: datetime | None = None) -> dict[str, int]:
    """Delete expired links, sessions and failures, and return the number of deleted rows by type.

    The audit log keeps who signed in, when and how.
    """
    now = now or timezone.now()
    expired = {
        "sign-in links": SignInLink.objects.filter(expires_at__lt=now - LINK_RETENTION),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "failed attempts": Failure.objects.filter(at__lt=now - max(FAILURE_RETENTION, throttling.WINDOW)),
        "locks": AccessAttempt.objects.filter(attempt_time__lt=now - FAILURE_RETENTION),
    }
    return {name: rows.delete()[0] for name, rows in expired.items()}
