"""Guessing made slow: failures counted in the data base, and so over all processes; every lock cools off by itself.

Wrong passwords are counted by django-axes for each account and address. What it cannot see is counted here: one
address that tries many accounts, or guesses tokens of links and invitations.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from .models import Failure
from .problems import CONTENT_TYPE, TooManyTries

WINDOW = timedelta(minutes=15)
#: Failures that one address, or for PASSWORD one signed-in user, may have in a window. An address can be a whole lab.
LIMITS = {Failure.What.SIGN_IN: 100, Failure.What.TOKEN: 30, Failure.What.PASSWORD: 10}


def client_ip(request: HttpRequest) -> str:
    """The address of the client; behind our own proxy the one that the proxy saw, which a client cannot make up."""
    if getattr(settings, "BEHIND_PROXY", False):
        forwarded = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
        if forwarded:
            return forwarded[:64]
    # PostgreSQL keeps addresses as such: a request without one (a unix socket, a test) still needs one.
    return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")


def username(request: HttpRequest, credentials: dict[str, Any] | None) -> str | None:
    """What axes counts by: the e-mail address, however its case is written."""
    found = (credentials or {}).get("username") or (credentials or {}).get("email")
    return str(found).strip().lower()[:255] if found else None


def check(what: Failure.What, who: str, now: datetime | None = None) -> None:
    """Raise `TooManyTries` while the limit is reached."""
    now = now or timezone.now()
    recent = Failure.objects.filter(what=what, who=who, at__gt=now - WINDOW).order_by("-at")
    # The limit is free again once the oldest of the newest `limit` failures leaves the window.
    oldest = recent.values_list("at", flat=True)[LIMITS[what] - 1 : LIMITS[what]].first()
    if oldest is not None:
        raise TooManyTries(_detail(), wait=(oldest + WINDOW - now).total_seconds())


def count(what: Failure.What, who: str, now: datetime | None = None) -> None:
    """Count one failure. Rows too old to matter go at the same time."""
    now = now or timezone.now()
    Failure.objects.create(what=what, who=who, at=now)
    Failure.objects.filter(at__lte=now - 2 * WINDOW).delete()


def _detail() -> str:
    return f"Too many failed tries. Wait up to {WINDOW.seconds // 60} minutes, then try again."


def locked_out(request: HttpRequest, response: HttpResponse, credentials: dict[str, Any] | None) -> HttpResponse:
    """The reply that django-axes gives for a locked account and address: our problem details."""
    problem = TooManyTries(_detail(), wait=WINDOW.total_seconds())
    return JsonResponse(
        problem.as_json(), status=problem.status, headers=problem.headers, content_type=CONTENT_TYPE
    )  # fmt: skip
