"""Chunks of a run: up to a minute of work that a worker stores batch by batch before it queues the next chunk."""

import logging
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import accumulate
from typing import Any

from django.db.models import F, Max
from django.utils import timezone

from api.problems import PASSING
from generation import sources
from generation.backends.assembly import reads_pages
from generation.backends.identity import DEFAULT, backend_of, queue_of
from generation.backends.protocol import BackendError, Failure, Output, PassingError, Summariser
from generation.models import ItemStatus, Run, RunItem, RunStatus, Version
from generation.probing import actions as probing_actions
from generation.runs.concurrency import FIRST_ITEMS, free_items, lock_running, queue_chunks, stop
from projects.jobs import batches
from projects.jobs import queries as jobs_queries
from projects.jobs.running import Cancelled, LostLease, RunningJob, WorkerUnhealthy, is_exit_requested
from projects.models import Unit
from sql import planner
from sql.text import storable

logger = logging.getLogger(__name__)
_loaded: tuple[str, Summariser] | None = None


@contextmanager
def summariser_of(version: Version) -> Iterator[Summariser]:
    """Yield the loaded version. The previous one is released first, because memory may suffice for one only.

    Models without weights are not cached: they load quickly and would evict models that do not. Raise `BackendError` if
    the version cannot be loaded.
    """
    backend = backend_of(version.config)
    if backend.weights(version.config):
        yield _cached(version)
        return
    summariser = backend.load(version.config, version.facts)
    try:
        yield summariser
    finally:
        summariser.close()


def _cached(version: Version) -> Summariser:
    global _loaded
    if _loaded and _loaded[0] == version.hash:
        return _loaded[1]
    release_summariser()
    _loaded = version.hash, backend_of(version.config).load(version.config, version.facts)
    queue = queue_of(version.config)
    jobs_queries.set_loaded_queue("" if queue == DEFAULT else queue)
    return _loaded[1]


def release_summariser() -> None:
    """Release the cached summariser."""
    global _loaded
    released, _loaded = _loaded, None
    jobs_queries.set_loaded_queue("")
    if released:
        try:
            released[1].close()
        except Exception:
            logger.warning("A summariser could not be closed.", exc_info=True)


BATCH = 1000
WITHOUT_INPUTS = "units without inputs"
#: Start before the first unit: positions begin at 0.
BEGIN = [-1, 0]


def create_items(run: Run) -> bool:
    """Create the items of the next units of a running run. Return False if none are left. Raise `LostLease`.

    Units without inputs are skipped and counted.
    """
    with batches.batch() as progress:
        if not lock_running(run):
            return False
        run.refresh_from_db(fields=["item_offset", "skipped", "units_count"])
        if run.item_offset is None:
            return False
        position, row = run.item_offset
        project, level = run.version.system.project, run.version.level
        later = sources.after(level, position, row)
        unit_positions = list(probing_actions.get(run.purpose).unit_positions(project, level).filter(later)[:BATCH])
        empty = make_items(run, sources.existing_units(level, unit_positions), skips_empty=True)
        if empty:
            run.skipped[WITHOUT_INPUTS] = run.skipped.get(WITHOUT_INPUTS, 0) + empty
            run.units_count -= empty
        run.item_offset = list(unit_positions[-1][:2]) if len(unit_positions) == BATCH else None
        run.save(update_fields=["item_offset", "skipped", "units_count"])
        progress.done, progress.total = run.items.count(), run.units_count
        planner.analyze_grown_tables(RunItem)
    return True


def make_items(run: Run, units: Sequence[int], *, skips_empty: bool = False) -> int:
    """Create the items of units. Return how many have no inputs and were skipped."""
    created = 0
    for start in range(0, len(units), BATCH):
        batch = units[start : start + BATCH]
        sizes = sources.sizes(run.version.level, batch, pages=reads_pages(run.version.config))
        chosen = [unit for unit in batch if sizes[unit] or not skips_empty]
        RunItem.objects.bulk_create(RunItem(run=run, unit_id=unit, size=sizes[unit]) for unit in chosen)
        created += len(chosen)
    return len(units) - created


