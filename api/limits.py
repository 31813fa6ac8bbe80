"""How much one person, or one project, may ask for: every limit is a line of one table and a setting, 0 for none.

Read by config.settings before Django is set up, so nothing of it is imported when this is.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.db.models import QuerySet

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
#: Seconds after which it is worth asking again for what waits for work to be done.
SOON = 30
#: A process asks the data base how many answers somebody gave once it has itself seen this share of the limit.
SUSPICIOUS = 4


@dataclass(frozen=True)
class Limit:
    """``most`` is the default; ``words`` say what was reached, with ``{most}`` in it, and what to do.

    ``within``: only rows so new count, and waiting helps; None counts all that there is. ``waits``: waiting helps all
    the same, for it is work that gets done.
    """

    most: int
    words: str
    within: timedelta | None = None
    waits: bool = False


#: Files of one set in one upload, at most.
MOST_FILES = 50
LIMITS = {
    "LIMIT_ANSWERS_PER_MINUTE": Limit(600, "You gave {most} answers within a minute.", MINUTE),
    "LIMIT_JOBS_OF_A_PROJECT": Limit(
        100, "{most} jobs of this project are waiting: wait until some are done, or cancel them.", waits=True
    ),
    "LIMIT_JOBS_OF_A_PERSON": Limit(
        200, "{most} jobs of yours are queued or running: wait for some of them, or cancel them.", waits=True
    ),
    "LIMIT_UPLOADS_MB": Limit(
        2048, "Your uploads that are being read come to {most} MiB, the most that is kept for one person: wait until "
        "they are done.", waits=True,
    ),
    "LIMIT_PROJECTS_PER_DAY": Limit(20, "You created {most} projects within a day.", DAY),
    "LIMIT_INVITATIONS_PER_DAY": Limit(1000, "You invited {most} people within a day.", DAY),
    "LIMIT_PARTICIPANT_LINKS_PER_DAY": Limit(5000, "You made {most} participant links within a day.", DAY),
    "LIMIT_GUIDELINES_PER_DAY": Limit(200, "You wrote {most} versions of guidelines within a day.", DAY),
    "LIMIT_PROTOCOLS_PER_DAY": Limit(200, "You wrote {most} versions of rating protocols within a day.", DAY),
    "LIMIT_ROUNDS_PER_DAY": Limit(200, "You opened {most} rounds within a day.", DAY),
    "LIMIT_RELEASES_PER_DAY": Limit(50, "{most} releases of this project were asked for within a day.", DAY),
    "LIMIT_API_TOKENS": Limit(50, "You have {most} API tokens in force: revoke those that you do not use."),
}  # fmt: skip


def read(number: Callable[..., int]) -> dict[str, int]:
    """The limits as they are set: ``number(name, default=...)`` reads the environment."""
    return {name: number(name, default=limit.most) for name, limit in LIMITS.items()}


def most(name: str) -> int:
    """A limit as it is set; 0: none."""
    from django.conf import settings

    return int(settings.LIMITS[name])


def refused(name: str, wait: float | None = None) -> Exception:
    """The refusal of a limit: 429 with the seconds to wait, or 409 where waiting does not help."""
    from api.problems import Conflict, TooMuch

    limit = LIMITS[name]
    if wait is None and limit.waits:
        wait = SOON
    words = limit.words.format(most=f"{most(name):,}")
    if wait is None:
        return Conflict(words)
    return TooMuch(f"{words} Nothing was stored; try again {_in(wait)}." if limit.within else words, wait=wait)


def _in(seconds: float) -> str:
    if seconds < 90:
        return f"in {ceil(seconds)} seconds"
    return f"in {ceil(seconds / 60)} minutes" if seconds < 5400 else f"in {ceil(seconds / 3600)} hours"


def check(name: str, rows: "QuerySet[Any]", *, adding: int = 1, at: str = "created_at") -> None:
    """Refuse where ``adding`` more rows would be more than the limit. ``at``: the field with their time.

    Counted, not locked: by as many as are under way at the same moment it may be exceeded.
    """
    from django.utils import timezone

    limit, allowed = LIMITS[name], most(name)
    if not allowed:
        return
    if limit.within is None:
        if rows.order_by()[:allowed].count() + adding > allowed:
            raise refused(name)
        return
    now = timezone.now()
    recent = rows.filter(**{f"{at}__gt": now - limit.within}).order_by(f"-{at}").values_list(at, flat=True)
    # Once the oldest of the newest leaves the window there is room for what is to be added.
    last = recent[max(0, allowed - adding) : allowed - adding + 1].first() if adding <= allowed else recent.first()
    if last is not None:
        raise refused(name, max(1.0, (last + limit.within - now).total_seconds()))


class Pace:
    """What each person does in a minute, as far as this process has seen: to ask the data base of those alone who do
    much. Nothing is locked: to miscount by a few changes when it is asked, never what it says."""

    def __init__(self) -> None:
        self._minute, self._seen = 0, dict[int, int]()

    def is_fast(self, name: str, who: int) -> bool:
        """Count one more; whether this process has seen a good part of the limit in this minute or the one before."""
        allowed, minute = most(name), int(time.monotonic() // 60)
        if not allowed:
            return False
        if minute != self._minute:
            # Half of what was seen goes on counting, so that nobody begins anew at each full minute.
            self._seen = {who: n // 2 for who, n in self._seen.items() if n > 1} if minute == self._minute + 1 else {}
            self._minute = minute
        self._seen[who] = self._seen.get(who, 0) + 1
        return self._seen[who] * SUSPICIOUS > allowed
