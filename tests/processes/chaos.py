"""What goes wrong at random, by a seed: programs killed, suspended and started again, connections of the data base cut.

Only processes that the house recorded, and children of its web server, are signalled.
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
from tests.processes.house import House, Process, children_of

#: How many workers there are.
WORKERS = 2
#: Seconds between two faults; for which a suspended worker sleeps beyond its lease; for which a process of the web
#: server is suspended; for which a lock is held.
PAUSE, OVERSLEPT, ASLEEP, LOCKED = (0.3, 2.0), (0.5, 4.0), (0.3, 3.0), (0.5, 6.0)
Say = Callable[[str], None]


class Rows:
    """A look into the data base of a house, past the product."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.url = house.environment.get("DATABASE_URL", "")

    def ask(self, sql: str) -> list[Any]:
        if self.url:
            import psycopg

            with psycopg.connect(self.url, autocommit=True) as connection:
                return list(connection.execute(sql.encode()).fetchall())
        with closing(sqlite3.connect(self.house.folder / "concord.sqlite3", timeout=5)) as connection:
            return list(connection.execute(sql).fetchall())

    def at_work(self, kind: str = "") -> set[int]:
        """The process ids of workers that hold a job, of a kind where one is named, under a live lease."""
        now = "now()" if self.url else "strftime('%Y-%m-%d %H:%M:%f', 'now')"
        sql = f"SELECT worker FROM projects_job WHERE status = 'running' AND leased_until > {now}"
        found = self.ask(sql + (f" AND kind = '{kind}'" if kind else ""))
        return {int(worker.rpartition(":")[2]) for (worker,) in found}

    def end_connections(self, most: int) -> int:
        """End so many connections of the data base, whoever holds them; how many."""
        name = urlsplit(self.url).path.lstrip("/")
        return len(
            self.ask(
                "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_stat_activity "
                f"WHERE datname = '{name}' AND pid <> pg_backend_pid() ORDER BY random() LIMIT {most}) AS found"
            )
        )


class Chaos:
    """Faults of a house, one after the other, from a thread of its own, until it is stopped."""

    def __init__(self, house: House, seed: int, say: Say) -> None:
        self.house, self.rng, self.say = house, random.Random(seed), say
        self.rows = Rows(house)
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
            (3, self.cut_connections if self.rows.url else self.lock),
        ]
        self.faults = [fault for weight, fault in faults for _ in range(weight)]

    def start_programs(self) -> None:
        self.house.start_web()
        self._enough_workers()

    def start(self) -> None:
        """From now on things go wrong."""
        self._began = time.monotonic()
        self._thread.start()

    def stop(self) -> None:
        """No more faults; what was killed is started again, and what was suspended goes on."""
        self._stopped.set()
        self._thread.join(timeout=120)
        self.house.kill_web()
        self.house.start_web()
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
            self.workers.append(self.house.start_worker())

    def kill_web(self) -> str:
        """kill -9 of the master and its processes at once."""
        self.house.kill_web()
        self._stopped.wait(self.rng.uniform(0, 1))
        self.house.start_web()
        return "killed and started again"

    def kill_web_process(self) -> str:
        """kill -9 of one process of the web server; its master starts another."""
        assert self.house.web
        return self._signal_child(signal.SIGKILL)

    def suspend_web_process(self) -> str:
        """One process of the web server stands still, in the middle of what it was asked."""
        return self._signal_child(signal.SIGSTOP)

    def _signal_child(self, number: signal.Signals) -> str:
        assert self.house.web
        children = children_of(self.house.web.pid)
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
        """kill -9 of a worker, in the middle of a job where there is one."""
        worker = self._busy(patience=1.0) or self.rng.choice(self.workers)
        worker.kill()
        return f"process {worker.pid}"

    def suspend_worker(self) -> str:
        """A worker stands still in the middle of a job, every other time of forming gold, for longer than its lease,
        and wakes."""
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
        """A worker a moment after it was seen with a job."""
        end = time.monotonic() + patience
        while time.monotonic() < end and not self._stopped.is_set():
            at_work = self.rows.at_work(kind)
            if busy := [worker for worker in self.workers if worker.pids & at_work and worker.is_running]:
                time.sleep(self.rng.uniform(0, 0.3))
                return self.rng.choice(busy)
            time.sleep(0.02)
        return None

    def cut_connections(self) -> str:
        """Some connections of PostgreSQL end, in the middle of whatever they were doing."""
        return f"{self.rows.end_connections(self.rng.choice((1, 1, 2, 50)))} ended"

    def lock(self) -> str:
        """Another process holds SQLite's lock for writing."""
        seconds = self.rng.uniform(*LOCKED)
        hold = (
            "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None); "
            "c.execute('BEGIN IMMEDIATE'); time.sleep(float(sys.argv[2])); c.execute('ROLLBACK')"
        )
        command = [sys.executable, "-c", hold, str(self.house.folder / "concord.sqlite3"), str(seconds)]
        holder = Process(command, dict(os.environ), self.house.folder / "lock.log")
        try:
            holder.ended(60)
        finally:
            holder.kill()
        return f"held for {seconds:.1f} s"
