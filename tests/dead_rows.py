"""Remove dead rows, which rolled-back tests leave in PostgreSQL and which slow every statement.

Autovacuum is off in a run of tests (tests/stages/servers.py). Truncating leaves the tables without planner
statistics, as new ones; VACUUM would not.
"""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.plugin import blocking_manager_key

#: How often to check, in tests, and the allowed size of all tables in bytes.
EVERY, MOST = 8, 3_000_000
#: Tables with rows from migrations.
DJANGOS = {"django_migrations", "django_content_type", "auth_permission"}
SIZES = """
    SELECT relname, pg_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
_count = itertools.count()


def with_rows(cursor: Any, tables: Iterable[str]) -> list[str]:
    """Return the tables that are not empty."""
    cursor.execute(" UNION ALL ".join(f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)" for name in tables))
    return [name for (name,) in cursor.fetchall()]


def swept(config: pytest.Config) -> bool:
    """Called between tests: truncate the tables if they are large. Return whether it did."""
    if connection.vendor != "postgresql" or next(_count) % EVERY:
        return False
    with config.stash[blocking_manager_key].unblock():
        # Skip if no test has used the database yet, or if tests share rows of an outer transaction.
        return connection.connection is not None and not connection.in_atomic_block and emptied()


def emptied() -> bool:
    """Truncate all tables if they are larger than `MOST` and have no visible row. Return whether it did."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SIZES)
        sizes = dict(cursor.fetchall())
        ours = sizes.keys() - DJANGOS
        if sum(sizes.values()) < MOST or with_rows(cursor, ours):
            return False
        # Disables the triggers of append-only tables; there are no rows to protect.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in ours))
    return True
