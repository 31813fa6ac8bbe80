"""Short leases, and a job that takes as long as it is told and writes down what it did."""

import os
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.utils import timezone

LEASE = 3.0
HEARTBEAT = 0.7
RESEND_AFTER = 2.0
CHUNK = 1.0


class FaultsConfig(AppConfig):
    name = "tests.processes"
    label = "faults"

    def ready(self) -> None:
        from config.celery import app
        from generation import backends
        from generation.actions import chunks
        from projects import jobs
        from tests.generation.staged import StagedBackend

        timezone.now = shifted(timezone.now, Path(os.environ["CLOCK"]))
        jobs.LEASE = timedelta(seconds=LEASE)
        jobs.HEARTBEAT_SECONDS = HEARTBEAT
        jobs.RESEND_AFTER = timedelta(seconds=RESEND_AFTER)
        jobs.BACK_OFF = timedelta(seconds=0.2)
        app.conf.beat_schedule["resend lost wake-ups"]["schedule"] = 1.0
        jobs.handler("slow")(slow)
        chunks.TARGET_SECONDS = CHUNK
        backends._BACKENDS[StagedBackend.key] = StagedBackend()


def shifted(now: Callable[[], datetime], clock: Path) -> Callable[[], datetime]:
    """The server's clock, set by so many seconds as the file says, from one reading to the next."""

    def read() -> datetime:
        try:
            return now() + timedelta(seconds=float(clock.read_text()))
        except (FileNotFoundError, ValueError):
            return now()

    return read


def slow(job: Any) -> dict[str, Any]:
    """``steps`` steps of ``seconds`` each; begin and end are lines of the file ``diary``."""
    diary = Path(job.params["diary"])
    _note(diary, "begin")
    for step in range(job.params["steps"]):
        time.sleep(job.params["seconds"])
        job.progress(step + 1, job.params["steps"], "sleeping")
    _note(diary, "end")
    return {"by": os.getpid()}


def _note(diary: Path, what: str) -> None:
    with diary.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
