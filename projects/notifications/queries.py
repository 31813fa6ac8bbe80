"""A person's notifications as one list. Similar notifications form one entry."""

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from accounts.models import User
from projects.models import Digest, Notification, Project, Round

What = Notification.What
#: Maximum number of entries.
MAX_ENTRIES = 30
#: Retention of read and of unread notifications.
READ_RETENTION, RETENTION = timedelta(days=30), timedelta(days=180)
#: Rows that are equal in these columns form one entry.
GROUP_COLUMNS = ("what", "project", "round", "subject", "path")


@dataclass(frozen=True)
class Entry:
    """Similar notifications. ``id`` is the newest one, so later notifications stay unread when this entry is read."""

    id: int
    what: str
    text: str
    #: Page that shows the event.
    path: str
    project: str
    at: datetime
    unread: bool


def entries(user: User) -> list[Entry]:
    """Return the entries of a user, unread ones first, then newest first. Three queries."""
    return _entries(Notification.objects.shown_to(user))


def unmailed_entries(user: User) -> tuple[list[Entry], list[int]]:
    """Return the entries of a digest, and the ids of their notifications."""
    rows = Notification.objects.shown_to(user).unread().filter(mailed_at=None)
    return _entries(rows), list(rows.order_by("pk").values_list("pk", flat=True))


def _entries(rows: QuerySet[Notification]) -> list[Entry]:
    alike: Any = rows.order_by().annotate(unread=Q(read_at=None)).values(*GROUP_COLUMNS, "unread")
    groups = list(
        alike.annotate(n=Count("pk"), newest=Max("pk"), latest=Max("at")).order_by("-unread", "-newest")[:MAX_ENTRIES]
    )
    rounds = Round.objects.in_bulk({row["round"] for row in groups if row["round"]})
    projects = Project.objects.in_bulk({row["project"] for row in groups if row["project"]})
    return [_entry(row, rounds.get(row["round"]), projects.get(row["project"])) for row in groups]


def _entry(row: dict[str, Any], round: Round | None, project: Project | None) -> Entry:
    n, name = row["n"], round.name if round else ""
    text, path = {
        What.OPENED: (f"Round opened: {name}", f"/work/{round.pk if round else ''}"),
        What.MORE: (f"New units in {name}", f"/work/{round.pk if round else ''}"),
        What.REPLY: (_counted(n, "reply to you", "replies to you") + f" in {name}", _of_round(round)),
        What.DECISION: (f"Your answers in {name} were adjudicated", _of_round(round)),
        What.FINISHED: (_ended(row["subject"], name, "finished"), row["path"]),
        What.FAILED: (_ended(row["subject"], name, "failed"), row["path"]),
        What.TOKENS: (row["subject"], row["path"]),
        What.ACCURACY: (f"{name}: {row['subject']}", row["path"]),
    }[What(row["what"])]
    return Entry(
        row["newest"], row["what"], text, path, project.name if project else "", row["latest"], bool(row["unread"])
    )


def _of_round(round: Round | None) -> str:
    return f"/#round-{round.pk}" if round else "/"


def _ended(subject: str, round: str, how: str) -> str:
    """Return a text such as "Release: failed" or "Pilot: closing finished"."""
    return f"{round}: {subject.lower()} {how}" if round else f"{subject}: {how}"


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def mark_read(user: User, ids: list[int]) -> None:
    """Mark the entries with these ids as read, up to and including these rows. Ids of other users are ignored."""
    read_groups = Notification.objects.filter(user=user, pk__in=ids).values("pk", *GROUP_COLUMNS)
    alike = Q(pk__in=[])
    for row in read_groups:
        alike |= Q(pk__lte=row.pop("pk"), **row)
    Notification.objects.filter(alike, user=user).unread().update(read_at=timezone.now())


def sweep(now: datetime | None = None) -> int:
    """Delete old read notifications, and very old unread ones. Return the number of rows."""
    now = now or timezone.now()
    old = Q(read_at__lt=now - READ_RETENTION) | Q(at__lt=now - RETENTION)
    return Notification.objects.filter(old).delete()[0]


