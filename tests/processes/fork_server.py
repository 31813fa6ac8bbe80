"""`python -m tests.processes.fork_server FD`: imports third-party packages once and forks a process for each program.

Importing Django, NumPy and others takes three quarters of the start of a process. The fork server imports them once per
pytest process. It reads no settings and imports no module that needs Django settings: each forked process does that in
its own environment and runs as the main program until the interpreter exits. Only the hash seed is shared by all forked
processes.
"""

import atexit
import gc
import json
import os
import random
import resource
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: Third-party modules that can be imported without settings. gunicorn and prometheus_client are left out, because they
#: read the environment when they are imported.
AHEAD = (  # noqa: SIM905 - so many are read more easily so
    "unittest.mock django.core.management django.contrib.postgres.fields django.contrib.postgres.aggregates "
    "django.views.generic django.test.client django.middleware.common celery.bin.worker celery.fixups.django "
    "celery.loaders.app celery.concurrency.prefork kombu.transport.redis redis requests yaml PIL.Image openpyxl numpy "
    "scipy.special scipy.sparse cryptography.fernet environ markdown_it rest_framework.serializers "
    "drf_spectacular.utils axes defusedxml.ElementTree measures.agreement measures.ratings"
).split()


class ForkedProcess:
    """A forked process with the part of the interface of `subprocess.Popen` that the tests use."""

    def __init__(self, command: list[str], environment: dict[str, str], files: tuple[int, int, int], **more: Any):
        """``command`` begins with the interpreter; ``files`` become stdin, stdout and stderr. ``more``: ``leads``
        (whether it leads its own session) and ``limits`` (by their names in `resource`)."""
        self.pid: int = _ask({"command": command[1:], "environment": environment, **more}, files)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _ask({"ended": self.pid})
        return self.returncode

    def wait(self, timeout: float) -> int:
        end, pause = time.monotonic() + timeout, 0.001
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def start(command: list[str], environment: dict[str, str], files: tuple[int, int, int], **limits: int) -> "Process":
    """Start a session leader: forked if it is `manage.py ...`, `-m module ...` or `-c program`."""
    if command[0] == sys.executable and command[1] in ("manage.py", "-m", "-c"):
        return ForkedProcess(command, environment, files, leads=True, limits=limits)
    assert not limits
    given, out, errors = files
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=given, stdout=out, stderr=errors, start_new_session=True
    )


def ran(command: list[str], environment: dict[str, str], seconds: float = 120) -> tuple[int, str, str]:
    """Run a command and return its exit status, stdout and stderr."""
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = ForkedProcess(command, environment, (nothing.fileno(), out.fileno(), errors.fileno()))
        code = process.wait(timeout=seconds)
        out.seek(0)
        errors.seek(0)
        return code, out.read().decode(), errors.read().decode()


Process = ForkedProcess | subprocess.Popen[bytes]
_asking = threading.Lock()
_line: socket.socket | None = None


def _ask(asked: dict[str, Any], files: tuple[int, ...] = ()) -> Any:
    with _asking:
        line = _connected()
        said = json.dumps(asked).encode() + b"\n"
        sent = socket.send_fds(line, [said], list(files)) if files else line.send(said)
        line.sendall(said[sent:])
        reply = b""
        while not reply.endswith(b"\n"):
            reply += (more := line.recv(4096))
            assert more, "what forks is gone"
    return json.loads(reply)


def _connected() -> socket.socket:
    global _line
    if _line is None:
        _line, other = socket.socketpair()
        environment = {k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"}
        with other:
            # The fork server ends when our end of the socket is closed.
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.processes.fork_server", str(other.fileno())],
                cwd=ROOT,
                env=environment | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        atexit.register(_ended, _line, process)
    return _line


def _ended(line: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    """Wait for the process, so that its CPU time is counted as ours."""
    line.close()
    process.wait(timeout=30)


def serve(line: socket.socket) -> list[str]:
    """Fork and reap until the socket is closed. Return the command in a forked process, and an empty list at the
    end."""
    while True:
        said, files, *_ = socket.recv_fds(line, 65536, 3)
        while said and not said.endswith(b"\n"):
            said += line.recv(65536)
        if not said:
            return []
        asked = json.loads(said)
        if "ended" in asked:
            done, status = os.waitpid(asked["ended"], os.WNOHANG)
            reply = os.waitstatus_to_exitcode(status) if done else None
        else:
            ready, begun = os.pipe()
            reply = os.fork()
            if reply == 0:
                line.close()
                os.close(ready)
                _become(asked, files)
                os.close(begun)
                return list(asked["command"])
            os.close(begun)
            os.read(ready, 1)  # otherwise a signal to its group could come before the group exists
            for file in (ready, *files):
                os.close(file)
        line.sendall(json.dumps(reply).encode() + b"\n")


def _become(asked: dict[str, Any], files: list[int]) -> None:
    if asked.get("leads"):
        os.setsid()
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])
    time.tzset()
    random.seed()
    for name, most in asked.get("limits", {}).items():
        resource.setrlimit(getattr(resource, name), (most, most))


def run(command: list[str]) -> None:
    """Run the command as the main program."""
    if command[0] == "-m":
        sys.argv = command[1:]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    elif command[0] == "-c":
        sys.argv = ["-c", *command[2:]]
        exec(compile(command[1], "<string>", "exec"), vars(sys.modules["__main__"]))
    else:
        sys.argv = command
        runpy.run_path(str(ROOT / command[0]), run_name="__main__")


def main() -> None:
    for name in AHEAD:
        import_module(name)
    # Threads do not survive a fork, and each site has its own settings.
    assert threading.active_count() == 1
    assert "DJANGO_SETTINGS_MODULE" not in os.environ
    gc.collect()
    gc.freeze()
    # On Ctrl-C pytest still needs this process to end its sites.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if command := serve(socket.socket(fileno=int(sys.argv[1]))):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run(command)


if __name__ == "__main__":
    main()
