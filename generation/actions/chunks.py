"""One chunk of a run: half a minute to a minute of work that a worker does, stores batch by batch, and hands on."""

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
from projects.background import batches
from projects.background.jobs import Cancelled, LostLease, RunningJob, Unfit, is_leaving
from projects.models import Unit

from ..backends.protocol import BackendError, Failure, Output, PassingError, Summariser
from ..models import ItemStatus, Run, RunItem, RunStatus
from ..runs import warm
from . import purposes
from .lanes import FIRST_ITEMS, free_items, held, stop, top_up
from .layout import lay_out

#: What a chunk is sized for, and after which it hands back what is left, between two batches; as it does at once
#: where its worker is asked to end.
TARGET_SECONDS = 45.0
LONGEST_SECONDS = 60.0
MOST_ITEMS = 2000
#: Characters of inputs that a chunk reads at once, but for one item that has more by itself.
MOST_CHARACTERS = 20_000_000
#: How often a run tries again what could not be done for now: after 5 s, 10 s, 20 s ... five minutes in all.
TRIES = 6
PAUSE = timedelta(seconds=5)
#: What is no item's fault, and does not leave a summariser in a state that nobody knows.
FORESEEN = (BackendError, PassingError, LostLease, Cancelled, *PASSING)
Batches = Generator[Sequence[Any], None, None]
NOTHING_THERE = "Its unit has no inputs, or was retired since the run began."
NOTHING_CAME = "Nothing came out for it."
HOLDS_NUL = "What came out holds a NUL character, which cannot be stored."


def do_chunk(*, job: RunningJob) -> dict[str, Any]:
    """Do waiting items of a run, the longest first, and queue the next chunk.

    Each batch is stored in one transaction, fenced by the job. An error that all items share stops the run and says
    what it is; what is only away for now is tried again later. Raises `Cancelled` and `LostLease`.
    """
    run = Run.objects.select_related("version__system__project", "started_by").get(pk=job.params["run"])
    chunk = Chunk(job, run)
    try:
        chunk.do()
    except BackendError as error:
        stop(run, str(error))
    except PassingError as error:
        chunk.put_off(str(error))
    else:
        top_up(run, ending=job.job, pace=chunk.pace)
    return {"items": chunk.stored, "failed": chunk.failed, "seconds": round(chunk.seconds, 3)}


def _spoils_the_process(error: Exception) -> bool:
    """Whether it is a GPU's context that is lost. Asked only where torch is there already."""
    if "torch" not in sys.modules:
        return False
    from ..neural.checkpoints.loading import unusable

    return unusable(error)


