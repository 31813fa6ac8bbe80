"""Throttling of failed sign-ins and tokens. Failures are counted in the database, and locks expire by themselves.

django-axes counts wrong passwords by account and IP address. This module counts what axes does not: one address that
tries many accounts, and invalid tokens of links and invitations. Tokens have 256 bits and cannot be guessed; counting
them makes attempts visible in the metrics and limits their cost.
"""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from api.addresses import client_ip_prefix
from api.problems import TooManyTries

from .models import Failure

WINDOW = timedelta(minutes=15)
#: Maximum failures in a window by client IP, which may be shared by a lab. DEVICE counts by browser, PASSWORD by user.
LIMITS = {
    Failure.What.SIGN_IN: 100,
    Failure.What.TOKEN: 30,
    Failure.What.PASSWORD: 10,
    Failure.What.DEVICE: 10,
    # E-mail addresses that already have an account (the error reveals this, so it is throttled).
    Failure.What.ACCOUNT: 10,
}


def username(request: HttpRequest, credentials: dict[str, Any] | None) -> str | None:
    """Return the lower-case e-mail address, by which axes counts failures."""
    address = (credentials or {}).get("username") or (credentials or {}).get("email")
    return str(address).strip().lower()[:255] if address else None


def check(what: Failure.What, who: str, now: datetime | None = None) -> None:
    """Raise `TooManyTries` if the limit is reached."""
    now = now or timezone.now()
    recent = Failure.objects.filter(what=what, who=who, at__gt=now - WINDOW).order_by("-at")
    # The lock ends when the oldest of the newest `LIMITS[what]` failures leaves the window.
    oldest = recent.values_list("at", flat=True)[LIMITS[what] - 1 : LIMITS[what]].first()
    if oldest is not None:
        raise too_many_tries(wait=oldest + WINDOW - now)


def count(what: Failure.What, who: str, now: datetime | None = None) -> None:
    """Count one failure, and delete old rows."""
    now = now or timezone.now()
    Failure.objects.create(what=what, who=who, at=now)
    Failure.objects.filter(at__lte=now - 2 * WINDOW).delete()


def count_invalid_token(request: HttpRequest) -> None:
    """Count an invalid token, or raise `TooManyTries`.

    Callers look up the token first, so that a valid token works even if others at the same IP address failed.
    """
    who = client_ip_prefix(request)
    check(Failure.What.TOKEN, who)
    count(Failure.What.TOKEN, who)


def too_many_tries(wait: timedelta = WINDOW) -> TooManyTries:
    minutes = WINDOW.seconds // 60
    return TooManyTries(
        f"Too many failed attempts. Wait up to {minutes} minutes, then try again.", wait=wait.total_seconds()
    )
