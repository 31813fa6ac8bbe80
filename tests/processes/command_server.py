"""`python -m tests.processes.command_server SOCKET`: starts Django once per site and forks for each short command.

Starting Django takes longer than most commands. The server opens no database connection; each child opens its own. It
ends with the process that started it.
"""

import json
import logging
import os
import random
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.processes import fork_server


class CommandServer:
    """The client side: starts one server per environment and sends it commands."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        #: By environment: the process, its socket, and the pipe whose closing ends it.
        self._started: dict[str, tuple[fork_server.Process, Path, int]] = {}
        self._starting = threading.Lock()

    def run(self, command: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str, str]:
        """Run a command; return its exit status, stdout and stderr. After ``seconds`` it is killed with
        TimeoutError."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect(str(self._socket(environment)))
            asking.sendall(json.dumps({"command": command, "seconds": seconds}).encode() + b"\n")
            with asking.makefile() as reply:
                said = json.loads(reply.readline())
        if said["code"] is None:
            raise TimeoutError(f"not within {seconds:g} s: {' '.join(command)}")
        return said["code"], said["out"], said["err"]

    def _socket(self, environment: dict[str, str]) -> Path:
        key = json.dumps(environment, sort_keys=True)
        with self._starting:
            if key not in self._started:
                self._started[key] = self._start(environment)
            return self._started[key][1]

    def _start(self, environment: dict[str, str]) -> tuple[fork_server.Process, Path, int]:
        # Not in the test's folder: the path of a socket may have about 100 characters.
        path = Path(tempfile.mkdtemp(prefix="concord-helper-")) / "socket"
        log = self._folder / f"helper{len(self._started)}.log"
        given, held = os.pipe()
        with log.open("wb") as out:
            command = [sys.executable, "-m", "tests.processes.command_server", str(path)]
            process = fork_server.start(command, environment, (given, out.fileno(), out.fileno()))
        os.close(given)
        end = time.monotonic() + 60
        while not path.exists():
            assert process.poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < end, "the helper did not start"
            time.sleep(0.02)
        return process, path, held

    def stop(self) -> None:
        for process, path, held in self._started.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(timeout=30)
            os.close(held)
            path.unlink(missing_ok=True)
            path.parent.rmdir()
        self._started.clear()


def serve(path: str) -> None:
    import django

    django.setup()
    _import_ahead()
    # The kernel reaps the children; a child that answers a request waits for its own.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(path + ".new")
    listening.listen(64)
    os.rename(path + ".new", path)
    while True:
        ready, _, _ = select.select([listening.fileno(), 0], [], [])
        if 0 in ready and not os.read(0, 1):
            return  # the process that started this one has ended
        asking, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _answer(asking)
            os._exit(0)
        asking.close()


def _import_ahead() -> None:
    """Import modules that most commands need."""
    import config.urls
    import projects.tasks  # noqa: F401

    _ = config.urls.urlpatterns


def _answer(asking: socket.socket) -> None:
    """Runs in a child: run the command in another child and send the result."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with asking, asking.makefile() as lines, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        asked = json.loads(lines.readline())
        worker = os.fork()
        if worker == 0:
            asking.close()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            os._exit(_do(asked["command"]))
        code = _ended(worker, asked["seconds"])
        said: dict[str, Any] = {"code": code}
        for name, file in (("out", out), ("err", err)):
            file.seek(0)
            said[name] = file.read().decode()
        asking.sendall(json.dumps(said).encode() + b"\n")


def _ended(worker: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    pause = 0.002
    while time.monotonic() < end:
        done, status = os.waitpid(worker, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    return None


def _do(command: list[str]) -> int:
    """Run `manage.py ...` or `-m module ...` as in a fresh interpreter and return the exit status."""
    random.seed()
    code = 0
    try:
        if command[0] == "-m":
            sys.argv = [command[1], *command[2:]]
            runpy.run_module(command[1], run_name="__main__", alter_sys=True)
        else:
            sys.argv = command
            runpy.run_path(str(fork_server.ROOT / command[0]), run_name="__main__")
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        if isinstance(ending.code, str):
            print(ending.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    with suppress(Exception):
        from django.db import connections

        connections.close_all()
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
