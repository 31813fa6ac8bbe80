"""Persistent connections are checked without a query, and closed ones are reopened."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, connections

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connection that could be lost"),
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Counts health-check queries; request signals are connected again."""
    seen: list[int] = []
    engine = type(connections["default"])
    usable = engine.is_usable

    def is_usable(self: Any) -> bool:
        seen.append(1)
        return bool(usable(self))

    monkeypatch.setattr(engine, "is_usable", is_usable)
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 600)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)
    connection.close()
    yield seen
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    connection.close()


def statement() -> int:
    """Run one statement in one request and return the server process that answered."""
    request_started.send(sender=None)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid: int = cursor.fetchone()[0]
    request_finished.send(sender=None)
    return pid


def beside(sql: str) -> None:
    """Run a statement on another connection."""
    names = ("dbname", "user", "password", "host", "port")
    given = {name: value for name, value in connection.get_connection_params().items() if name in names}
    with closing(psycopg.connect(**given, autocommit=True)) as other:
        other.execute(sql.encode())


def test_a_recently_used_connection_is_not_checked(asked: list[int]) -> None:
    assert len({statement() for _ in range(5)}) == 1
    assert not asked


def test_a_closed_connection_is_reopened_and_no_statement_fails(asked: list[int]) -> None:
    before = statement()
    beside(f"SELECT pg_terminate_backend({before}, 5000)")
    assert statement() != before
    assert asked


def test_an_idle_connection_is_checked_after_the_interval(asked: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    statement()
    monkeypatch.setattr("sql.postgresql.base.CHECK_INTERVAL", -1.0)
    statement()
    assert len(asked) == 1


def test_no_statement_is_compiled() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW jit")
        assert cursor.fetchone() == ("off",)
