"""Times as releases write them."""

from datetime import UTC, datetime


def utc_time(value: datetime) -> str:
    """Return a time in UTC with microseconds, independent of the database's format."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")
