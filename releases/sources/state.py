"""State of a project's data in a release: the time of its newest change, and the audit checkpoint that covers it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, Q, QuerySet

from audit.models import Checkpoint, Entry
from evaluation.models import Unblinding
from generation.latest_runs import published_runs
from generation.models import ItemStatus, ProbeFigures, RunItem, Scoring
from projects.models import Answer, Decision, Guideline, Import, ImportState, Project, Round


@contextmanager
def snapshot() -> Iterator[None]:
    """Provide one consistent state for all reads in the block; writes are refused.

    On PostgreSQL this is a REPEATABLE READ, READ ONLY transaction. On SQLite it is a deferred transaction. The
    project's default, an immediate one, would hold the write lock and block all annotators during the release.
    """
    if connection.in_atomic_block:
        raise RuntimeError("A snapshot needs its own transaction and cannot start inside another.")
    if connection.vendor == "sqlite":
        with _deferred_and_read_only(), transaction.atomic(durable=True), connection.cursor() as cursor:
            # The first read determines the visible state.
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1").fetchall()
            yield
    else:
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield


@contextmanager
def _deferred_and_read_only() -> Iterator[None]:
    """Make SQLite transactions take no write lock and refuse writes, for the duration of the block."""
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


#: Actions that change the content of a release. The entry of a release is excluded, so that two releases of one state
#: are equal.
DATA_VERBS = (
    "create project",
    "change project",
    "write guideline",
    "import",
    "state licence",
    "correct",
    "split",
    "discard split",
)


def _leaves(project: Project) -> list[QuerySet[Any]]:
    """Return the rows covered by audit checkpoints that belong to a release or change its content."""
    return [
        Answer.objects.filter(assignment__round__in=Round.objects.filter(project=project).counting().values("pk")),
        Decision.objects.of_project(project),
        Entry.objects.filter(project=project.pk, verb__in=DATA_VERBS),
    ]


def newest_change(project: Project) -> str:
    """Return the UTC time of the newest change to the project's data.

    It covers answers, decisions, imports, guidelines, settings, closing and unblinding of rounds, summaries and scores.
    The current time is not used, so that the bytes of a release are reproducible. Runs under embargo are ignored.
    """
    answers, decisions, entries = _leaves(project)
    runs = [run.pk for run in published_runs(project)]
    times: list[datetime | None] = [
        project.created_at,
        answers.aggregate(t=Max("received_at"))["t"],
        decisions.aggregate(t=Max("decided_at"))["t"],
        entries.aggregate(t=Max("at"))["t"],
        Import.objects.filter(project=project, state=ImportState.ARRIVED).aggregate(t=Max("created_at"))["t"],
        Guideline.objects.filter(project=project).aggregate(t=Max("created_at"))["t"],
        Round.objects.filter(project=project).counting().aggregate(t=Max("closed_at"))["t"],
        Unblinding.objects.filter(design__round__project=project).aggregate(t=Max("at"))["t"],
        RunItem.objects.filter(run__in=runs, status=ItemStatus.DONE).aggregate(t=Max("finished_at"))["t"],
        Scoring.objects.latest_finished().filter(run__in=runs).aggregate(t=Max("finished_at"))["t"],
        ProbeFigures.objects.filter(run__in=runs).aggregate(t=Max("created_at"))["t"],
    ]
    return max(t for t in times if t).astimezone(UTC).isoformat(timespec="microseconds")


def audit_head(project: Project) -> dict[str, Any] | None:
    """Return number and digest of the newest audit checkpoint that covers this project's data; None if there is none.

    Later checkpoints, such as that of the release itself, continue the chain. The end of the chain would differ between
    two releases of the same state.
    """
    numbers = [rows.aggregate(n=Max("checkpoint__number"))["n"] for rows in _leaves(project)]
    known = [number for number in numbers if number is not None]
    if not known:
        return None
    checkpoint = Checkpoint.objects.get(number=max(known))
    return {"number": checkpoint.number, "digest": checkpoint.digest}


def rows_without_checkpoint(project: Project) -> int:
    """Return the number of rows of the project's data without a checkpoint."""
    return sum(rows.filter(Q(checkpoint__isnull=True)).count() for rows in _leaves(project))
