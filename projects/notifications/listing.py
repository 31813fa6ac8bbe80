"""What is new for a person, as one list: what is alike is one entry."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Max, Q, QuerySet
from django.utils import timezone

from accounts.models import User

from ..models import Notification, Project, Round

What = Notification.What
#: Entries that are shown: what is older was seen, or has been overtaken.
MOST = 30
#: How long rows are kept, read and unread.
READ_KEPT, KEPT = timedelta(days=30), timedelta(days=180)
#: Rows are one entry where these are alike.
ALIKE = ("what", "project", "round", "subject", "path")


@dataclass(frozen=True)
class Entry:
    """Some notifications that are alike. ``id`` is the newest: what comes later is not read with it."""

    id: int
    what: str
    #: In words.
    text: str
    #: The page that shows it.
    path: str
    project: str
    at: datetime
    unread: bool


def entries(user: User) -> list[Entry]:
    """The newest, unread ones first. Three queries, whatever their number."""
    return _entries(Notification.objects.shown_to(user))


def to_be_mailed(user: User) -> tuple[list[Entry], list[int]]:
    """What a digest says, and the ids of the rows that are in it."""
    rows = Notification.objects.shown_to(user).unread().filter(mailed_at=None)
    return _entries(rows), list(rows.order_by("pk").values_list("pk", flat=True))


def _entries(rows: QuerySet[Notification]) -> list[Entry]:
    alike: Any = rows.order_by().annotate(unread=Q(read_at=None)).values(*ALIKE, "unread")
    found = list(
        alike.annotate(n=Count("pk"), newest=Max("pk"), latest=Max("at")).order_by("-unread", "-newest")[:MOST]
    )
    rounds = Round.objects.in_bulk({row["round"] for row in found if row["round"]})
    projects = Project.objects.in_bulk({row["project"] for row in found})
    return [_entry(row, rounds.get(row["round"]), projects[row["project"]]) for row in found]


def _entry(row: dict[str, Any], round: Round | None, project: Project) -> Entry:
    n, name = row["n"], round.name if round else ""
    text, path = {
        What.OPENED: (f"Round opened: {name}", f"/work/{round.pk if round else ''}"),
        What.MORE: (f"New units in {name}", f"/work/{round.pk if round else ''}"),
        What.REPLY: (_counted(n, "reply to you", "replies to you") + f" in {name}", _of_round(round)),
        What.DECISION: (f"Decided on answers of yours in {name}", _of_round(round)),
        What.FINISHED: (_ended(row["subject"], name, "finished"), row["path"]),
        What.FAILED: (_ended(row["subject"], name, "failed"), row["path"]),
    }[What(row["what"])]  # fmt: skip
    return Entry(row["newest"], row["what"], text, path, project.name, row["latest"], bool(row["unread"]))


def _of_round(round: Round | None) -> str:
    return f"/#round-{round.pk}" if round else "/"


def _ended(subject: str, round: str, how: str) -> str:
    """As in "Release: failed" and "Pilot: closing finished"."""
    return f"{round}: {subject.lower()} {how}" if round else f"{subject}: {how}"


def _counted(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def mark_read(user: User, ids: list[int]) -> None:
    """Entries were read, by their ids: their rows up to then. Of others' ids nothing happens."""
    found = Notification.objects.filter(user=user, pk__in=ids).values("pk", *ALIKE)
    alike = Q(pk__in=[])
    for row in found:
        alike |= Q(pk__lte=row.pop("pk"), **row)
    Notification.objects.filter(alike, user=user).unread().update(read_at=timezone.now())


def sweep(now: datetime | None = None) -> int:
    """Delete what was read long ago, and what nobody read for very long. How many rows."""
    now = now or timezone.now()
    old = Q(read_at__lt=now - READ_KEPT) | Q(at__lt=now - KEPT)
    return Notification.objects.filter(old).delete()[0]
