"""Temporary databases, for what a large import or release must remember and memory should not hold."""

import sqlite3
from collections.abc import Iterable


def temporary_database(schema: str) -> sqlite3.Connection:
    """Return a new database in an open transaction. No other connection can open it."""
    # An empty name is a temporary database that SQLite writes to disk if it grows.
    connection = sqlite3.connect("", isolation_level=None)
    connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {schema}; BEGIN")
    return connection


class DistinctValues:
    """Count distinct values by name, in constant memory."""

    def __init__(self) -> None:
        self._rows = temporary_database(
            "CREATE TABLE seen (name TEXT, value TEXT, PRIMARY KEY (name, value)) WITHOUT ROWID"
        )

    def add(self, name: str, values: Iterable[str]) -> None:
        self._rows.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?)", ((name, value) for value in values))

    def count(self) -> dict[str, int]:
        return dict(self._rows.execute("SELECT name, count(*) FROM seen GROUP BY name"))
