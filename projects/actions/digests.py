"""What is new, by e-mail: once a day at most for a person, and only where the administrator has named a server.

A worker claims a person's digest before it sends it and writes down afterwards what was in it. No transaction is open
while a mail server answers. One that is away costs a warning: the same is tried again, under the same Message-ID.
"""

import logging
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import User

from ..models import Digest, Notification
from ..notifications.listing import Entry, to_be_mailed

logger = logging.getLogger(__name__)
PERIOD = timedelta(days=1)
#: A digest that failed, or whose worker died, is tried again after so long.
AGAIN = timedelta(minutes=10)
#: Digests that are sent before the worker looks at its jobs again.
AT_ONCE = 20
#: What a server says of one address or message: the others may go well.
OF_ONE = (SMTPRecipientsRefused, SMTPDataError)


def send_digests(now: datetime | None = None) -> int:
    """Send what is due, some at a time. How many were sent."""
    if not settings.EMAIL_HOST:
        return 0
    now, sent = now or timezone.now(), 0
    for user in _due(now)[:AT_ONCE]:
        if not _claim(user, now):
            continue
        entries, ids = to_be_mailed(user)
        try:
            if entries:
                _send(user, entries, ids[-1])
                sent += 1
        except OF_ONE as error:
            logger.warning("The mail server refused a digest for user %s: %s", user.pk, type(error).__name__)
            Digest.objects.filter(user=user).update(not_before=now + PERIOD)
            continue
        except (OSError, SMTPException) as error:
            logger.warning("The mail server cannot be used (%s); digests wait.", type(error).__name__)
            break
        with transaction.atomic():
            # What the person may not see any more is done with as well, or it would be looked at every minute.
            Notification.objects.filter(user=user, mailed_at=None, at__lte=now).filter(
                Q(pk__in=ids) | ~Q(pk__in=Notification.objects.shown_to(user).values("pk"))
            ).update(mailed_at=now)
            Digest.objects.filter(user=user).update(not_before=None, **({"sent_at": now} if entries else {}))
    return sent


def _due(now: datetime) -> QuerySet[User]:
    """People with something new who want it by e-mail. Nothing goes to an address that nobody has shown to be theirs:
    who invites people could have strangers written to."""
    new = Notification.objects.filter(user=OuterRef("pk"), read_at=None, mailed_at=None)
    waits = Digest.objects.filter(user=OuterRef("pk")).filter(Q(sent_at__gt=now - PERIOD) | Q(not_before__gt=now))
    people = User.objects.filter(Exists(new), is_active=True, guest_until=None, email_verified_at__isnull=False)
    # A preference that was never set is the default; "not false" would find nobody, of whom it is unknown.
    wants = Q(preferences__mail__isnull=True) | Q(preferences__mail=True)
    return people.filter(wants).exclude(Exists(waits)).order_by("pk")


def _claim(user: User, now: datetime) -> bool:
    """By compare-and-set: of two workers one has it."""
    Digest.objects.bulk_create([Digest(user=user)], ignore_conflicts=True)
    mine = Digest.objects.filter(user=user).filter(Q(not_before=None) | Q(not_before__lte=now))
    return bool(mine.filter(Q(sent_at=None) | Q(sent_at__lte=now - PERIOD)).update(not_before=now + AGAIN))


def _send(user: User, entries: list[Entry], newest: int) -> None:
    base = settings.BASE_URL
    lines = [f"{' '.join(e.text.split())} ({' '.join(e.project.split())})\n{base}{e.path}" for e in entries]
    text = "\n\n".join(
        ["New for you in Concord:", *lines, f"At most once a day. To switch it off, open your profile:\n{base}/profile"]
    )
    message = EmailMessage(
        subject="New for you in Concord", body=text + "\n", from_email=settings.DEFAULT_FROM_EMAIL, to=[user.email],
        headers={
            "Message-ID": f"<digest-{user.pk}-{newest}@{urlsplit(base).hostname}>", "Auto-Submitted": "auto-generated",
        },
        connection=get_connection(timeout=settings.EMAIL_TIMEOUT),
    )  # fmt: skip
    message.send()
