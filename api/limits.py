"""Rate limits and quotas of users and projects. Each limit has a setting; 0 disables it.

config.settings imports this module before Django is set up, so it must not import Django at module level.
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
#: Seconds after which a client retries if a limit depends on unfinished work.
SOON = 30
#: A process queries the database for a user's answers once it has itself counted 1/SUSPICIOUS of the limit.
SUSPICIOUS = 4


@dataclass(frozen=True)
class Limit:
    """A limit. ``most`` is the default; ``words`` is the message, with the placeholder ``{most}``.

    ``within``: the time window, after which a retry can succeed; None counts all rows. ``waits``: a retry can succeed
    without a time window, because unfinished work completes.
    """

    most: int
    words: str
    within: timedelta | None = None
    waits: bool = False


#: Maximum number of files in one upload.
MOST_FILES = 50
LIMITS = {
    "LIMIT_ANSWERS_PER_MINUTE": Limit(600, "Limit reached: {most} answers per minute.", MINUTE),
    "LIMIT_JOBS_OF_A_PROJECT": Limit(
        100, "Limit reached: {most} queued jobs per project. Wait until some are done, or cancel some.", waits=True
    ),
    "LIMIT_JOBS_OF_A_PERSON": Limit(
        200,
        "Limit reached: {most} queued or running jobs per person. Wait until some are done, or cancel some.",
        waits=True,
    ),
    "LIMIT_UPLOADS_MB": Limit(
        2048, "Limit reached: {most} MiB of unprocessed uploads per person. Wait until they are processed.", waits=True
    ),
    "LIMIT_PROJECTS_PER_DAY": Limit(20, "Limit reached: {most} new projects per day.", DAY),
    "LIMIT_INVITATIONS_PER_DAY": Limit(1000, "Limit reached: {most} invitations per day.", DAY),
    "LIMIT_PARTICIPANT_LINKS_PER_DAY": Limit(5000, "Limit reached: {most} participant links per day.", DAY),
    "LIMIT_GUIDELINES_PER_DAY": Limit(200, "Limit reached: {most} guideline versions per day.", DAY),
    "LIMIT_PROTOCOLS_PER_DAY": Limit(200, "Limit reached: {most} protocol versions per day.", DAY),
    "LIMIT_ROUNDS_PER_DAY": Limit(200, "Limit reached: {most} opened rounds per day.", DAY),
    "LIMIT_RELEASES_PER_DAY": Limit(50, "Limit reached: {most} releases of a project per day.", DAY),
    "LIMIT_API_TOKENS": Limit(50, "Limit reached: {most} active API tokens. Revoke the ones that you do not use."),
}


def read(number: Callable[..., int]) -> dict[str, int]:
    """Return the limits by name. ``number(name, default=...)`` reads a variable of the environment."""
    return {name: number(name, default=limit.most) for name, limit in LIMITS.items()}


def most(name: str) -> int:
    """Return the configured limit; 0 if there is none."""
    from django.conf import settings

    return int(settings.LIMITS[name])


def refused(name: str, wait: float | None = None) -> Exception:
    """Return the error of a limit: 429 with the seconds to wait, or 409 if waiting does not help."""
    from api.problems import Conflict, TooMuch

    limit = LIMITS[name]
    if wait is None and limit.waits:
        wait = SOON
    words = limit.words.format(most=f"{most(name):,}")
    if wait is None:
        return Conflict(words)
    return TooMuch(f"{words} Nothing was stored. Try again {_in(wait)}." if limit.within else words, wait=wait)


def _in(seconds: float) -> str:
    if seconds < 90:
        return f"in {ceil(seconds)} seconds"
    return f"in {ceil(seconds / 60)} minutes" if seconds < 5400 else f"in {ceil(seconds / 3600)} hours"


def check(name: str, rows: "QuerySet[Any]", *, adding: int = 1, at: str = "created_at") -> None:
    """Raise `TooMuch` or `Conflict` if ``adding`` more rows exceed the limit. ``at`` is the field with their time.

    Rows are counted without a lock, so concurrent requests can exceed the limit slightly.
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
    # The rows can be added when the oldest of the newest `allowed - adding + 1` rows leaves the window.
    last = recent[max(0, allowed - adding) : allowed - adding + 1].first() if adding <= allowed else recent.first()
    if last is not None:
        raise refused(name, max(1.0, (last + limit.within - now).total_seconds()))


class Pace:
    """Requests per user and minute in this process, used to query the database only for fast users.

    Not locked: a wrong count affects only when the database is queried, not the result.
    """

    def __init__(self) -> None:
        self._minute, self._seen = 0, dict[int, int]()

    def is_fast(self, name: str, who: int) -> bool:
        """Count a request, and return whether this process has recently seen a large part of the limit."""
        allowed, minute = most(name), int(time.monotonic() // 60)
        if not allowed:
            return False
        if minute != self._minute:
            # Keep half of each count, so that users do not start at zero at each full minute.
            self._seen = {who: n // 2 for who, n in self._seen.items() if n > 1} if minute == self._minute + 1 else {}
            self._minute = minute
        self._seen[who] = self._seen.get(who, 0) + 1
        return self._seen[who] * SUSPICIOUS > allowed
