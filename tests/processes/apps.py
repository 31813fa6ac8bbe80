"""Django app of the live tests: short leases, slow statements, suspension points, and jobs for tests."""

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
#: Silence after which a worker is shown as not responding.
SILENT = 2.0
#: Limits of the supervisor: silence of a worker process, and time to end a cancelled job.
SILENCE = 2.0
CANCEL = 1.0
RESEND_AFTER = 2.0
CHUNK = 1.0
#: Share of statements that are delayed.
DAWDLES = 0.04


class FaultsConfig(AppConfig):
    name = "tests.processes"
    label = "faults"

    def ready(self) -> None:
        from config.celery import app
        from generation import backends
        from generation.runs import chunks
        from projects.gold import actions as gold_actions
        from projects.jobs import jobs, queries, running, supervision
        from projects.jobs.running import RunningJob
        from tests.generation.staged import StagedBackend

        timezone.now = shifted(timezone.now, Path(os.environ["CLOCK"]))
        running.LEASE = timedelta(seconds=LEASE)
        running.HEARTBEAT_SECONDS = HEARTBEAT
        queries.SILENT_AFTER = timedelta(seconds=SILENT)
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
    """Make the next process that calls the function suspend itself if the file SUSPEND contains ``place``."""
    real, file = getattr(owner, name), Path(os.environ["SUSPEND"])

    def suspended(*args: Any, **kwargs: Any) -> Any:
        if file.exists() and file.read_text() == place:
            file.unlink()
            os.kill(os.getpid(), signal.SIGSTOP)
        return real(*args, **kwargs)

    setattr(owner, name, suspended)


#: Connections of this thread that are delayed already, by alias.
_dawdling = threading.local()


def dawdle(connection: BaseDatabaseWrapper, longest: float) -> None:
    """Delay some statements by up to ``longest`` seconds, to widen race windows. A thread that reconnects keeps its
    wrappers."""
    if connection.alias in _dawdling.__dict__:
        return
    setattr(_dawdling, connection.alias, True)

    def execute(run: Callable[..., Any], *arguments: Any) -> Any:
        if random.random() < DAWDLES:
            time.sleep(random.uniform(0, longest))
        return run(*arguments)

    connection.execute_wrappers.append(execute)


def shifted(now: Callable[[], datetime], clock: Path) -> Callable[[], datetime]:
    """Return a clock that is shifted by the seconds in a file, which is read at each call."""

    def read() -> datetime:
        try:
            return now() + timedelta(seconds=float(clock.read_text()))
        except (FileNotFoundError, ValueError):
            return now()

    return read


def slow(job: Any) -> dict[str, Any]:
    """Run ``steps`` steps of ``seconds`` each; append begin and end to the file ``diary``."""
    diary = Path(job.params["diary"])
    _note(diary, "begin")
    for step in range(job.params["steps"]):
        time.sleep(job.params["seconds"])
        job.progress(step + 1, job.params["steps"], "sleeping")
    _note(diary, "end")
    return {"by": os.getpid()}


def hang(job: Any) -> None:
    """Never end and never check for cancellation: in C, where no other thread runs, or in Python."""
    _note(Path(job.params["diary"]), "begin")
    if job.params["where"] == "regex":
        re.match(r"(a+)+$", "a" * 60 + "b")
    while True:
        time.sleep(0.01)


def _note(diary: Path, what: str) -> None:
    with diary.open("a") as file:
        file.write(f"{what} {os.getpid()}\n")
