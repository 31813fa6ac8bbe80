"""`manage.py work`: a worker that polls the job table, for installations without Redis."""

import signal
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError, close_old_connections

from api.problems import PASSING
from projects.tasks import check_accuracy, create_checkpoints, mail, return_late_places, sweep

from ...jobs import queries as jobs_queries
from ...jobs import supervision
from ...jobs.running import WorkerUnhealthy, end_killed, request_exit, run_job

MINUTE, DAY = 60.0, 86_400.0


class Every:
    """A timer, due one minute after the start and then once per period.

    Times are seconds of a monotonic clock.
    """

    def __init__(self, period: float, now: float) -> None:
        self.period, self.next = period, now + MINUTE

    def is_due(self, now: float) -> bool:
        """Return whether the timer is due. If it is, start the next period."""
        if now < self.next:
            return False
        self.next = now + self.period
        return True


class Command(BaseCommand):
    help = "Run background jobs one after the other until stopped. Several workers may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="Stop when no job is waiting.")
        parser.add_argument(
            "--queue",
            action="append",
            help="Run only jobs of this queue (can be repeated): default, gpu, or the queue of one model, such as "
            "gpu.0123456789ab. Default: all queues, without those that need torch if torch is not installed.",
        )
        parser.add_argument("--poll", type=float, default=1.0, help="Seconds between checks of the job table.")

    def handle(self, *args: Any, once: bool, queue: list[str] | None, poll: float, **options: Any) -> None:
        stop = threading.Event()
        if (
            queue
            and find_spec("torch") is None
            and any(jobs_queries.family(name) == jobs_queries.NEEDS_TORCH for name in queue)
        ):
            raise CommandError(jobs_queries.NO_TORCH)
        if threading.current_thread() is threading.main_thread():
            if not once:
                supervision.supervise(end_killed)
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: self._leave(stop))
        self.cannot = [] if queue or find_spec("torch") else [jobs_queries.NEEDS_TORCH]
        daily, minutely = Every(DAY, time.monotonic()), Every(MINUTE, time.monotonic())
        while not stop.is_set():
            if minutely.is_due(time.monotonic()):
                self.run_periodic("Audit checkpoint failed", create_checkpoints)
                self.run_periodic("E-mail digests failed", mail)
                self.run_periodic("Returning places failed", return_late_places)
                self.run_periodic("Checking accuracy failed", check_accuracy)
            if self._one(queue):
                continue
            if once:
                return
            if daily.is_due(time.monotonic()):
                self.run_periodic("Daily clean-up failed", sweep)
            stop.wait(poll)

    def _leave(self, stop: threading.Event) -> None:
        """Stop after the current job, which may requeue its remaining work."""
        stop.set()
        request_exit()

    def run_periodic(self, label: str, do: Callable[[], object]) -> None:
        """Run a periodic task. After a temporary database error, it runs again in the next period."""
        try:
            do()
        except PASSING as error:
            self.stderr.write(f"{label}: {error}.")

    def _one(self, queue: list[str] | None) -> bool:
        """Run one job and return whether there was one. A temporary database error does not stop the worker."""
        try:
            pk = jobs_queries.claim_next(queue, but=self.cannot)
            return run_job(pk) if pk is not None else False
        except WorkerUnhealthy as error:
            raise CommandError(f"This worker cannot continue and exits. Restart it. Reason: {error}") from None
        except ProgrammingError as error:
            message = str(error).splitlines()[0]
            raise CommandError(
                f"The database schema does not match this version ({message}). Run manage.py migrate."
            ) from None
        except PASSING as error:
            self.stderr.write(f"The database cannot be reached: {error}. Trying again.")
            return False
        finally:
            close_old_connections()