#: A chunk is sized for the target. After the maximum it returns its remaining items between two batches, or at once
#: when its worker is asked to end.
TARGET_SECONDS = 45.0
LONGEST_SECONDS = 60.0
MOST_ITEMS = 2000
#: Maximum number of input characters of a chunk, unless a single item has more.
MOST_CHARACTERS = 20_000_000
#: Maximum number of retries after a temporary error: after 5 s, 10 s, 20 s ..., five minutes in total.
TRIES = 6
PAUSE = timedelta(seconds=5)
#: Errors that are not caused by an item and leave the summariser in a known state.
EXPECTED_ERRORS = (BackendError, PassingError, LostLease, Cancelled, *PASSING)
Batches = Generator[Sequence[Any], None, None]
NO_INPUT = "The unit has no inputs, or was retired after the run started."
NO_OUTPUT = "The system returned no output for this unit."
CONTAINS_NUL = "The output contains a NUL character, which cannot be stored."


def do_chunk(*, job: RunningJob) -> dict[str, Any]:
    """Process waiting items of a run, longest first, and queue the next chunk.

    Each batch is stored in one transaction that is fenced by the job. An error that affects all items stops the run,
    with its message. A temporary error is retried later. Raise `Cancelled` and `LostLease`.
    """
    run = Run.objects.select_related("version__system__project", "started_by").get(pk=job.params["run"])
    chunk = Chunk(job, run)
    try:
        chunk.do()
    except BackendError as error:
        stop(run, str(error))
    except PassingError as error:
        chunk.postpone(str(error))
    else:
        queue_chunks(run, ending=job.job, pace=chunk.pace)
    return {"items": chunk.stored, "failed": chunk.failed, "seconds": round(chunk.seconds, 3)}


def _is_fatal(error: Exception) -> bool:
    """Return whether the GPU context is lost. Checked only if torch is already imported."""
    if "torch" not in sys.modules:
        return False
    from generation.neural.checkpoints.loading import is_unusable

    return is_unusable(error)


