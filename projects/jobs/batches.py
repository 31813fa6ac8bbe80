"""Fenced writes of jobs.

A suspended or disconnected worker may resume after its lease, when another worker has done its job. A job therefore
writes in *batches*: transactions that check the job's row under a lock before they commit. A job that writes in any
other way is stopped (docs/decisions/0003-concurrent-changes.md).
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone

from projects.jobs import jobs
from projects.models import Job, JobStatus, Round

KIND = "take_in_units"


#: Delay before the job runs, so that single decisions are processed together.
DELAY = timedelta(seconds=10)


def enqueue_intake(where: Q) -> None:
    """Enqueue a job for each open rolling round that matches ``where``, in the caller's transaction.

    The job adds the units that match by then. A round that already has a queued job gets no second one.
    """
    rounds = Round.objects.filter(where, status=Round.Status.OPEN, sampling__rolling=True)
    for round in rounds.select_related("project"):
        params = {"round": round.pk}
        # A running job may already have read the units; a queued one has not.
        if not Job.objects.filter(kind=KIND, status=JobStatus.QUEUED, project=round.project_id, params=params).exists():
            later = timezone.now() + DELAY
            jobs.enqueue(project=round.project, kind=KIND, params=params, by=None, not_before=later)


WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "TRUNCATE", "MERGE", "COPY")


class UnfencedWrite(Exception):
    """A job writes outside of a fenced transaction: a programming error."""


class LeaseHolder(Protocol):
    """The worker that holds the lease of a job."""

    def hold(self, done: int | None = None, total: int | None = None) -> None:
        """Renew the lease in the current transaction and lock the job until it ends.

        Raise `LostLease` if another worker has the job.
        """

    def check(self) -> None:
        """Raise `LostLease` if another worker has the job."""


_holder: ContextVar[LeaseHolder | None] = ContextVar("holder", default=None)
#: The transaction that is fenced: the lease was checked in it, or will be before it commits.
_fenced: ContextVar[object] = ContextVar("proved", default=None)
_idempotent: ContextVar[bool] = ContextVar("idempotent", default=False)


@contextmanager
def run_fenced(holder: LeaseHolder) -> Iterator[None]:
    """Run the work of a job. Every write inside must be fenced."""
    token = _holder.set(holder)
    try:
        with connection.execute_wrapper(_refuse_unfenced):
            yield
    finally:
        _holder.reset(token)


@dataclass
class BatchProgress:
    """Progress of a batch. None leaves the stored progress unchanged."""

    done: int | None
    total: int | None


@contextmanager
def batch(done: int | None = None, total: int | None = None) -> Iterator["BatchProgress"]:
    """Open a fenced transaction of the job that this thread runs, and yield its progress.

    Without a job (in a command or a test) it is an ordinary transaction. Raise `LostLease`, and store nothing, if
    another worker has the job.

    The job's row is locked only at the end. During a long transaction people can still cancel the job, and other
    workers are not blocked.
    """
    holder = _holder.get()
    if holder:
        holder.check()
    with idempotent(), transaction.atomic():  # on_commit callbacks run before the block ends, too
        far = BatchProgress(done, total)
        yield far
        if holder:
            holder.hold(far.done, far.total)


@contextmanager
def idempotent() -> Iterator[None]:
    """Allow unfenced writes that are idempotent."""
    token = _idempotent.set(True)
    try:
        yield
    finally:
        _idempotent.reset(token)


def mark_fenced() -> None:
    """Mark the current transaction as fenced."""
    _fenced.set(_transaction())


def _transaction() -> object:
    blocks: list[Any] = connection.atomic_blocks
    return next((block for block in blocks if not block._from_testcase), None)


def _refuse_unfenced(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    if not _idempotent.get() and str(sql).lstrip()[:8].upper().startswith(WRITES):
        within = _transaction()
        if within is None or within is not _fenced.get():
            raise UnfencedWrite(f"A job wrote outside of a batch (see projects.jobs.batches): {str(sql)[:100]}")
    return execute(sql, params, many, context)


#: Callback: items done, total (None if unknown), and a note on the current work.
Progress = Callable[[int, int | None, str], None]


def silent(done: int, total: int | None, note: str) -> None:
    """A progress callback that does nothing."""
