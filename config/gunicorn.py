"""How gunicorn serves Concord in production: ``gunicorn --config python:config.gunicorn config.wsgi``.

``WEB_CONCURRENCY`` (gunicorn's own) sets the number of processes; the rest is the same everywhere.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import environ
from gunicorn.glogging import Logger

from api.logs import JsonLines, TextLines

# The settings read it as well, but later than gunicorn needs it.
_file = Path(__file__).resolve().parent.parent / ".env"
if _file.exists() and os.environ.get("READ_DOT_ENV", "1") != "0":
    environ.Env.read_env(_file)

# Not for others unless somebody says so: behind a proxy, what comes from elsewhere could pretend to come through it.
bind = os.environ.get("BIND", "127.0.0.1:8000")
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
# Imported once, and shared by the processes that are forked then: they start sooner and need less memory.
preload_app = True
worker_class = "config.server.worker.Worker"
# Those that answer, and those that may wait for the senders of files.
threads = int(os.environ.get("WEB_THREADS", "4")) + int(os.environ.get("UPLOADS_AT_ONCE", "2"))
# Seconds without a heartbeat, which comes from the loop, not from the threads: whoever is silent for so long is hung.
timeout = 120
graceful_timeout = 30
# Longer than a proxy keeps its connections to us: it must be the one that closes them, or it meets a closed one.
keepalive = 75
# Heartbeats on a slow disk would make the server take a waiting worker for a hung one.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
control_socket_disable = True
# One line a request is written by config.request_log, which knows the route and the person.
accesslog = None
_json = os.environ.get("LOG_FORMAT") == "json"


class logger_class(Logger):  # type: ignore[misc]  # noqa: N801 - the name of gunicorn's setting
    """gunicorn's own messages, in the form of all others. (Its `logconfig_dict` would turn the access log on.)"""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonLines() if _json else TextLines())


def folder_of_counters() -> str:
    """A new folder for the counters of this server. Those of servers that were killed are cleared away."""
    shared = Path(worker_tmp_dir or tempfile.gettempdir())
    for old in shared.glob("concord-metrics-*-*"):
        try:
            os.kill(int(old.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(old, ignore_errors=True)
        except (PermissionError, ValueError):
            continue  # somebody else's
    return tempfile.mkdtemp(prefix=f"concord-metrics-{os.getpid()}-", dir=shared)


if os.environ.get("METRICS_TOKEN") or os.environ.get("METRICS_FROM"):
    # Its processes write their counters there, and each of them can read all (config.metrics). It must be known before
    # prometheus_client is imported.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder_of_counters()


def child_exit(server: Any, worker: Any) -> None:
    """A process that ended is not counted among the living."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Counters begin anew with the server, as Prometheus expects."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
