"""After a test with transactions of its own the tables are as the migrations left them.

Django empties every table, whether there is anything in it or not, and the triggers that let no row be deleted would be
taken away and made again for it: a second for each test. Here they step aside for this, and for nothing else.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from tests.dead_rows import DJANGOS, with_rows

#: The data base of SQLite before the first test.
_made: sqlite3.Connection | None = None


def remember() -> None:
    """What has just been migrated is what tests come back to."""
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
    """Django's own way asks the data base's operations for it."""
    operations = type(connection.ops)
    flush = operations.execute_sql_flush

    def empty(self: Any, sql_list: list[str]) -> None:
        emptied()

    operations.execute_sql_flush = empty  # type: ignore[method-assign,assignment]
    yield
    operations.execute_sql_flush = flush  # type: ignore[method-assign]
