"""A running Concord for tests: web server, workers, database and Redis, each in its own process."""

import json
import os
import secrets
import signal
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from operations.simulation.client import Client, Ledger
from operations.simulation.history import Study
from operations.simulation.transport import Http
from tests.processes import fork_server
from tests.processes.command_server import CommandServer
from tests.stages import proxy
from tests.stages.servers import free_port, is_listening

LEAD = "lead@example.org"
NOT_INHERITED = {
    "DATABASE_URL",
    "REDIS_URL",
    "SECRET_KEY",
    "DEBUG",
    "ALLOWED_HOSTS",
    "DATA_DIR",
    "HTTPS",
    "BEHIND_PROXY",
    "LOG_FORMAT",
    "METRICS_TOKEN",
    "METRICS_FROM",
    "WEB_CONCURRENCY",
    "OIDC_ISSUER",
}


class Process:
    """A program that leads its own process group, so that it can be killed with its children."""

    def __init__(self, command: list[str], environment: dict[str, str], log: Path, largest_file: int = 0) -> None:
        """``largest_file``: limit in bytes beyond which writes fail, as on a full disk."""
        self.log = log
        limits = {"RLIMIT_FSIZE": largest_file} if largest_file else {}
        with log.open("ab") as out, open(os.devnull, "rb") as nothing:
            files = (nothing.fileno(), out.fileno(), out.fileno())
            self._process = fork_server.start(command, environment, files, **limits)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def pids(self) -> set[int]:
        """Its process id and those of its children (a worker is the child of its supervisor)."""
        return {self.pid, *children_of(self.pid)}

    def interrupt(self) -> None:
        self._process.send_signal(signal.SIGINT)

    def terminate(self) -> None:
        """Send SIGTERM to the process, but not to its children."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Signal the whole group and wait until its leader has ended."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
        self._process.wait(timeout=30)

    @property
    def is_suspended(self) -> bool:
        """Whether SIGSTOP has reached the process or one of its children."""
        stats = [Path(f"/proc/{pid}/stat").read_text() for pid in self.pids]
        return any(stat.rpartition(")")[2].split()[0] == "T" for stat in stats)

    def hold(self) -> None:
        """Suspend the whole group until it is woken or killed."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def wake(self) -> None:
        os.killpg(self._process.pid, signal.SIGCONT)

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def ended(self, seconds: float = 60) -> int:
        """Wait until the process ends by itself and return its exit status."""
        return self._process.wait(timeout=seconds)


def children_of(pid: int) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                if int((entry / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry.name))
    return sorted(found)


