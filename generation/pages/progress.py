"""How far runs are: counted from their items, in a fixed number of queries however many runs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Count, Max, Min
from django.utils import timezone

from projects.background.waiting import FAR_AHEAD, PATIENCE, start_worker
from projects.models import Job, JobStatus

from ..actions.lanes import active_chunks
from ..models import ItemStatus, Run, RunItem, RunStatus

#: The pace is that of the recent minutes: a run speeds up as its items get shorter.
RECENT = timedelta(minutes=5)


class State(StrEnum):
    LAYING_OUT = "being laid out"
    RUNNING = "running"
    NO_WORKER = "waiting for a worker"
    STALLED = "stalled"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DONE = "done"


@dataclass(frozen=True)
class RunProgress:
    """While a run is being laid out its ``total`` is that of its units; those without an item wait.

    ``pace`` in items a minute over the recent minutes; where it or ``seconds_left`` is None, ``unknown`` says why.

    ``since``: when it ended, was last heard of (stalled), or began to wait for a worker; ``command`` starts one.
    Stopping: it has ended, and a worker has yet to store the batch that it had in hand.
    ``note``: what it waits for, where that is no worker (an endpoint that is away). ``items_cut`` and ``tokens_cut``:
    items whose input did not fit, and by how many tokens in all; ``tokens_cut`` is None where nobody counts tokens.
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
    """The progress of each run by its id, in three queries."""
    now, pks = timezone.now(), [run.pk for run in runs]
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for pk, status, n in (
        RunItem.objects.filter(run__in=pks).values_list("run", "status").annotate(n=Count("pk")).order_by()
    ):
        counts[pk][status] = n
    paces = _paces([run.pk for run in runs if run.status == RunStatus.RUNNING], now)
    chunks = chunks_of(runs)
    return {
        run.pk: _progress(run, counts[run.pk], paces.get(run.pk), chunks[run.pk], now) for run in runs
    }  # fmt: skip


def chunks_of(runs: Sequence[Run]) -> dict[int, list[Job]]:
    """The queued and running chunks of each run."""
    found: dict[int, list[Job]] = defaultdict(list)
    for job in active_chunks(*runs).order_by("pk"):
        found[job.params["run"]].append(job)
    return found


def _paces(runs: Sequence[int], now: datetime) -> dict[int, float]:
    """Items a minute, from when the first of the chunks that did the recent ones began."""
    recent = RunItem.objects.filter(run__in=runs, finished_at__gt=now - RECENT).values("run").order_by()
    found = recent.annotate(n=Count("pk"), began=Min("job__started_at"), last=Max("finished_at"))
    paces = {}
    for row in found:
        began = max(row["began"] or now - RECENT, now - RECENT)
        seconds = max((now - began).total_seconds(), 1.0)
        paces[row["run"]] = row["n"] * 60 / seconds
    return paces


def _progress(run: Run, counts: dict[str, int], pace: float | None, chunks: list[Job], now: datetime) -> RunProgress:
    state, since, command, note = _state(run, chunks, now)
    done, failed = counts.get(ItemStatus.DONE, 0), counts.get(ItemStatus.FAILED, 0)
    total = sum(counts.values()) if run.laid_to is None else max(run.units_count, sum(counts.values()))
    waiting = total - done - failed
    seconds_left, unknown = None, ""
    if state == State.LAYING_OUT:
        note = f"{sum(counts.values()):,} of {total:,} units are laid out."
    if state in (State.STOPPING, State.STOPPED, State.DONE):
        pace, unknown = None, "It is not under way."
    elif pace is None and not any(job.status == JobStatus.RUNNING for job in chunks):
        unknown = "A worker has yet to take it up."
    elif pace is None:
        unknown = "Nothing was finished in the last five minutes." if done or failed else "Nothing is finished yet."
    else:
        seconds_left = waiting / pace * 60
    if state in (State.NO_WORKER, State.STALLED):
        pace, seconds_left, unknown = None, None, "No worker is at it."
    return RunProgress(
        state, since, total, done, failed, waiting, pace, seconds_left, unknown, run.items_cut, run.tokens_cut,
        run.tokens_out, command, note, run.error,
    )  # fmt: skip


def _state(run: Run, chunks: list[Job], now: datetime) -> tuple[State, datetime | None, str, str]:
    at_work = [job for job in chunks if job.status == JobStatus.RUNNING]
    heard_of = any(job.leased_until and now < job.leased_until <= now + FAR_AHEAD for job in at_work)
    if run.status == RunStatus.STOPPED and heard_of:
        return State.STOPPING, run.finished_at, "", ""
    if run.status != RunStatus.RUNNING:
        return State(run.status), run.finished_at, "", ""
    if heard_of:
        return State.RUNNING if run.laid_to is None else State.LAYING_OUT, run.created_at, "", ""
    if at_work:
        last = max(job.heartbeat_at or job.created_at for job in at_work)
        return State.STALLED, last, start_worker(at_work[0].queue), ""
    if not chunks:
        return State.STALLED, run.created_at, "", ""
    first = min(chunks, key=lambda job: job.not_before or job.created_at)
    due = first.not_before or first.created_at
    if due > now - PATIENCE:
        return State.RUNNING, run.created_at, "", first.note
    return State.NO_WORKER, due, start_worker(first.queue), first.note