class Chunk:
    """The items held by a job, by unit, until they are stored."""

    def __init__(self, job: RunningJob, run: Run) -> None:
        self.job, self.run = job, run
        self.work = probing_actions.get(run.purpose)
        self.left: dict[int, RunItem] = {}
        self.stored = self.failed = self.timed = 0
        self.units_up_to: int | None = None
        self.seconds = 0.0
        self._began = time.monotonic()

    @property
    def pace(self) -> float | None:
        """Items per second, excluding loading time."""
        return self.timed / max(self.seconds, 1e-3) if self.timed else self.job.params["pace"]

    def do(self) -> None:
        if self.run.status != RunStatus.RUNNING:
            return
        while create_items(self.run):
            self.check_cancelled()
        # After a failed attempt, process the items one by one, so that only the faulty one fails.
        is_careful = self.job.job.attempts > 1 and self._reclaim()
        if not is_careful:
            self._claim()
        if not self.left:
            return
        # Read before the inputs, so that a correction made in the meantime counts as not read.
        self.units_up_to = Unit.objects.aggregate(newest=Max("pk"))["newest"]
        material = self.work.items(self.run.version, list(self.left))
        self.store([Failure(unit, NO_INPUT) for unit in self.left if unit not in material])
        items = {unit: material[unit] for unit in self.left}
        with closing((self._one_by_one if is_careful else self._together)(items)) as batches:
            for batch in batches:
                self.store(batch)
                self.timed += len(batch)
                self.seconds = time.monotonic() - self._began
                self.check_cancelled()
                if self.seconds > LONGEST_SECONDS or is_exit_requested():
                    self.requeue()
                    return
        self.store([Failure(unit, NO_OUTPUT) for unit in self.left])

    def _together(self, items: Mapping[int, Any]) -> Batches:
        with self._summariser() as summariser:
            self._began = time.monotonic()
            yield from self.work.do(summariser, list(items.values()))

    def _one_by_one(self, items: Mapping[int, Any]) -> Batches:
        for unit, item in items.items():
            with self._summariser() as summariser:
                with batches.batch(self.stored, self.stored + len(self.left)):
                    RunItem.objects.filter(pk=self.left[unit].pk).update(attempts=F("attempts") + 1)
                try:
                    yield from self.work.do(summariser, [item])
                    continue
                except EXPECTED_ERRORS:
                    raise
                except Exception as error:
                    if _is_fatal(error):
                        raise
                    reason = f"{type(error).__name__}: {error}"
            # Load the model again for the next item. If that fails, no item is at fault.
            release_summariser()
            yield [Failure(unit, reason)]

    @contextmanager
    def _summariser(self) -> Iterator[Summariser]:
        try:
            with summariser_of(self.run.version) as summariser:
                yield summariser
        except EXPECTED_ERRORS:
            raise
        except Exception as error:
            # The summariser is in an unknown state.
            release_summariser()
            if _is_fatal(error):
                raise WorkerUnhealthy(f"The GPU can no longer be used from this process ({error}).") from error
            raise

    def _reclaim(self) -> bool:
        """Load the items left by an earlier attempt of this job, suspects last. Return whether there are any."""
        items = self.run.items.filter(job=self.job.job, status=ItemStatus.WAITING).order_by("attempts", "-size", "-pk")
        self.left = {item.unit_id: item for item in items}
        return bool(self.left)

    def _claim(self) -> None:
        """Claim the longest waiting items, no more than fit into memory.

        A chunk claims at most its share of the remaining items, so that concurrent chunks stay busy until the end of a
        run.
        """
        pace = self.job.params["pace"]
        count = FIRST_ITEMS if pace is None else min(round(pace * TARGET_SECONDS), MOST_ITEMS)
        with batches.batch(0):
            if not lock_running(self.run):
                return
            free = free_items(self.run)
            share = -(-free[: count * self.run.concurrency].count() // self.run.concurrency)
            items = _limit_size(list(free.order_by("-size", "-pk")[: max(share, FIRST_ITEMS)]))
            RunItem.objects.filter(pk__in=[item.pk for item in items]).update(job=self.job.job)
        self.left = {item.unit_id: item for item in items}

    def store(self, batch: Sequence[Any]) -> None:
        """Store the results and mark their items done, in one transaction.

        Raise `LostLease` if another worker holds the job, because the results would be stored twice.
        """
        results = [(self.left.pop(result.unit), as_storable(result)) for result in batch]
        if not results:
            return
        now = timezone.now()
        successes = [(item, out) for item, out in results if not isinstance(out, Failure)]
        failures = [(item, out) for item, out in results if isinstance(out, Failure)]
        with batches.batch(self.stored + len(results), self.stored + len(results) + len(self.left)):
            own_items = RunItem.objects.filter(job=self.job.job, status=ItemStatus.WAITING)
            if successes:
                self.work.store(successes)
                done = own_items.filter(pk__in=[item.pk for item, _ in successes])
                done.update(status=ItemStatus.DONE, error="", finished_at=now, units_up_to=self.units_up_to)
            for item, failure in failures:
                item.status, item.error, item.finished_at = ItemStatus.FAILED, failure.reason, now
            if failures:
                RunItem.objects.bulk_update([item for item, _ in failures], ["status", "error", "finished_at"])
        self.stored += len(results)
        self.failed += len(failures)

    def check_cancelled(self) -> None:
        self.job.check_cancelled()
        if not Run.objects.filter(pk=self.run.pk, status=RunStatus.RUNNING).exists():
            raise Cancelled

    def requeue(self) -> None:
        """Release the remaining items to other chunks.

        After an unexpected error, the job keeps its items and processes them one by one.
        """
        with batches.batch(self.stored):
            RunItem.objects.filter(job=self.job.job, status=ItemStatus.WAITING).update(job=None)

    def postpone(self, reason: str) -> None:
        """Retry later after a temporary error. After `TRIES` attempts the run stops with the reason."""
        self.requeue()
        tries = 1 if self.stored else self.job.params["tries"] + 1
        if tries > TRIES:
            stop(self.run, f"{reason} Tried {TRIES} times.")
            return
        retry_at = timezone.now() + PAUSE * 2 ** (tries - 1)
        queue_chunks(self.run, ending=self.job.job, pace=self.pace, tries=tries, not_before=retry_at, note=reason)


def _limit_size(items: Sequence[RunItem]) -> list[RunItem]:
    """Return the first items that have at most `MOST_CHARACTERS` of inputs in total, and at least one."""
    sizes = accumulate(item.size for item in items)
    return [item for item, size in zip(items, sizes, strict=True) if size <= max(MOST_CHARACTERS, item.size)]


def as_storable(result: Any) -> Any:
    """Return the result, or a `Failure` if PostgreSQL cannot store it.

    Byte-level models can generate NUL, which must not fail the whole batch.
    """
    if isinstance(result, Failure):
        reason = storable(result.reason)
        return Failure(result.unit, reason)
    return Failure(result.unit, CONTAINS_NUL) if isinstance(result, Output) and "\0" in result.text else result
