"""Guessing made slow: failures counted in the data base, and so over all processes; every lock cools off by itself.

Wrong passwords are counted by django-axes for each account and place. What it cannot see is counted here: one place
that tries many accounts, and tokens of links and invitations that are not ours. Nobody can guess those, they have 256
bits: they are counted so that a place that tries them is seen in the metrics and costs no more than a look-up.
"""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from api.addresses import place
from api.problems import TooManyTries

from .models import Failure

WINDOW = timedelta(minutes=15)
#: Failures in a window: of one place, which can be a whole lab; for DEVICE of one browser; for PASSWORD of one user.
LIMITS = {
    Failure.What.SIGN_IN: 100, Failure.What.TOKEN: 30, Failure.What.PASSWORD: 10, Failure.What.DEVICE: 10,
    # Addresses for which somebody would have made an account that there is: it tells that there is one.
    Failure.What.ACCOUNT: 10,
}  # fmt: skip


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
        raise too_many(wait=oldest + WINDOW - now)


def count(what: Failure.What, who: str, now: datetime | None = None) -> None:
    """Count one failure. Rows too old to matter go at the same time."""
    now = now or timezone.now()
    Failure.objects.create(what=what, who=who, at=now)
    Failure.objects.filter(at__lte=now - 2 * WINDOW).delete()


def wrong_token(request: HttpRequest) -> None:
    """Count a token that opens nothing, or raise `TooManyTries`. A token is looked up first: a right one always works,
    whatever others at the same place tried."""
    who = place(request)
    check(Failure.What.TOKEN, who)
    count(Failure.What.TOKEN, who)


def too_many(wait: timedelta = WINDOW) -> TooManyTries:
    minutes = WINDOW.seconds // 60
    return TooManyTries(
        f"Too many failed tries. Wait up to {minutes} minutes, then try again.", wait=wait.total_seconds()
    )  # fmt: skip
