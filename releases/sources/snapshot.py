"""One state of the data base for everything that a release reads, while others go on writing."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """All reads inside see one state; nothing can be written inside.

    On PostgreSQL a REPEATABLE READ, READ ONLY transaction. On SQLite a deferred one: the house's default, immediate,
    would hold the write lock and stop every annotator for as long as the release takes.
    """
    if connection.in_atomic_block:
        raise RuntimeError("A snapshot is a transaction of its own and cannot be taken inside another.")
    if connection.vendor == "sqlite":
        with _deferred_and_read_only(), transaction.atomic(durable=True), connection.cursor() as cursor:
            # The first read fixes the state that is seen.
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1").fetchall()
            yield
    else:
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


@contextmanager
def _deferred_and_read_only() -> Iterator[None]:
    """SQLite's connection for a while: transactions that take no write lock, and refuse to write."""
    connection.ensure_connection()
    usual = connection.transaction_mode  # type: ignore[attr-defined]
    connection.transaction_mode = "DEFERRED"  # type: ignore[attr-defined]
    _pragma("ON")
    try:
        yield
    finally:
        _pragma("OFF")
        connection.transaction_mode = usual  # type: ignore[attr-defined]


def _pragma(value: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA query_only = {value}")
