"""`manage.py work`: a worker that polls the job table; all the background work of a house without Redis."""

import signal
import threading
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError, close_old_connections

from api.problems import PASSING
from projects.background import jobs, waiting
from projects.tasks import mail, seal, sweep

MINUTE, DAY = 60.0, 86_400.0


class Every:
    """Due a minute after the start, and then so often. Times are seconds of a clock that never goes back."""

    def __init__(self, period: float, now: float) -> None:
        self.period, self.next = period, now + MINUTE

    def is_due(self, now: float) -> bool:
        """Whether it is time; asking when it is counts as doing it."""
        if now < self.next:
            return False
        self.next = now + self.period
        return True


class Command(BaseCommand):
    help = "Do background jobs, one at a time, until stopped. Several workers may run at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="Stop when no job is waiting.")
        parser.add_argument(
            "--queue", action="append",
            help="Only jobs of this queue (may be repeated): default, gpu, or one model's, gpu.0123456789ab. Without "
            "it, all that this machine can do: what needs torch is left alone where there is none.",
        )  # fmt: skip
        parser.add_argument("--poll", type=float, default=1.0, help="Seconds between looks at the job table.")

    def handle(self, *args: Any, once: bool, queue: list[str] | None, poll: float, **options: Any) -> None:
        stop = threading.Event()
        if queue and find_spec("torch") is None and any(waiting.family(name) == waiting.NEEDS_TORCH for name in queue):
            raise CommandError(waiting.NO_TORCH)
        if threading.current_thread() is threading.main_thread():
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: self._leave(stop))
        self.cannot = [] if queue or find_spec("torch") else [waiting.NEEDS_TORCH]
        daily, minutely = Every(DAY, time.monotonic()), Every(MINUTE, time.monotonic())
        while not stop.is_set():
            if minutely.is_due(time.monotonic()):
                self.by_the_way("The record was not sealed", seal)
                self.by_the_way("What is new was not mailed", mail)
            if self._one(queue):
                continue
            if once:
                return
            if daily.is_due(time.monotonic()):
                self.by_the_way("The daily sweep was not done", sweep)
            stop.wait(poll)

    def _leave(self, stop: threading.Event) -> None:
        """After the job at hand, which may hand back what is left of it."""
        stop.set()
        jobs.leave()

    def by_the_way(self, failing: str, do: Callable[[], object]) -> None:
        """What is done regularly beside the jobs. What cannot be done now is done the next time."""
        try:
            do()
        except PASSING as error:
            self.stderr.write(f"{failing}: {error}.")

    def _one(self, queue: list[str] | None) -> bool:
        """Do one job if there is one. A data base that is away for a moment is no reason to stop."""
        try:
            pk = waiting.claim_next(queue, but=self.cannot)
            return jobs.run_job(pk) if pk is not None else False
        except jobs.Unfit as unfit:
            raise CommandError(f"This worker ends, and must be started anew: {unfit}") from None
        except ProgrammingError as error:
            said = str(error).splitlines()[0]
            raise CommandError(f"The data base is not that of this code ({said}): run manage.py migrate.") from None
        except PASSING as error:
            self.stderr.write(f"The data base cannot be reached: {error}. Trying again.")
            return False
        finally:
            close_old_connections()
