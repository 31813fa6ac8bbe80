"""Reset the tables after tests with real transactions.

Django truncates every table, which would also remove and recreate the triggers of append-only tables: a second per
test. This version restores a copy of the SQLite database, or deletes rows with triggers disabled.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from tests.dead_rows import DJANGOS, with_rows

#: The SQLite database before the first test.
_made: sqlite3.Connection | None = None


def remember() -> None:
    """Remember the migrated database as the state to restore."""
    global _made
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        _made = sqlite3.connect(":memory:", check_same_thread=False)
        connection.connection.backup(_made)


def emptied() -> None:
    if _made:
        _made.backup(connection.connection)
        return
    with transaction.atomic(), connection.cursor() as cursor:
        ours = set(connection.introspection.table_names(cursor)) - DJANGOS
        cursor.execute("SET LOCAL session_replication_role = replica")
        for name in with_rows(cursor, ours):
            cursor.execute(f'DELETE FROM "{name}"')


@contextmanager
def in_place_of_flushes() -> Iterator[None]:
    """Replace the flush of Django's database operations."""
    operations = type(connection.ops)
    flush = operations.execute_sql_flush

    def empty(self: Any, sql_list: list[str]) -> None:
        emptied()

    operations.execute_sql_flush = empty  # type: ignore[method-assign,assignment]
    yield
    operations.execute_sql_flush = flush  # type: ignore[method-assign]
