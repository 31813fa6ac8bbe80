"""Keeps a few processes running from one terminal: started together, started again when they die, stopped together.

Each child leads a process group of its own, so that a Ctrl-C reaches the supervisor only, which then ends whole groups
in order. Where the system can tell (Linux), a child ends also when its supervisor is killed outright.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

#: Seconds before a dead child is started again: doubled with each death soon after the start, up to the last.
FIRST_WAIT, LAST_WAIT = 0.5, 30.0
#: A child that has run for so many seconds is taken to be well again.
WELL_AFTER = 60.0
#: Seconds that a group has to end by itself before it is killed.
PATIENCE = 12.0
TICK = 0.1
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None

Say = Callable[[str], None]


class Stopped(Exception):
    """Somebody asked the supervisor to stop."""


class GaveUp(Exception):
    """A child ends again and again before everything was ready even once."""


class Process(Protocol):
    """What is needed of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...


class Child:
    """One program that is kept running."""

    def __init__(self, name: str, command: Sequence[str], *, environment: Mapping[str, str], folder: Path) -> None:
        self.name = name
        self.command = list(command)
        self.environment = dict(environment)
        self.folder = folder
        self.process: Process | None = None
        self.started = 0.0
        self.start_at: float | None = None
        self.early_deaths = 0

    def start(self) -> int:
        """Start it as the leader of a new group; returns the process id."""
        self.process = subprocess.Popen(
            self.command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=_end_with_parent if _libc else None,
        )  # fmt: skip
        self.started, self.start_at = time.monotonic(), None
        return self.process.pid

    def signal_group(self, number: int) -> bool:
        """Send a signal to all processes of the group; False where none is left."""
        if self.process is None:
            return False
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # the latter on macOS, for a group of zombies
            return False
        return True

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def wait_after_death(self) -> float:
        """How long to wait before the next start, in seconds; counts the death."""
        if time.monotonic() - self.started > WELL_AFTER:
            self.early_deaths = 0
        self.early_deaths += 1
        return min(FIRST_WAIT * 2.0 ** (self.early_deaths - 1), LAST_WAIT)


def _end_with_parent() -> None:
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


class Supervisor:
    """Runs children until it is told to stop by SIGINT, SIGTERM or SIGHUP."""

    def __init__(self, children: Sequence[Child], *, say: Say) -> None:
        self.children = list(children)
        self.say = say
        self._asked = 0

    def run(self, *, is_ready: Callable[[], bool], when_ready: Callable[[], None], give_up_after: int = 4) -> None:
        """Start everything, call ``when_ready`` once when ``is_ready()`` first holds, and watch until told to stop.

        Every child has ended when this returns. Raises `GaveUp` when a child dies ``give_up_after`` times before
        everything was ready; later it is started again for as long as it takes.
        """
        before = {number: signal.signal(number, self._ask) for number in STOPPING}
        try:
            for child in self.children:
                self.say(f"{child.name}: started as process {child.start()}.")
            ready = False
            while True:
                if not ready and is_ready():
                    ready = True
                    when_ready()
                self._watch(None if ready else give_up_after)
                self._sleep(TICK)
        except Stopped:
            self.say("Stopping.")
        finally:
            self._stop()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        # Only noted: whatever is being done (a print, a start) is finished before the loop looks.
        self._asked += 1

    def _sleep(self, seconds: float) -> None:
        if not self._asked:
            time.sleep(seconds)
        if self._asked:
            raise Stopped

    def _watch(self, give_up_after: int | None) -> None:
        """Note deaths, and start again what has waited long enough."""
        for child in self.children:
            if child.start_at is not None:
                if time.monotonic() >= child.start_at:
                    self.say(f"{child.name}: started again as process {child.start()}.")
            elif child.has_ended():
                assert child.process is not None
                how = _how(child.process.poll() or 0)
                wait = child.wait_after_death()
                # What is left of its group may hold the port, or a lease that the next one waits for.
                self._end_groups([child], patience=2.0)
                if give_up_after is not None and child.early_deaths >= give_up_after:
                    raise GaveUp(f"{child.name} {how}, {child.early_deaths} times; see above for why.")
                child.start_at = time.monotonic() + wait
                self.say(f"{child.name}: {how}; it is started again in {wait:g} s.")

    def _stop(self) -> None:
        """End all groups: politely, then, after a while or when asked a second time, at once."""
        self._end_groups(self.children, patience=PATIENCE)

    def _end_groups(self, children: Sequence[Child], *, patience: float) -> None:
        asked, until = self._asked, time.monotonic() + patience
        left = [child for child in children if child.signal_group(signal.SIGTERM)]
        while left and time.monotonic() < until and self._asked <= max(asked, 1):
            time.sleep(TICK)
            # Signal 0 asks only whether anyone is left. `has_ended` also collects the leader, which would linger.
            left = [child for child in left if not (child.has_ended() and not child.signal_group(0))]
        for child in left:
            child.signal_group(signal.SIGKILL)
        for child in left:
            if isinstance(child.process, subprocess.Popen):
                with suppress(subprocess.TimeoutExpired):
                    child.process.wait(timeout=5)


def _how(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