def until(holds: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Wait until ``holds()`` is true; fail with a message about ``what`` after the timeout."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:g} s: {what}"
        time.sleep(0.02)


class Site:
    """One installation: a folder and a database."""

    def __init__(self, folder: Path, database_url: str, redis_url: str = "") -> None:
        self.folder = folder
        self.database_url = database_url
        self.failpoint = folder / "failpoint"
        #: Port that clients connect to: the web server's, or that of the proxy before it.
        self.port = self.web_port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.environment = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED} | {
            "DJANGO_SETTINGS_MODULE": "tests.processes.settings",
            "SECRET_KEY": secrets.token_urlsafe(50),
            "READ_DOT_ENV": "0",
            "DATA_DIR": str(folder),
            "LIMIT_ANSWERS_PER_MINUTE": "0",
            "LOG_LEVEL": "WARNING",
            "FAILPOINT": str(self.failpoint),
            "CLOCK": str(folder / "clock"),
            "SUSPEND": str(folder / "suspend"),
            "PYTHONPATH": str(fork_server.ROOT),
            "PYTHONUNBUFFERED": "1",
        }
        if database_url:
            self.environment["DATABASE_URL"] = database_url
        if redis_url:
            self.environment["REDIS_URL"] = redis_url
        self.web: Process | None = None
        self.others: list[Process] = []
        self._token = ""
        self._commands = CommandServer(folder)

    def start_manage(self, *arguments: str) -> Process:
        """Start a management command without waiting for it."""
        return self._other([sys.executable, "manage.py", *arguments], f"{arguments[0]}.log")

    def manage(self, *arguments: str, seconds: float = 300) -> str:
        return self._run(["manage.py", *arguments], seconds)

    def call(self, verb: str, *, module: str = "database_commands", **arguments: Any) -> Any:
        """Return the JSON that a function of `tests.processes.database_commands` (or of another module) returns."""
        return self.program(f"tests.processes.{module}", verb, json.dumps(arguments))

    def program(self, module: str, *arguments: str, seconds: float = 300) -> Any:
        """Return the JSON that another program prints."""
        return json.loads(self._run(["-m", module, *arguments], seconds))

    def _run(self, command: list[str], seconds: float) -> str:
        code, said, wrong = self._commands.run(command, self.environment, seconds)
        ended = f"{signal.Signals(-code).name} " if code < 0 else ""
        assert code == 0, ended + wrong
        return said

    def set_clock(self, seconds: float) -> None:
        """Shift the clock of all processes of the site by some seconds."""
        fresh = self.folder / "clock.new"
        fresh.write_text(str(seconds))
        fresh.replace(self.folder / "clock")

    def start_web(self, *, threads: int = 4, largest_file: int = 0) -> None:
        """Start gunicorn with two processes, as in production."""
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:config.gunicorn",
            "tests.processes.wsgi:application",
            "--bind",
            f"127.0.0.1:{self.web_port}",
            "--workers",
            "2",
            "--threads",
            str(threads),
            "--log-level",
            "error",
        ]
        self.web = Process(command, self.environment, self.folder / "web.log", largest_file)
        until(self._is_up, "the web server answers", 180)

    def start_web_behind_proxy(self, *, threads: int = 4, **timeouts: str) -> None:
        """Start the web server behind Caddy with the repository's Caddyfile. Raises `Missing` without Caddy."""
        self.web_port = free_port()
        command = proxy.command(self.folder, self.port, self.web_port, **timeouts)
        self.environment |= {"BEHIND_PROXY": "1", "ALLOWED_HOSTS": "127.0.0.1,localhost"}
        environment = dict(os.environ) | {"HOME": str(self.folder), "XDG_DATA_HOME": str(self.folder)}
        self.proxy = Process(command, environment, self.folder / "proxy.log")
        self.others.append(self.proxy)
        self.start_web(threads=threads)
        until(lambda: is_listening(self.port), "the proxy answers", 20)

    @property
    def readiness(self) -> str:
        """Address of the readiness check, which the proxy does not expose."""
        return f"http://127.0.0.1:{self.web_port}/readyz"

    def _is_up(self) -> bool:
        assert self.web
        assert self.web.is_running, self.web.log.read_text(errors="replace")[-2000:]
        try:
            with urllib.request.urlopen(self.readiness, timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def kill_web(self) -> None:
        """Kill master and workers at once with SIGKILL."""
        assert self.web
        self.web.kill()

    def start_worker(self, *queues: str, largest_file: int = 0) -> Process:
        """Start a worker as used without Redis."""
        command = [sys.executable, "manage.py", "work", "--poll", "0.1", *(f"--queue={queue}" for queue in queues)]
        return self._other(command, f"worker{len(self.others)}.log", largest_file)

    def start_celery(self) -> Process:
        """Start the default Celery worker with beat, as in production."""
        schedule = str(self.folder / f"beat-{len(self.others)}")
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "config",
            "worker",
            "--beat",
            "--pool=prefork",
            "--concurrency=1",
            "--loglevel=warning",
            "--schedule",
            schedule,
            "--without-gossip",
            "--without-mingle",
        ]
        return self._other(command, "celery.log")

    def start_gpu_celery(self) -> Process:
        """Start the Celery worker of the GPU queue, as in production."""
        command = [
            sys.executable,
            "-m",
            "celery",
            "-A",
            "config",
            "worker",
            "--pool=solo",
            "--queues=gpu",
            "--hostname=gpu@%h",
            "--loglevel=warning",
            "--without-gossip",
            "--without-mingle",
        ]
        return self._other(command, "gpu.log")

    def _other(self, command: list[str], log: str, largest_file: int = 0) -> Process:
        started = Process(command, self.environment, self.folder / log, largest_file)
        self.others.append(started)
        return started

    def stop(self) -> None:
        for process in [self.web, *self.others]:
            if process:
                process.kill()
        self._commands.stop()

    def lead(self) -> Client:
        self._token = self._token or self.call("make_lead", email=LEAD)
        return Client(Http(self.address), token=self._token)

    def study(self, name: str = "Faults") -> Study:
        return Study.create(self.lead(), name)

    def client(self, ledger: Ledger | None = None, **options: Any) -> Client:
        return Client(Http(self.address), ledger=ledger, **options)


class Redis:
    """A Redis server that can be stopped, restarted on the same port, and flushed."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder, self.program, self.port = folder, program, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process: Process | None = None

    def start(self) -> None:
        command = [self.program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self.process = Process([*command, "--dir", str(self.folder)], dict(os.environ), self.folder / "redis.log")
        until(lambda: is_listening(self.port), "Redis answers", 20)

    def stop(self) -> None:
        if self.process:
            self.process.kill()
        self.process = None

    def wipe(self) -> None:
        import redis

        with redis.Redis(port=self.port) as connection:
            connection.flushall()

    def push(self, message: bytes) -> None:
        """Put a raw message into the queue."""
        import redis

        with redis.Redis(port=self.port) as connection:
            connection.lpush("default", message)

    def listening(self) -> int:
        """Return how many workers wait for a message."""
        import redis

        with redis.Redis(port=self.port) as connection:
            return sum(client["cmd"] == "brpop" for client in connection.client_list())

    def waiting(self) -> int:
        """Return how many messages are in the queue."""
        import redis

        with redis.Redis(port=self.port) as connection:
            return int(connection.llen("default"))
