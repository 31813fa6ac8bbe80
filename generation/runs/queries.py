"""Progress of runs, counted from their items, in a fixed number of queries for any number of runs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db.models import Count, Max, Min
from django.utils import timezone

from projects.jobs.queries import PATIENCE, is_responding, start_worker
from projects.models import Job, JobStatus, Member
from projects.permissions import Names

from ..models import Embargo, ItemStatus, Run, RunItem, RunStatus
from .actions import embargo_reason
from .concurrency import active_chunks

#: The pace covers recent minutes only, because a run gets faster as its items get shorter.
RECENT = timedelta(minutes=5)


class State(StrEnum):
    CREATING_ITEMS = "creating items"
    RUNNING = "running"
    NO_WORKER = "waiting for a worker"
    STALLED = "stalled"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True)
class RunProgress:
    """Progress of a run.

    While items are being created, ``total`` counts the units, and units without an item are waiting. ``pace`` is in
    items per minute over the recent minutes. If it or ``seconds_left`` is None, ``unknown`` gives the reason. ``since``
    is the time when the run ended, last reported progress (stalled), or began to wait for a worker; ``command`` starts
    one. A run that is stopping has ended, but a worker has yet to store its current batch. ``note`` is what the run
    waits for, if not a worker, such as an unavailable endpoint. ``items_cut`` and ``tokens_cut`` count items whose
    input did not fit, and the tokens left out; ``tokens_cut`` is None if tokens are not counted.
    """

    state: State
    since: datetime | None
    total: int
    done: int
    failed: int
    waiting: int
    pace: float | None
    seconds_left: float | None
    unknown: str
    items_cut: int
    tokens_cut: int | None
    tokens_out: int | None
    command: str
    note: str
    error: str


def progress_of(run: Run) -> RunProgress:
    return progress_of_many([run])[run.pk]


def progress_of_many(runs: Sequence[Run]) -> dict[int, RunProgress]:
    """Return the progress of each run by id, in three queries."""
    now, pks = timezone.now(), [run.pk for run in runs]
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for pk, status, n in (
        RunItem.objects.filter(run__in=pks).values_list("run", "status").annotate(n=Count("pk")).order_by()
    ):
        counts[pk][status] = n
    paces = _paces([run.pk for run in runs if run.status == RunStatus.RUNNING], now)
    chunks = chunks_of(runs)
    return {run.pk: _progress(run, counts[run.pk], paces.get(run.pk), chunks[run.pk], now) for run in runs}


def chunks_of(runs: Sequence[Run]) -> dict[int, list[Job]]:
    """Return the queued and running chunks of each run."""
    chunks: dict[int, list[Job]] = defaultdict(list)
    for job in active_chunks(*runs).order_by("pk"):
        chunks[job.params["run"]].append(job)
    return chunks


def _paces(runs: Sequence[int], now: datetime) -> dict[int, float]:
    """Return items per minute, counted from the start of the earliest chunk among the recent ones."""
    recent = RunItem.objects.filter(run__in=runs, finished_at__gt=now - RECENT).values("run").order_by()
    counts = recent.annotate(n=Count("pk"), began=Min("job__started_at"), last=Max("finished_at"))
    paces = {}
    for row in counts:
        start = max(row["began"] or now - RECENT, now - RECENT)
        seconds = max((now - start).total_seconds(), 1.0)
        paces[row["run"]] = row["n"] * 60 / seconds
    return paces


def _progress(run: Run, counts: dict[str, int], pace: float | None, chunks: list[Job], now: datetime) -> RunProgress:
    state, since, command, note = _state(run, chunks, now)
    done, failed = counts.get(ItemStatus.DONE, 0), counts.get(ItemStatus.FAILED, 0)
    total = sum(counts.values()) if run.item_offset is None else max(run.units_count, sum(counts.values()))
    waiting = total - done - failed
    seconds_left, unknown = None, ""
    if state == State.CREATING_ITEMS:
        note = f"{sum(counts.values()):,} of {total:,} units have an item."
    if state in (State.STOPPING, State.STOPPED, State.DONE):
        pace, unknown = None, "The run is not in progress."
    elif pace is None and not any(job.status == JobStatus.RUNNING for job in chunks):
        unknown = "No worker has claimed the run yet."
    elif pace is None:
        unknown = "No item was finished in the last five minutes." if done or failed else "No item is finished yet."
    else:
        seconds_left = waiting / pace * 60
    if state in (State.NO_WORKER, State.STALLED):
        pace, seconds_left, unknown = None, None, "No worker is processing the run."
    return RunProgress(
        state,
        since,
        total,
        done,
        failed,
        waiting,
        pace,
        seconds_left,
        unknown,
        run.items_cut,
        run.tokens_cut,
        run.tokens_out,
        command,
        note,
        run.error,
    )


def _state(run: Run, chunks: list[Job], now: datetime) -> tuple[State, datetime | None, str, str]:
    running = [job for job in chunks if job.status == JobStatus.RUNNING]
    has_heartbeat = any(is_responding(job, now) for job in running)
    if run.status == RunStatus.STOPPED and has_heartbeat:
        return State.STOPPING, run.finished_at, "", ""
    if run.status != RunStatus.RUNNING:
        return State(run.status), run.finished_at, "", ""
    if has_heartbeat:
        return State.RUNNING if run.item_offset is None else State.CREATING_ITEMS, run.created_at, "", ""
    if running:
        last = max(job.heartbeat_at or job.created_at for job in running)
        return State.STALLED, last, start_worker(running[0].queue), ""
    if not chunks:
        return State.STALLED, run.created_at, "", ""
    first_chunk = min(chunks, key=lambda job: job.not_before or job.created_at)
    due = first_chunk.not_before or first_chunk.created_at
    if due > now - PATIENCE:
        return State.RUNNING, run.created_at, "", first_chunk.note
    return State.NO_WORKER, due, start_worker(first_chunk.queue), first_chunk.note


Json = dict[str, Any]


#: Progress fields that are hidden while the run is embargoed for the user. They could identify its texts, by length,
#: missing units or speed.
BLANK: Json = dict.fromkeys(
    ("since", "done", "failed", "waiting", "pace", "seconds_left", "items_cut", "tokens_cut", "tokens_out")
) | dict.fromkeys(("unknown", "note", "error"), "")


def run_page(run: Run, member: Member) -> Json:
    """Return a run with the name of its version and its progress. Clients poll this."""
    version = run.version
    return run_row(run, progress_of(run), hidden=bool(embargoed_for(member, [run.pk]))) | {
        "version": version.pk,
        "number": version.number,
        "hash": version.hash,
        "level": version.level,
        "system": version.system_id,
        "system_name": version.system.name,
        "by": Names(member).of(run.started_by),
        "embargo_reason": embargo_reason(run),
        "skipped": [{"reason": reason, "count": count} for reason, count in run.skipped.items()],
    }


def run_row(run: Run, progress: RunProgress, *, hidden: bool) -> Json:
    return {
        "id": run.pk,
        "purpose": run.purpose,
        "status": run.status,
        "created_at": run.created_at,
        "finished_at": None if hidden else run.finished_at,
        "hidden": hidden,
        "progress": asdict(progress) | (BLANK if hidden else {}),
    }


def embargoed_for(member: Member, runs: Sequence[int]) -> set[int]:
    """Return the runs that are embargoed for the member."""
    return set(Embargo.objects.for_member(member).filter(run__in=runs).values_list("run", flat=True))
