"""Memory limit and supervision of worker processes.

The memory limit makes one job fail before the system kills its worker. It uses RLIMIT_DATA, which Linux counts for all
private memory. Other systems have no limit, except that of a container.

A supervisor process kills and replaces worker processes that hang in a job.
"""

import ctypes
import logging
import os
import re
import select
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.db import connections

from api.problems import PASSING

if sys.platform == "linux":
    import resource
STATUS = Path("/proc/self/status")


@contextmanager
def limit_memory(mebibytes: int) -> Iterator[None]:
    """Limit the memory growth of this process inside the block, in MiB. 0 sets no limit.

    Allocations beyond the limit raise `MemoryError`.
    """
    if not mebibytes or sys.platform != "linux" or not STATUS.exists():
        yield
        return
    before, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = _allocated_bytes() + mebibytes * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, hard))


def _allocated_bytes() -> int:
    """Return the memory that this process has allocated, in bytes."""
    match = re.search(r"^VmData:\s+(\d+) kB", STATUS.read_text(), re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


logger = logging.getLogger(__name__)
PULSE_SECONDS = 1.0
#: A process without reports for this long is killed before its lease expires. Otherwise another worker would take the
#: job, and hang as well.
SILENCE_SECONDS = 30.0
#: Time in which a job must stop after its process has learned that it was cancelled.
CANCEL_SECONDS = 15.0
RESTART_SECONDS = 1.0
IDLE, BUSY, CANCELLED = range(3)
_MESSAGE = struct.Struct("=iB")  # process id, state; shorter than PIPE_BUF, so writes are atomic
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None
#: Writing end of the report pipe of this process and its forks; None without a supervisor.
_reports: int | None = None

#: Called with the id of a worker process after it was killed.
Killed = Callable[[int], None]


def end_with_parent(number: int = signal.SIGTERM) -> None:
    """Make the kernel send this process a signal when its parent ends. Linux only."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, number)


def _open_reports() -> int:
    """Open the pipe for reports of processes forked from now on. Return its reading end."""
    global _reports
    receiving, _reports = os.pipe()
    os.set_blocking(_reports, False)
    return receiving


@contextmanager
def reporting(is_cancelled: Callable[[], bool]) -> Iterator[None]:
    """Report to the supervisor, if there is one, that this process runs a job and is alive."""
    if _reports is None:
        yield
        return
    ended = threading.Event()

    def report_regularly() -> None:
        while not ended.is_set():
            _report(CANCELLED if is_cancelled() else BUSY)
            ended.wait(PULSE_SECONDS)

    # A separate thread that does no queries: a locked database is no reason to kill the process.
    thread = threading.Thread(target=report_regularly, daemon=True, name="pulse")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        _report(IDLE)


def _report(state: int) -> None:
    assert _reports is not None
    with suppress(BlockingIOError, BrokenPipeError):  # the supervisor no longer reads
        os.write(_reports, _MESSAGE.pack(os.getpid(), state))


class ProcessMonitor:
    """State of worker processes, according to their reports."""

    def __init__(self, receiving: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._receiving, self._clock = receiving, clock
        self._looked = clock()
        self._states: dict[int, int] = {}
        self._silent: dict[int, float] = {}
        self._cancelled: dict[int, float] = {}

    def listen(self, seconds: float) -> None:
        """Wait at most ``seconds`` for reports, and read the available ones."""
        while select.select([self._receiving], [], [], seconds)[0]:
            received = os.read(self._receiving, _MESSAGE.size * 1000)
            for pid, state in _MESSAGE.iter_unpack(received):
                self._states[pid] = state
                self._silent[pid] = 0.0
                if state != CANCELLED:
                    self._cancelled[pid] = 0.0
            if not received:
                return
            seconds = 0

    def hanging(self) -> list[int]:
        """Return the ids of processes that hang in a job, and forget them. Call it after `listen`."""
        now = self._clock()
        # A supervisor that was suspended with its workers got no reports meanwhile, so the time is capped.
        passed, self._looked = min(now - self._looked, 2 * PULSE_SECONDS), now
        hanging_pids = []
        for pid, state in list(self._states.items()):
            if not _is_in_our_group(pid):
                del self._states[pid]
                continue
            if state == IDLE or _is_stopped(pid):
                continue
            self._silent[pid] += passed
            if state == CANCELLED:
                self._cancelled[pid] = self._cancelled.get(pid, 0.0) + passed
            if self._silent[pid] > SILENCE_SECONDS or self._cancelled.get(pid, 0.0) > CANCEL_SECONDS:
                hanging_pids.append(pid)
                self._states.pop(pid, None)
        return hanging_pids


def _is_in_our_group(pid: int) -> bool:
    """Return whether the process exists in our process group. Another process may have reused the id."""
    try:
        return os.getpgid(pid) == os.getpgrp()
    except (ProcessLookupError, PermissionError):
        return False


def _is_stopped(pid: int) -> bool:
    """Return whether the process is suspended (SIGSTOP) and may resume. False if the system does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except (OSError, IndexError):
        return False


def supervise(killed: Killed) -> None:
    """Fork, and return in the child, which does the work or runs a pool.

    The parent watches until the child ends, and exits with the same status. It replaces a child that was killed by a
    signal.
    """
    if not hasattr(os, "fork"):
        return
    while True:
        _close_connections()
        sys.stdout.flush()
        sys.stderr.flush()
        receiving, parent = _open_reports(), os.getpid()
        pid = os.fork()
        if not pid:
            os.close(receiving)
            end_with_parent(signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            return
        assert _reports is not None
        os.close(_reports)
        status = _watch(pid, receiving, killed)
        os.close(receiving)
        if not os.WIFSIGNALED(status):
            sys.exit(os.waitstatus_to_exitcode(status))
        time.sleep(RESTART_SECONDS)


def _watch(child: int, receiving: int, killed: Killed) -> int:
    """Watch a child and its descendants, and forward termination signals to it. Return its wait status."""
    is_terminating = False

    def forward_signal(number: int, _: object) -> None:
        nonlocal is_terminating
        is_terminating = True
        # A terminal sends Ctrl-C to all processes, and Celery interprets a second signal as a forced stop.
        if number != signal.SIGINT or not os.isatty(0):
            os.kill(child, signal.SIGTERM)

    before = {number: signal.signal(number, forward_signal) for number in (signal.SIGTERM, signal.SIGINT)}
    watch = ProcessMonitor(receiving)
    try:
        # Leave the child unreaped while signals may be forwarded to it, so that its id is not reused.
        while not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            watch.listen(PULSE_SECONDS)
            for pid in watch.hanging():
                logger.error("Worker process %s hangs in a job and is killed.", pid)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                _report_killed(killed, pid)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    status = os.waitpid(child, 0)[1]
    if is_terminating and os.WIFSIGNALED(status):
        sys.exit(1)
    return status


def _report_killed(killed: Killed, pid: int) -> None:
    try:
        killed(pid)
    except PASSING:
        # The lease of the job expires instead.
        logger.warning(
            "The database cannot be reached to end the job of process %s. Its lease will expire.", pid, exc_info=True
        )
    finally:
        _close_connections()


def _close_connections() -> None:
    """Close all connections and pools: a process must not share them with its forks."""
    for connection in connections.all(initialized_only=True):
        connection.close()
        if hasattr(connection, "close_pool"):
            connection.close_pool()
