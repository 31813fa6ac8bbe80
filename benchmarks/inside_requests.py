"""Measure the time, queries and memory of API requests within a process with Concord set up."""

import gc
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.routes import OWN_WORK, requests

TICKS = os.sysconf("SC_CLK_TCK")
#: A request is repeated while its total time is below this number of seconds.
REPEATED = 0.5
#: Statement timeout in seconds, and number of SQLite steps between two checks of it.
LONGEST, STEPS = 30, 100


def ask_all(ids: dict[str, Any], only: str = "", repeats: int = 3) -> list[dict[str, Any]]:
    """Send every GET request that `benchmarks.routes` lists.

    ``only`` restricts them to paths that contain this text.
    """
    from django.test import Client

    clients = {}
    for role in ("lead", "annotator"):
        clients[role] = Client(raise_request_exception=False, headers={"host": "localhost"})
        clients[role].force_login(_user(ids[role]), backend="accounts.sessions.Backend")
    clients["lead"].get("/api/v1/me/")
    found: list[dict[str, Any]] = []
    paths: dict[str, list[str]] = {}
    for route, path, query in requests(ids):
        if only in f"{path}?{query}":
            found.append(_measured(clients["annotator" if route in OWN_WORK else "lead"], path, query, repeats))
            of_route = paths.setdefault(route, [])
            of_route += [] if path in of_route else [path]
            found[-1]["name"] = re.sub(r"=\d+", "=n", f"{route}?{query} (object {1 + of_route.index(path)})")
            print(f"{found[-1]['cpu']:.3f} s {found[-1]['request']}", file=sys.stderr, flush=True)
    return found


def _user(pk: int) -> Any:
    from accounts.models import User

    return User.objects.get(pk=pk)


def _measured(client: Any, path: str, query: str, repeats: int) -> dict[str, Any]:
    if query == "page=last":
        pages = max(1, -(-client.get(f"/api/v1/{path}").json()["count"] // 50))
        query = f"page={pages}"
    request = path + (f"?{query}" if query else "")
    return measured(lambda: client.get(f"/api/v1/{request}"), request, repeats)


def measured(send: Callable[[], Any], request: str, repeats: int = 3) -> dict[str, Any]:
    """Send a request several times. The first one is counted and its memory is measured."""
    from django.db import connection

    before = _reset_peak()
    counted = Counted()
    counted.watch(connection)
    try:
        with connection.execute_wrapper(counted):
            reply, wall, cpu = _timed(send)
    finally:
        counted.unwatch(connection)
    peak = _status("VmHWM") - before
    walls, cpus = [wall], [cpu]
    while len(walls) < repeats and sum(walls) < REPEATED:
        _, wall, cpu = _timed(send)
        walls.append(wall)
        cpus.append(cpu)
    return {
        "request": request,
        "status": reply.status_code,
        "wall": median(walls),
        "cpu": min(cpus),
        "queries": counted.queries,
        "steps": counted.steps,
        "bytes": len(reply.getvalue()),
        "mb": peak,
        "slowest": counted.slowest,
    }


class Counted:
    """Count statements and SQLite virtual machine steps, and keep the slowest statement with its seconds.

    Steps do not depend on the load of the machine. A statement that takes longer than `LONGEST` is ended.
    """

    def __init__(self) -> None:
        self.queries, self.steps, self.slowest = 0, 0, (0.0, "")
        self.begun = time.perf_counter()

    def watch(self, connection: Any) -> None:
        connection.ensure_connection()
        if connection.vendor == "sqlite":
            connection.connection.set_progress_handler(self._step, STEPS)
        else:
            with connection.cursor() as cursor:
                cursor.execute(f"SET statement_timeout = {1000 * LONGEST}")

    def unwatch(self, connection: Any) -> None:
        """Remove the timeout, which would interrupt later statements of the connection."""
        if connection.vendor == "sqlite" and connection.connection is not None:
            connection.connection.set_progress_handler(None, 0)

    def _step(self) -> bool:
        self.steps += STEPS
        return time.perf_counter() - self.begun > LONGEST

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        self.begun = begun = time.perf_counter()
        try:
            return execute(sql, params, many, context)
        finally:
            self.queries += 1
            self.slowest = max(self.slowest, (time.perf_counter() - begun, sql))


def _timed(send: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return the reply, wall-clock seconds, and processor seconds of this process and its PostgreSQL backend."""
    begun, cpu = time.perf_counter(), _cpu()
    reply = send()
    reply.getvalue()
    return reply, time.perf_counter() - begun, _cpu() - cpu


def _cpu() -> float:
    from django.db import connection

    used = time.process_time()
    if connection.vendor == "postgresql":
        connection.ensure_connection()
        fields = Path(f"/proc/{connection.connection.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
        used += (int(fields[11]) + int(fields[12])) / TICKS
    return used


def _reset_peak() -> float:
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _status(name: str) -> float:
    """Return a value of the process's status in MB."""
    return int(Path("/proc/self/status").read_text().partition(f"{name}:")[2].split()[0]) / 1000


def check_consistency(slug: str) -> dict[str, Any]:
    """Check a project's corpus as its job does, and store the findings. Return seconds and peak memory over idle."""
    from annotation.consistency.actions import find_inconsistencies, store_findings
    from projects.models import Project

    project = Project.objects.get(slug=slug)
    before, begun, cpu = _reset_peak(), time.perf_counter(), _cpu()
    found, units = find_inconsistencies(project)
    kept = store_findings(project=project, sorted_findings=found, units=units)
    return {"wall": time.perf_counter() - begun, "cpu": _cpu() - cpu, "mb": _status("VmHWM") - before, **kept}


def store_figures(slug: str) -> dict[str, Any]:
    """Compute and store the figures of a project as its job does. Return seconds and peak memory over idle."""
    from projects.models import Project
    from projects.stored_figures.actions import compute_and_store

    before, begun, cpu = _reset_peak(), time.perf_counter(), _cpu()
    compute_and_store(project=Project.objects.get(slug=slug))
    return {"wall": time.perf_counter() - begun, "cpu": _cpu() - cpu, "mb": _status("VmHWM") - before}
