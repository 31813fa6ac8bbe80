"""`manage.py work`: a worker that polls the job table; all the background work of a house without Redis."""

import signal
import threading
import time
from importlib.util import find_spec
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import ProgrammingError, close_old_connections

from accounts.problems import PASSING
from accounts.sweeping import sweep
from projects import jobs, waiting


class Daily:
    """Due a minute after the start, and then once a day. Times are seconds of a clock that never goes back."""

    def __init__(self, now: float) -> None:
        self.next = now + 60

    def is_due(self, now: float) -> bool:
        """Whether it is time; asking when it is counts as doing it."""
        if now < self.next:
            return False
        self.next = now + 86_400
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
        daily = Daily(time.monotonic())
        while not stop.is_set():
            if self._one(queue):
                continue
            if once:
                return
            if daily.is_due(time.monotonic()):
                self.sweep()
            stop.wait(poll)

    def _leave(self, stop: threading.Event) -> None:
        """After the job at hand, which may hand back what is left of it."""
        stop.set()
        jobs.leave()

    def sweep(self) -> None:
        """Delete what is spent. What cannot be done today is done tomorrow."""
        try:
            sweep()
        except PASSING as error:
            self.stderr.write(f"The daily sweep was not done: {error}.")

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
