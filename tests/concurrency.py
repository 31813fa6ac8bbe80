"""Helpers for concurrent work: in a second thread, or by this thread in place of another process."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.db import connection

from projects.jobs import batches


class Background:
    """Runs a function in a thread with its own database connection."""

    def __init__(self, act: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(act,))
        self._thread.start()

    def _run(self, act: Callable[[], Any]) -> None:
        try:
            self.result = act()
        except BaseException as error:
            self.error = error
        finally:
            connection.close()

    def has_ended(self, within: float) -> bool:
        self._thread.join(timeout=within)
        return not self._thread.is_alive()

    def end(self) -> Any:
        """Wait for the end; return the result or raise the error."""
        assert self.has_ended(30), "it waits for ever"
        if self.error:
            raise self.error
        return self.result


class Pause:
    """A point at which the first caller waits."""

    def __init__(self) -> None:
        self.reached, self.resume = threading.Event(), threading.Event()

    def wait(self) -> None:
        if not self.reached.is_set():
            self.reached.set()
            assert self.resume.wait(30)


@contextmanager
def paused_before(owner: Any, name: str) -> Iterator[Pause]:
    """Make the next caller of ``owner.name`` wait until ``resume`` is set, at the latest until the block ends."""
    pause, real = Pause(), getattr(owner, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        pause.wait()
        return real(*args, **kwargs)

    setattr(owner, name, slow)
    try:
        yield pause
    finally:
        setattr(owner, name, real)
        pause.resume.set()


@contextmanager
def competing_writes() -> Iterator[list[str]]:
    """On SQLite, let another connection write before each write or transaction of this connection, and yield those
    statements. This shows whether others could write at that moment; PostgreSQL has no such lock. For tests with
    ``transaction=True``."""
    begun: list[str] = []
    if connection.vendor != "sqlite":
        yield begun
        return
    with closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=30)) as other:
        other.execute("CREATE TABLE meanwhile (n INTEGER)")

        def before(execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
            if not connection.in_atomic_block and str(sql).lstrip().upper().startswith(("BEGIN", *batches.WRITES)):
                begun.append(str(sql))
                with other:
                    other.execute("INSERT INTO meanwhile VALUES (1)")
            return execute(sql, *rest)

        try:
            with connection.execute_wrapper(before):
                yield begun
        finally:
            with other:
                other.execute("DROP TABLE meanwhile")


@contextmanager
def outside_the_job() -> Iterator[None]:
    """Act as another process, not as the worker that holds the job."""
    token = batches._holder.set(None)
    try:
        with batches.idempotent():
            yield
    finally:
        batches._holder.reset(token)
