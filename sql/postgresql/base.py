"""The engine; ``DATABASES`` names this package."""

import select
import time
from typing import Any

import psycopg
from django.db.backends.postgresql import base

#: Seconds after which a connection is asked all the same: a network that fails takes it without a word.
ASKED_EVERY = 30.0


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection whose server has closed it, or has a message for it, can be read from; one that is well is silent.

    So a look at the socket does for the ``SELECT 1`` that Django sends at the first statement of every request. What is
    closed between the look and the statement fails as it would between the two statements.
    """

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._asked = 0.0

    def _configure_connection(self, connection: Any) -> bool:
        """Without compiled statements. PostgreSQL compiles whatever it believes to be dear, which what is looked up row
        by row always is to it: that takes longer than the statement (docs/decisions/0027-in-force.md). Said once the
        connection is there: poolers between refuse what they do not know of while it is made."""
        super()._configure_connection(connection)  # type: ignore[misc]
        connection.execute("SET jit = off")
        return True

    def connect(self) -> None:
        super().connect()
        self._asked = time.monotonic()

    def close_if_health_check_failed(self) -> None:
        is_due = self.connection is not None and not self.health_check_done and not self.pool
        if is_due and time.monotonic() < self._asked + ASKED_EVERY and self._is_silent():
            self.health_check_done: bool = True
            return
        super().close_if_health_check_failed()
        if is_due:
            self._asked = time.monotonic()

    def _is_silent(self) -> bool:
        try:
            socket = self.connection.pgconn.socket
            poll = select.poll()
            poll.register(socket, select.POLLIN)
            return not poll.poll(0)
        except (psycopg.Error, OSError, ValueError):
            return False
