"""Rows that nobody needs any more go once a day: spent links, ended sessions, failed tries that count no longer."""

from datetime import datetime, timedelta

from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.utils import timezone

from . import throttling
from .models import Failure, SignInLink

#: How long a link that was used or has expired can still be asked about.
LINKS_KEPT = timedelta(days=30)
#: Longer than any lock lasts.
TRIES_KEPT = timedelta(days=1)


def sweep(now: datetime | None = None) -> dict[str, int]:
    """Delete what is spent; how many rows of each kind went. The audit log keeps who signed in when and how."""
    now = now or timezone.now()
    old = {
        "sign-in links": SignInLink.objects.filter(expires_at__lt=now - LINKS_KEPT),
        "sessions": Session.objects.filter(expire_date__lt=now),
        "failed tries": Failure.objects.filter(at__lt=now - max(TRIES_KEPT, throttling.WINDOW)),
        "locks": AccessAttempt.objects.filter(attempt_time__lt=now - TRIES_KEPT),
    }
    return {name: rows.delete()[0] for name, rows in old.items()}
