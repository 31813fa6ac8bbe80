"""What another process does meanwhile: in a thread of its own, or by this thread in its stead."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from django.db import connection

from projects.jobs import batches


class Act:
    """Something that is done in a thread of its own, on a connection of its own."""

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
        """Wait for the end: its result, or its error."""
        assert self.has_ended(30), "it waits for ever"
        if self.error:
            raise self.error
        return self.result


class Place:
    """A function at which the next caller is held up."""

    def __init__(self) -> None:
        self.reached, self.resume = threading.Event(), threading.Event()

    def hold_up(self) -> None:
        if not self.reached.is_set():
            self.reached.set()
            assert self.resume.wait(30)


@contextmanager
def held_up(owner: Any, name: str) -> Iterator[Place]:
    """The next caller of ``owner.name`` waits before it until ``resume`` is set, which the end does in any case."""
    place, real = Place(), getattr(owner, name)

    def slow(*args: Any, **kwargs: Any) -> Any:
        place.hold_up()
        return real(*args, **kwargs)

    setattr(owner, name, slow)
    try:
        yield place
    finally:
        setattr(owner, name, real)
        place.resume.set()


@contextmanager
def others_writing() -> Iterator[list[str]]:
    """On SQLite somebody else's write comes before each that this connection begins, which is named in what is yielded:
    so it shows whether this one could write just then. Elsewhere writers do not keep each other from it. For tests with
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
def by_another() -> Iterator[None]:
    """What this thread does is not the work of its job: another process does it."""
    token = batches._holder.set(None)
    try:
        with batches.idempotent():
            yield
    finally:
        batches._holder.reset(token)
