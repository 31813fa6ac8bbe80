"""The supervisor restarts children with growing delays and gives up on those that never work."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from operations import supervisor
from operations.supervisor import Child, GaveUp, Supervisor

SLEEPS = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def child(program: str, folder: Path) -> Child:
    return Child("child", [sys.executable, "-c", program], environment=dict(os.environ), folder=folder)


def test_a_child_that_dies_at_start_is_given_up_after_some_attempts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_WAIT", 0.01)
    said: list[str] = []
    watched = Supervisor([child("raise SystemExit(3)", tmp_path)], say=said.append)
    with pytest.raises(GaveUp, match="child exited with status 3 3 times"):
        watched.run(is_ready=lambda: False, when_ready=lambda: None, give_up_after=3)
    assert sum("restarted as process" in line for line in said) == 2


def test_waits_double_up_to_a_limit_and_reset_after_success(tmp_path: Path) -> None:
    watched = child(SLEEPS, tmp_path)
    watched.started = time.monotonic()
    assert [watched.wait_after_death() for _ in range(8)] == [0.5, 1, 2, 4, 8, 16, 30, 30]
    watched.started -= supervisor.WELL_AFTER + 1
    assert watched.wait_after_death() == 0.5


def test_asked_to_stop_it_ends_every_child_and_puts_the_signals_back(tmp_path: Path) -> None:
    first, second = child(SLEEPS, tmp_path), child(SLEEPS, tmp_path)
    before = signal.getsignal(signal.SIGTERM)
    said: list[str] = []
    Supervisor([first, second], say=said.append).run(
        is_ready=lambda: True, when_ready=lambda: os.kill(os.getpid(), signal.SIGTERM)
    )
    assert said[-1] == "Stopping."
    assert first.process
    assert first.process.poll() == -signal.SIGTERM
    assert second.process
    assert second.process.poll() == -signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_child_that_ignores_signals_is_killed_at_the_second_request(tmp_path: Path) -> None:
    stubborn = child(STUBBORN, tmp_path)

    def stop_twice() -> None:
        time.sleep(1.0)  # until the child ignores the signal
        os.kill(os.getpid(), signal.SIGINT)
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

    began = time.monotonic()
    Supervisor([stubborn], say=lambda line: None).run(is_ready=lambda: True, when_ready=stop_twice)
    assert stubborn.process
    assert stubborn.process.poll() == -signal.SIGKILL
    assert time.monotonic() - began < supervisor.PATIENCE


def test_a_child_that_ignores_signals_is_killed_after_a_delay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PATIENCE", 0.5)
    stubborn = child(STUBBORN, tmp_path)

    def stop() -> None:
        time.sleep(1.0)
        os.kill(os.getpid(), signal.SIGINT)

    Supervisor([stubborn], say=lambda line: None).run(is_ready=lambda: True, when_ready=stop)
    assert stubborn.process
    assert stubborn.process.poll() == -signal.SIGKILL
