"""The database engine. ``DATABASES`` refers to this package."""

import select
import time
from typing import Any

import psycopg
from django.db.backends.postgresql import base

#: Seconds after which a health check query is sent anyway, because a network failure may not close the socket.
CHECK_INTERVAL = 30.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose health check looks at the socket instead of sending ``SELECT 1`` at every request.

    The socket is readable if the server has closed the connection or sent a message; the socket of a healthy connection
    is not. A connection that is closed after the check fails like one that is closed between two statements.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._checked_at = 0.0

    def _configure_connection(self, connection: Any) -> bool:
        """Disable JIT compilation. It takes longer than our statements (docs/decisions/0008-query-speed.md).

        PostgreSQL overestimates their cost and would compile them. Scans of large tables always begin at the first row,
        so that the first matches of a search are the same ones for each page. The settings are sent after the
        connection is made, because poolers reject unknown start-up parameters.
        """
        super()._configure_connection(connection)  # type: ignore[misc]
        connection.execute("SET jit = off; SET synchronize_seqscans = off")
        return True

    def connect(self) -> None:
        super().connect()
        self._checked_at = time.monotonic()

    def close_if_health_check_failed(self) -> None:
        is_due = self.connection is not None and not self.health_check_done and not self.pool
        if is_due and time.monotonic() < self._checked_at + CHECK_INTERVAL and self._is_silent():
            self.health_check_done: bool = True
            return
        super().close_if_health_check_failed()
        if is_due:
            self._checked_at = time.monotonic()

    def _is_silent(self) -> bool:
        try:
            socket = self.connection.pgconn.socket
            poll = select.poll()
            poll.register(socket, select.POLLIN)
            return not poll.poll(0)
        except (psycopg.Error, OSError, ValueError):
            return False
