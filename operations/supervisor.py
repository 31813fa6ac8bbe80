"""Run several processes from one terminal: start them together, restart dead ones, stop them together.

Each child leads its own process group. Ctrl-C therefore reaches only the supervisor, which ends the groups in order. On
Linux, a child also ends if its supervisor is killed.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Protocol

from projects.jobs.supervision import end_with_parent

#: Delay before a restart, in seconds. It doubles with each death soon after a start, up to the second value.
FIRST_WAIT, LAST_WAIT = 0.5, 30.0
#: After this many seconds of running, a child counts as stable.
WELL_AFTER = 60.0
#: Seconds that a group has to end before it is killed.
PATIENCE = 12.0
TICK = 0.1
STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Say = Callable[[str], None]


class Stopped(Exception):
    """The supervisor was asked to stop."""


class GaveUp(Exception):
    """A child died repeatedly before the system was ready for the first time."""


class Process(Protocol):
    """The parts of `subprocess.Popen` that are used."""

    pid: int

    def poll(self) -> int | None: ...


class Child:
    """A program that is kept running."""

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
        """Start the program as the leader of a new process group and return its process id."""
        self.process = subprocess.Popen(
            self.command,
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
        self.started, self.start_at = time.monotonic(), None
        return self.process.pid

    def signal_group(self, number: int) -> bool:
        """Send a signal to all processes of the group. Return False if there are none."""
        if self.process is None:
            return False
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):  # PermissionError occurs on macOS for a group of zombies
            return False
        return True

    def has_ended(self) -> bool:
        return self.process is None or self.process.poll() is not None

    def wait_after_death(self) -> float:
        """Count a death and return the delay before the next start, in seconds."""
        if time.monotonic() - self.started > WELL_AFTER:
            self.early_deaths = 0
        self.early_deaths += 1
        return min(FIRST_WAIT * 2.0 ** (self.early_deaths - 1), LAST_WAIT)


class Supervisor:
    """Run children until SIGINT, SIGTERM or SIGHUP."""

    def __init__(self, children: Sequence[Child], *, say: Say) -> None:
        self.children = list(children)
        self.say = say
        self._asked = 0

    def run(self, *, is_ready: Callable[[], bool], when_ready: Callable[[], None], give_up_after: int = 4) -> None:
        """Start all children, call ``when_ready`` once ``is_ready()`` is true, and supervise until told to stop.

        All children have ended when this method returns. Raise `GaveUp` if a child dies ``give_up_after`` times before
        the system is ready. After that, children are always restarted.
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
        # Only count the signal, so that the loop completes its current step first.
        self._asked += 1

    def _sleep(self, seconds: float) -> None:
        if not self._asked:
            time.sleep(seconds)
        if self._asked:
            raise Stopped

    def _watch(self, give_up_after: int | None) -> None:
        """Detect dead children, and restart those whose delay is over."""
        for child in self.children:
            if child.start_at is not None:
                if time.monotonic() >= child.start_at:
                    self.say(f"{child.name}: restarted as process {child.start()}.")
            elif child.has_ended():
                assert child.process is not None
                how = _how(child.process.poll() or 0)
                wait = child.wait_after_death()
                # Remaining processes of the group could still use the port, or a lease that the next start needs.
                self._end_groups([child], patience=2.0)
                if give_up_after is not None and child.early_deaths >= give_up_after:
                    raise GaveUp(f"{child.name} {how} {child.early_deaths} times; see the messages above.")
                child.start_at = time.monotonic() + wait
                self.say(f"{child.name}: {how}; restarting in {wait:g} s.")

    def _stop(self) -> None:
        """Terminate all groups. Kill them after a timeout, or at once on a second signal."""
        self._end_groups(self.children, patience=PATIENCE)

    def _end_groups(self, children: Sequence[Child], *, patience: float) -> None:
        asked, until = self._asked, time.monotonic() + patience
        left = [child for child in children if child.signal_group(signal.SIGTERM)]
        while left and time.monotonic() < until and self._asked <= max(asked, 1):
            time.sleep(TICK)
            # Signal 0 only checks for processes. `has_ended` also reaps the leader, which would remain a zombie.
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
    return f"exited with status {code}"
