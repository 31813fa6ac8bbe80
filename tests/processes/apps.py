"""Short leases, a data base that dawdles, and a job that takes as long as it is told and writes down what it did."""

import os
import random
import re
import signal
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created
from django.utils import timezone

LEASE = 3.0
HEARTBEAT = 0.7
#: Of the supervisor: how long a worker process may be silent, and how long a cancelled job may go on.
SILENCE = 2.0
CANCEL = 1.0
RESEND_AFTER = 2.0
CHUNK = 1.0
#: The share of statements before which a data base that dawdles makes its client wait.
DAWDLES = 0.04


class FaultsConfig(AppConfig):
    name = "tests.processes"
    label = "faults"

    def ready(self) -> None:
        from config.celery import app
        from generation import backends
        from generation.runs import chunks
        from projects.gold import actions as gold_actions
        from projects.jobs import jobs, running, supervision
        from projects.jobs.running import RunningJob
        from tests.generation.staged import StagedBackend

        timezone.now = shifted(timezone.now, Path(os.environ["CLOCK"]))
        running.LEASE = timedelta(seconds=LEASE)
        running.HEARTBEAT_SECONDS = HEARTBEAT
        jobs.RESEND_AFTER = timedelta(seconds=RESEND_AFTER)
        running.BACK_OFF = timedelta(seconds=0.2)
        app.conf.beat_schedule["resend lost wake-ups"]["schedule"] = 1.0
        supervision.SILENCE_SECONDS = SILENCE
        supervision.CANCEL_SECONDS = CANCEL
        supervision.PULSE_SECONDS = supervision.RESTART_SECONDS = 0.2
        jobs.handler("slow")(slow)
        jobs.handler("hang")(hang)
        chunks.TARGET_SECONDS = CHUNK
        if longest := float(os.environ.get("DAWDLE", "0")):
            connection_created.connect(lambda connection, **_: dawdle(connection, longest), weak=False)
        backends._BACKENDS[StagedBackend.key] = StagedBackend()
        _suspend_at(RunningJob, "check", "before a batch")
        _suspend_at(gold_actions, "insert_decisions", "in a batch")


def _suspend_at(owner: Any, name: str, place: str) -> None:
    """The next process that comes to this place suspends itself, where the file named by SUSPEND names the place."""
    real, file = getattr(owner, name), Path(os.environ["SUSPEND"])

    def suspended(*args: Any, **kwargs: Any) -> Any:
        if file.exists() and file.read_text() == place:
            file.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(*args, **kwargs)

    setattr(owner, name, suspended)


#: The connections of a thread that dawdle already, by alias.
_dawdling = threading.local()


def dawdle(connection: BaseDatabaseWrapper, longest: float) -> None:
    """Some statements wait for up to so many seconds: what happens in between two others has time to happen. A thread
    that connects anew keeps its wrappers."""
    if connection.alias in _dawdling.__dict__:
        return
    setattr(_dawdling, connection.alias, True)

    def execute(run: Callable[..., Any], *arguments: Any) -> Any:
        if random.random() < DAWDLES:
            time.sleep(random.uniform(0, longest))
        return run(*arguments)

    connection.execute_wrappers.append(execute)


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


def hang(job: Any) -> None:
    """Never end, and never ask whether it was cancelled: in C, where no other thread runs, or in Python."""
    _note(Path(job.params["diary"]), "begin")
    if job.params["where"] == "regex":
        re.match(r"(a+)+$", "a" * 60 + "b")
    while True:
        time.sleep(0.01)


def _note(diary: Path, what: str) -> None:
    with diary.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