logger = logging.getLogger(__name__)
PERIOD = timedelta(days=1)
#: Delay before a digest is retried that failed or whose worker died.
AGAIN = timedelta(minutes=10)
#: Digests per run, so that the worker returns to its jobs.
AT_ONCE = 20
#: Errors that concern one address or message. Other digests may succeed.
OF_ONE = (SMTPRecipientsRefused, SMTPDataError)


def send_digests(now: datetime | None = None) -> int:
    """Send some of the due digests. Return how many were sent."""
    if not settings.EMAIL_HOST:
        return 0
    now, sent = now or timezone.now(), 0
    for user in _due(now)[:AT_ONCE]:
        if not _claim(user, now):
            continue
        entries, ids = unmailed_entries(user)
        try:
            if entries:
                _send(user, entries, ids[-1])
                sent += 1
        except OF_ONE as error:
            logger.warning("The mail server refused a digest for user %s: %s", user.pk, type(error).__name__)
            Digest.objects.filter(user=user).update(not_before=now + PERIOD)
            continue
        except (OSError, SMTPException) as error:
            logger.warning("The mail server is unavailable (%s). Digests will be sent later.", type(error).__name__)
            break
        with transaction.atomic():
            # Notifications that are no longer visible to the person are marked too. Otherwise they would be checked
            # every minute.
            Notification.objects.filter(user=user, mailed_at=None, at__lte=now).filter(
                Q(pk__in=ids) | ~Q(pk__in=Notification.objects.shown_to(user).values("pk"))
            ).update(mailed_at=now)
            Digest.objects.filter(user=user).update(not_before=None, **({"sent_at": now} if entries else {}))
    return sent


def _due(now: datetime) -> QuerySet[User]:
    """Return people with new notifications who want digests and have verified their address.

    Without the verification, inviting an address would be enough to send mail to a stranger.
    """
    new = Notification.objects.filter(user=OuterRef("pk"), read_at=None, mailed_at=None)
    not_due = Digest.objects.filter(user=OuterRef("pk")).filter(Q(sent_at__gt=now - PERIOD) | Q(not_before__gt=now))
    people = User.objects.filter(Exists(new), is_active=True, guest_until=None, email_verified_at__isnull=False)
    # An unset preference means the default. Excluding False would exclude unset ones too, because they are null in SQL.
    wants = Q(preferences__mail__isnull=True) | Q(preferences__mail=True)
    return people.filter(wants).exclude(Exists(not_due)).order_by("pk")


def _claim(user: User, now: datetime) -> bool:
    """Claim a person's digest by compare-and-set. Return False if another worker has it."""
    Digest.objects.bulk_create([Digest(user=user)], ignore_conflicts=True)
    claimable = Digest.objects.filter(user=user).filter(Q(not_before=None) | Q(not_before__lte=now))
    return bool(claimable.filter(Q(sent_at=None) | Q(sent_at__lte=now - PERIOD)).update(not_before=now + AGAIN))


def _send(user: User, entries: list[Entry], newest: int) -> None:
    base = settings.BASE_URL
    lines = [
        f"{' '.join(e.text.split())} ({' '.join(e.project.split()) or 'your account'})\n{base}{e.path}" for e in entries
    ]
    text = "\n\n".join(
        [
            "Your new notifications in Concord:",
            *lines,
            f"This e-mail is sent at most once a day. To turn it off, open your profile:\n{base}/profile",
        ]
    )
    message = EmailMessage(
        subject="Concord: new notifications",
        body=text + "\n",
        from_email=settings.DEFAULT_FROM_EMAIL,
        to=[user.email],
        headers={
            "Message-ID": f"<digest-{user.pk}-{newest}@{urlsplit(base).hostname}>",
            "Auto-Submitted": "auto-generated",
        },
        connection=get_connection(timeout=settings.EMAIL_TIMEOUT),
    )
    message.send()
