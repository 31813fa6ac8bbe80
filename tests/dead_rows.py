"""What tests that are rolled back leave in PostgreSQL: rows that nobody sees and every statement walks over.

No vacuum comes in a run of tests (tests/stages/servers.py), so that they would grow until its end. Emptying the tables
leaves them as they were made, and unseen by the planner, which VACUUM would not.
"""

import itertools
from collections.abc import Iterable
from typing import Any

import pytest
from django.db import connection, transaction
from pytest_django.plugin import blocking_manager_key

#: How often it is looked, in tests, and how much there may be, in bytes of all tables.
EVERY, MOST = 8, 3_000_000
#: What migrations leave rows in.
DJANGOS = {"django_migrations", "django_content_type", "auth_permission"}
SIZES = """
    SELECT relname, pg_relation_size(oid) FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
_count = itertools.count()


def with_rows(cursor: Any, tables: Iterable[str]) -> list[str]:
    """Those of the tables that are not empty."""
    cursor.execute(" UNION ALL ".join(f"(SELECT '{name}' FROM \"{name}\" LIMIT 1)" for name in tables))
    return [name for (name,) in cursor.fetchall()]


def swept(config: pytest.Config) -> bool:
    """Between two tests: empty the tables where much has died in them; whether it was done."""
    if connection.vendor != "postgresql" or next(_count) % EVERY:
        return False
    with config.stash[blocking_manager_key].unblock():
        # Nobody has needed the data base yet, or tests share what a transaction around them holds.
        return connection.connection is not None and not connection.in_atomic_block and emptied()


def emptied() -> bool:
    """Empty all tables, where they are larger than `MOST` and nobody has a row in them; whether it was done."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(SIZES)
        sizes = dict(cursor.fetchall())
        ours = sizes.keys() - DJANGOS
        if sum(sizes.values()) < MOST or with_rows(cursor, ours):
            return False
        # The triggers that let no row be deleted do not fire so; there is none.
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("TRUNCATE " + ", ".join(f'"{name}"' for name in ours))
    return True