class Chunk:
    """The items that a job holds, by unit, until they are stored."""

    def __init__(self, job: RunningJob, run: Run) -> None:
        self.job, self.run = job, run
        self.work = purposes.get(run.purpose)
        self.left: dict[int, RunItem] = {}
        self.stored = self.failed = self.timed = 0
        self.units_up_to: int | None = None
        self.seconds = 0.0
        self._began = time.monotonic()

    @property
    def pace(self) -> float | None:
        """Items a second, loading not counted."""
        return self.timed / max(self.seconds, 1e-3) if self.timed else self.job.params["pace"]

    def do(self) -> None:
        if self.run.status != RunStatus.RUNNING:
            return
        while lay_out(self.run):
            self.go_on()
        # Its worker died, or the summariser broke off, the last time: one by one, so that only the culprit fails.
        careful = self.job.job.attempts > 1 and self._take_up()
        if not careful:
            self._claim()
        if not self.left:
            return
        # First, so that a correction while they are read is one that they have not seen.
        self.units_up_to = Unit.objects.aggregate(newest=Max("pk"))["newest"]
        material = self.work.items(self.run.version, list(self.left))
        self.store([Failure(unit, NOTHING_THERE) for unit in self.left if unit not in material])
        items = {unit: material[unit] for unit in self.left}
        with closing((self._one_by_one if careful else self._together)(items)) as batches:
            for batch in batches:
                self.store(batch)
                self.timed += len(batch)
                self.seconds = time.monotonic() - self._began
                self.go_on()
                if self.seconds > LONGEST_SECONDS or is_leaving():
                    self.hand_back()
                    return
        self.store([Failure(unit, NOTHING_CAME) for unit in self.left])

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
                except FORESEEN:
                    raise
                except Exception as error:
                    if _spoils_the_process(error):
                        raise
                    reason = f"{type(error).__name__}: {error}"
            # Loaded anew for the next: where even that cannot be done, no item is to blame.
            warm.let_go()
            yield [Failure(unit, reason)]

    @contextmanager
    def _summariser(self) -> Iterator[Summariser]:
        try:
            with warm.summariser_of(self.run.version) as summariser:
                yield summariser
        except FORESEEN:
            raise
        except Exception as error:
            # Nobody knows what state it is in now.
            warm.let_go()
            if _spoils_the_process(error):
                raise Unfit(f"The GPU can no longer be used from this process ({error}).") from error
            raise

    def _take_up(self) -> bool:
        """Whether an earlier attempt of this job left items; they are gone on with, the suspects last."""
        items = self.run.items.filter(job=self.job.job, status=ItemStatus.WAITING).order_by("attempts", "-size", "-pk")
        self.left = {item.unit_id: item for item in items}
        return bool(self.left)

    def _claim(self) -> None:
        """Take the longest of the waiting items, no more than fit into memory.

        Never more than one lane's share of what is left: towards the end of a run the other lanes would have nothing.
        """
        pace = self.job.params["pace"]
        count = FIRST_ITEMS if pace is None else min(round(pace * TARGET_SECONDS), MOST_ITEMS)
        with batches.batch(0):
            if not held(self.run):
                return
            free = free_items(self.run)
            share = -(-free[: count * self.run.lanes].count() // self.run.lanes)
            items = _fitting(list(free.order_by("-size", "-pk")[: max(share, FIRST_ITEMS)]))
            RunItem.objects.filter(pk__in=[item.pk for item in items]).update(job=self.job.job)
        self.left = {item.unit_id: item for item in items}

    def store(self, batch: Sequence[Any]) -> None:
        """Store what came out and mark its items done, together or not at all. `LostLease` where another worker has the
        job by now: what it stores would be a second time."""
        came = [(self.left.pop(each.unit), storable(each)) for each in batch]
        if not came:
            return
        now = timezone.now()
        made = [(item, out) for item, out in came if not isinstance(out, Failure)]
        failures = [(item, out) for item, out in came if isinstance(out, Failure)]
        with batches.batch(self.stored + len(came), self.stored + len(came) + len(self.left)):
            mine = RunItem.objects.filter(job=self.job.job, status=ItemStatus.WAITING)
            if made:
                self.work.store(made)
                done = mine.filter(pk__in=[item.pk for item, _ in made])
                done.update(status=ItemStatus.DONE, error="", finished_at=now, units_up_to=self.units_up_to)
            for item, failure in failures:
                item.status, item.error, item.finished_at = ItemStatus.FAILED, failure.reason, now
            if failures:
                RunItem.objects.bulk_update([item for item, _ in failures], ["status", "error", "finished_at"])
        self.stored += len(came)
        self.failed += len(failures)

    def go_on(self) -> None:
        self.job.go_on()
        if not Run.objects.filter(pk=self.run.pk, status=RunStatus.RUNNING).exists():
            raise Cancelled

    def hand_back(self) -> None:
        """Let others have what is left. (After an unforeseen error the job keeps it, to be done one by one.)"""
        with batches.batch(self.stored):
            RunItem.objects.filter(job=self.job.job, status=ItemStatus.WAITING).update(job=None)

    def put_off(self, reason: str) -> None:
        """Try again later what could not be done for now; after so many tries the run stops and says why."""
        self.hand_back()
        tries = 1 if self.stored else self.job.params["tries"] + 1
        if tries > TRIES:
            stop(self.run, f"{reason} It was tried {TRIES} times.")
            return
        later = timezone.now() + PAUSE * 2 ** (tries - 1)
        top_up(self.run, ending=self.job.job, pace=self.pace, tries=tries, not_before=later, note=reason)


def _fitting(items: Sequence[RunItem]) -> list[RunItem]:
    """The first of them, as many as have `MOST_CHARACTERS` of inputs together, and one at least."""
    sizes = accumulate(item.size for item in items)
    return [item for item, size in zip(items, sizes, strict=True) if size <= max(MOST_CHARACTERS, item.size)]


def storable(came: Any) -> Any:
    """As it came, if PostgreSQL takes it: models of bytes can write NUL, and that must not fail the whole batch."""
    if isinstance(came, Failure):
        reason = came.reason.encode(errors="replace").decode().replace("\0", "\ufffd")
        return Failure(came.unit, reason)
    return Failure(came.unit, HOLDS_NUL) if isinstance(came, Output) and "\0" in came.text else came
