"""Gunicorn configuration for production: ``gunicorn --config python:config.gunicorn config.wsgi``.

``WEB_CONCURRENCY`` (gunicorn's own variable) sets the number of processes.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import environ
from gunicorn.glogging import Logger

from api.logs import JsonLines, TextLines

# The settings read this file, too, but later than gunicorn needs it.
_file = Path(__file__).resolve().parent.parent / ".env"
if _file.exists() and os.environ.get("READ_DOT_ENV", "1") != "0":
    environ.Env.read_env(_file)

# Local only by default: behind a proxy, direct connections could forge the proxy's headers.
bind = os.environ.get("BIND", "127.0.0.1:8000")
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
# Processes are forked after the import. They start faster and share memory.
preload_app = True
# A thread waits for its client, so a buffering proxy is needed in front (Caddyfile).
worker_class = "gthread"
# Threads for requests, and threads for uploads.
threads = int(os.environ.get("WEB_THREADS", "4")) + int(os.environ.get("UPLOADS_AT_ONCE", "2"))
# Seconds without a heartbeat of the main loop before a process is killed and replaced.
timeout = 120
graceful_timeout = 30
# Longer than the proxy's keep-alive, so that the proxy does not send a request into a closed connection.
keepalive = 75
# With heartbeats on a slow disk, the server could kill a worker that only waits.
worker_tmp_dir = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
control_socket_disable = True
# The access log is written by config.request_log, which knows the route and the user.
accesslog = None
_json = os.environ.get("LOG_FORMAT") == "json"


class logger_class(Logger):  # type: ignore[misc]  # noqa: N801 - the name of gunicorn's setting
    """Log gunicorn's messages in the common format. (Its `logconfig_dict` would enable the access log.)"""

    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonLines() if _json else TextLines())


def folder_of_counters() -> str:
    """Create a folder for the counters of this server, and remove folders of dead servers."""
    shared = Path(worker_tmp_dir or tempfile.gettempdir())
    for old in shared.glob("concord-metrics-*-*"):
        try:
            os.kill(int(old.name.split("-")[2]), 0)
        except ProcessLookupError:
            shutil.rmtree(old, ignore_errors=True)
        except (PermissionError, ValueError):
            continue  # owned by another user
    return tempfile.mkdtemp(prefix=f"concord-metrics-{os.getpid()}-", dir=shared)


if os.environ.get("METRICS_TOKEN") or os.environ.get("METRICS_FROM"):
    # Each process writes its counters there and can read all of them (config.metrics). The variable must be set before
    # prometheus_client is imported.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder_of_counters()


def post_worker_init(worker: Any) -> None:
    """Reduce Python's switch interval of 5 ms, because requests compete with threads that compute."""
    sys.setswitchinterval(0.0005)


def child_exit(server: Any, worker: Any) -> None:
    """Remove a dead process from the live gauges."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        from prometheus_client import multiprocess

        multiprocess.mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:
    """Remove the counters: they restart with the server, as Prometheus expects."""
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
