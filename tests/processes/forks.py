"""`python -m tests.processes.forks FD`: what has imported other people's packages once, and forks for each process of a
house in place of an interpreter's start.

Three quarters of a start is to import Django, NumPy and the like. Here that is done once for each process of pytest. No
setting is read here and nothing of the house is imported that knows Django: whoever is forked does that, in an
environment of its own, as an interpreter that has just begun, and runs to its end as the main program, with all that an
interpreter does when it ends. Only the seed of Python's hashes is that of its siblings.
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
#: Other people's modules that a start imports, as far as they can be without settings. Not among them: what reads the
#: environment while it is imported (gunicorn, prometheus_client).
AHEAD = (  # noqa: SIM905 - so many are read more easily so
    "unittest.mock django.core.management django.contrib.postgres.fields django.contrib.postgres.aggregates "
    "django.views.generic django.test.client django.middleware.common celery.bin.worker celery.fixups.django "
    "celery.loaders.app celery.concurrency.prefork kombu.transport.redis redis requests yaml PIL.Image openpyxl numpy "
    "scipy.special scipy.sparse cryptography.fernet environ markdown_it rest_framework.serializers "
    "drf_spectacular.utils axes defusedxml.ElementTree measures.agreement measures.ratings"
).split()


class Fork:
    """A process of the house, with as much of `subprocess.Popen` as the tests ask for."""

    def __init__(self, command: list[str], environment: dict[str, str], files: tuple[int, int, int], **more: Any):
        """``command`` begins with the interpreter; ``files`` become its input, output and errors. ``more``: whether it
        ``leads`` a session of its own, and ``limits``, as `resource` names them."""
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
    """The leader of a session of its own: a fork where it is `manage.py ...`, `-m module ...` or `-c program`."""
    if command[0] == sys.executable and command[1] in ("manage.py", "-m", "-c"):
        return Fork(command, environment, files, leads=True, limits=limits)
    assert not limits
    given, out, errors = files
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=given, stdout=out, stderr=errors, start_new_session=True
    )


def ran(command: list[str], environment: dict[str, str], seconds: float = 120) -> tuple[int, str, str]:
    """How it ended, and what it wrote to its two outputs."""
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = Fork(command, environment, (nothing.fileno(), out.fileno(), errors.fileno()))
        code = process.wait(timeout=seconds)
        out.seek(0)
        errors.seek(0)
        return code, out.read().decode(), errors.read().decode()


Process = Fork | subprocess.Popen[bytes]
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
            # It ends when nobody holds our side of the line.
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.processes.forks", str(other.fileno())],
                cwd=ROOT,
                env=environment | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
        atexit.register(_ended, _line, process)
    return _line


def _ended(line: socket.socket, process: "subprocess.Popen[bytes]") -> None:
    """Wait for it, so that its time counts as ours."""
    line.close()
    process.wait(timeout=30)


def serve(line: socket.socket) -> list[str]:
    """Fork and bury until nobody asks any more. Returns in who was forked: its command; and at the end: none."""
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
            os.read(ready, 1)  # a signal to its group would miss it before
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
    """Go on as the main program that the command names."""
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
    # Threads are not forked, and settings are the house's.
    assert threading.active_count() == 1
    assert "DJANGO_SETTINGS_MODULE" not in os.environ
    gc.collect()
    gc.freeze()
    # Ctrl-C is for pytest, which needs us still to end its houses.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if command := serve(socket.socket(fileno=int(sys.argv[1]))):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        run(command)


if __name__ == "__main__":
    main()
