"""Random faults, reproducible by a seed: kill, suspend and restart processes, and cut database connections.

Only processes that the site started, and children of its web server, are signalled.
"""

import os
import random
import signal
import sqlite3
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any
from urllib.parse import urlsplit

from tests.processes.apps import LEASE
from tests.processes.site import Process, Site, children_of

WORKERS = 2
#: Ranges in seconds: pause between faults, sleep of a suspended worker beyond its lease, suspension of a web process,
#: and duration of a database lock.
PAUSE, OVERSLEPT, ASLEEP, LOCKED = (0.3, 2.0), (0.5, 4.0), (0.3, 3.0), (0.5, 6.0)
Say = Callable[[str], None]


class Database:
    """Direct access to the site's database, without Django."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.url = site.environment.get("DATABASE_URL", "")

    def ask(self, sql: str) -> list[Any]:
        if self.url:
            import psycopg

            with psycopg.connect(self.url, autocommit=True) as connection:
                return list(connection.execute(sql.encode()).fetchall())
        with closing(sqlite3.connect(self.site.folder / "concord.sqlite3", timeout=5)) as connection:
            return list(connection.execute(sql).fetchall())

    def at_work(self, kind: str = "") -> set[int]:
        """Return the process ids of workers with a live lease on a job, optionally of one kind."""
        now = "now()" if self.url else "strftime('%Y-%m-%d %H:%M:%f', 'now')"
        sql = f"SELECT worker FROM projects_job WHERE status = 'running' AND leased_until > {now}"
        found = self.ask(sql + (f" AND kind = '{kind}'" if kind else ""))
        return {int(worker.rpartition(":")[2]) for (worker,) in found}

    def end_connections(self, most: int) -> int:
        """Terminate up to ``most`` database connections and return how many."""
        name = urlsplit(self.url).path.lstrip("/")
        return len(
            self.ask(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity "
                f"WHERE datname = '{name}' AND pid <> pg_backend_pid() ORDER BY random() LIMIT {most}) AS found"
            )
        )


class FaultInjector:
    """Injects faults one after the other from its own thread until it is stopped."""

    def __init__(self, site: Site, seed: int, say: Say) -> None:
        self.site, self.rng, self.say = site, random.Random(seed), say
        self.database = Database(site)
        self.workers: list[Process] = []
        self.done: Counter[str] = Counter()
        self.failures: list[BaseException] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._began = time.monotonic()
        faults: list[tuple[int, Callable[[], str]]] = [
            (1, self.kill_web),
            (3, self.kill_web_process),
            (4, self.suspend_web_process),
            (3, self.kill_worker),
            (5, self.suspend_worker),
            (3, self.cut_connections if self.database.url else self.lock),
        ]
        self.faults = [fault for weight, fault in faults for _ in range(weight)]

    def start_programs(self) -> None:
        self.site.start_web()
        self._enough_workers()

    def start(self) -> None:
        self._began = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """Stop injecting faults, restart what was killed, and resume what was suspended."""
        self._stopped.set()
        self._thread.join(timeout=120)
        self.site.kill_web()
        self.site.start_web()
        self._enough_workers()

    def _run(self) -> None:
        try:
            while not self._stopped.wait(self.rng.uniform(*PAUSE)):
                fault = self.rng.choice(self.faults)
                became = fault()
                self.done[fault.__name__] += bool(became)
                if became:
                    self.say(f"{time.monotonic() - self._began:7.1f} s  {fault.__name__}: {became}")
                self._enough_workers()
        except BaseException as error:
            self.failures.append(error)

    def _enough_workers(self) -> None:
        self.workers = [worker for worker in self.workers if worker.is_running]
        while len(self.workers) < WORKERS:
            self.workers.append(self.site.start_worker())

    def kill_web(self) -> str:
        """Kill the master and its processes at once."""
        self.site.kill_web()
        self._stopped.wait(self.rng.uniform(0, 1))
        self.site.start_web()
        return "killed and started again"

    def kill_web_process(self) -> str:
        """Kill one process of the web server; its master starts another."""
        assert self.site.web
        return self._signal_child(signal.SIGKILL)

    def suspend_web_process(self) -> str:
        """Suspend one process of the web server in the middle of its requests."""
        return self._signal_child(signal.SIGSTOP)

    def _signal_child(self, number: signal.Signals) -> str:
        assert self.site.web
        children = children_of(self.site.web.pid)
        if not children:
            return ""
        chosen, seconds = self.rng.choice(children), self.rng.uniform(*ASLEEP)
        with suppress(ProcessLookupError):
            os.kill(chosen, number)
            if number == signal.SIGSTOP:
                self._stopped.wait(seconds)
                os.kill(chosen, signal.SIGCONT)
        return f"one of {len(children)}" + (f", for {seconds:.1f} s" if number == signal.SIGSTOP else "")

    def kill_worker(self) -> str:
        """Kill a worker, preferably in the middle of a job."""
        worker = self._busy(patience=1.0) or self.rng.choice(self.workers)
        worker.kill()
        return f"process {worker.pid}"

    def suspend_worker(self) -> str:
        """Suspend a worker during a job (every other time one that forms the gold standard) for longer than its
        lease."""
        worker = self._busy(patience=5.0, kind=self.rng.choice(("", "finish_round")))
        if worker is None:
            return ""
        with suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGSTOP)
            until = LEASE + self.rng.uniform(*OVERSLEPT)
            self._stopped.wait(until)
            os.killpg(worker.pid, signal.SIGCONT)
        return f"process {worker.pid} slept {until:.1f} s"

    def _busy(self, patience: float, kind: str = "") -> Process | None:
        """Return a worker shortly after it took a job."""
        end = time.monotonic() + patience
        while time.monotonic() < end and not self._stopped.is_set():
            at_work = self.database.at_work(kind)
            if busy := [worker for worker in self.workers if worker.pids & at_work and worker.is_running]:
                time.sleep(self.rng.uniform(0, 0.3))
                return self.rng.choice(busy)
            time.sleep(0.02)
        return None

    def cut_connections(self) -> str:
        """Terminate some connections to PostgreSQL."""
        return f"{self.database.end_connections(self.rng.choice((1, 1, 2, 50)))} ended"

    def lock(self) -> str:
        """Hold SQLite's write lock from another process."""
        seconds = self.rng.uniform(*LOCKED)
        hold = (
            "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None); "
            "c.execute('BEGIN IMMEDIATE'); time.sleep(float(sys.argv[2])); c.execute('ROLLBACK')"
        )
        command = [sys.executable, "-c", hold, str(self.site.folder / "concord.sqlite3"), str(seconds)]
        holder = Process(command, dict(os.environ), self.site.folder / "lock.log")
        try:
            holder.ended(60)
        finally:
            holder.kill()
        return f"held for {seconds:.1f} s"
