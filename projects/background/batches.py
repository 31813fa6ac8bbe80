"""What a worker writes, it writes in transactions that prove that the job is still its own.

A worker that was suspended, or cut off, may wake after its lease, when another has done its job. So the work of a job
is written in *batches*: transactions at the end of which the job's row is looked at under a lock. A job that writes in
any other way is stopped (docs/decisions/0021-meanwhile.md).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import connection, transaction

WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "TRUNCATE", "MERGE", "COPY")


class Unproved(Exception):
    """A job writes without a proof that it is still this worker's: a mistake in its code."""


class Holder(Protocol):
    """Who does a job."""

    def hold(self, done: int | None = None, total: int | None = None) -> None:
        """In a transaction: the job is this worker's until that has ended, or `LostLease`."""

    def check(self) -> None:
        """`LostLease` where another has the job."""


_holder: ContextVar[Holder | None] = ContextVar("holder", default=None)
#: The transaction that has proved, or will prove before it ends, that the job is held.
_proved: ContextVar[object] = ContextVar("proved", default=None)
_harmless: ContextVar[bool] = ContextVar("harmless", default=False)


@contextmanager
def held_by(holder: Holder) -> Iterator[None]:
    """The work of a job: whatever it writes it has to prove."""
    token = _holder.set(holder)
    try:
        with connection.execute_wrapper(_refuse_unproved):
            yield
    finally:
        _holder.reset(token)


@dataclass
class Far:
    """How far a job is with its batch; None says nothing of it."""

    done: int | None
    total: int | None


@contextmanager
def batch(done: int | None = None, total: int | None = None) -> Iterator["Far"]:
    """A transaction of the job that this thread does, and how far it is with it; an ordinary one where it does none (a
    command, a test). Raises `LostLease`, and stores nothing, where another worker has the job.

    The job's row is locked at the end alone: however long the transaction takes, people can ask the job to stop, and
    other workers pass it by.
    """
    holder = _holder.get()
    if holder:
        holder.check()
    with harmless(), transaction.atomic():  # what is done on commit comes before the end of it, too
        far = Far(done, total)
        yield far
        if holder:
            holder.hold(far.done, far.total)


@contextmanager
def harmless() -> Iterator[None]:
    """What comes to the same whoever does it, and however often."""
    token = _harmless.set(True)
    try:
        yield
    finally:
        _harmless.reset(token)


def proved() -> None:
    """The transaction of this moment has proved that the job is held."""
    _proved.set(_transaction())


def _transaction() -> object:
    blocks: list[Any] = connection.atomic_blocks
    return next((block for block in blocks if not block._from_testcase), None)


def _refuse_unproved(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    if not _harmless.get() and str(sql).lstrip()[:8].upper().startswith(WRITES):
        within = _transaction()
        if within is None or within is not _proved.get():
            raise Unproved(f"A job writes in batches (projects.background.batches): {str(sql)[:100]}")
    return execute(sql, params, many, context)
