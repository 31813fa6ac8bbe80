"""Create temporary databases, folders and servers for benchmarks, and measure their processes."""

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.stages import proxy, servers

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
NOT_INHERITED = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DEBUG", "ALLOWED_HOSTS", "DATA_DIR", "HTTPS"}
Server = subprocess.Popen[bytes]


@contextmanager
def ending_in_order() -> Iterator[None]:
    """End the block like an error on SIGTERM or SIGHUP, so that processes, folders and databases are removed.

    Further signals are ignored during the cleanup.
    """

    def end(number: int, _: Any) -> None:
        for one in ENDINGS:
            signal.signal(one, signal.SIG_IGN)
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():  # only the main thread can handle signals
        yield
        return
    before = {number: signal.signal(number, end) for number in ENDINGS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def postgres() -> Iterator[str]:
    """Yield the address of a PostgreSQL with fsync: the server of DATABASE_URL, or a temporary one."""
    given = os.environ.get("DATABASE_URL", "")
    if given.startswith(("postgres://", "postgresql://")):
        yield given
    else:
        with ending_in_order(), servers.postgres(fsync=True) as url:
            yield url


def on_each(engines: Sequence[str], skipped: list[str], do: Callable[[str, str], None]) -> None:
    """Call ``do`` with each engine and the address of its server, which is empty for SQLite.

    Add missing servers to ``skipped``.
    """
    for engine in engines:
        with ExitStack() as stack:
            try:
                server = stack.enter_context(postgres()) if engine == "postgres" else ""
            except servers.Missing as missing:
                skipped.append(str(missing))
                continue
            do(engine, server)


@dataclass
class Place:
    """An application with its own database and folder."""

    settings: str
    wsgi: str
    verbs: str
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    #: Port of the clients and port of the web server. They are equal without a proxy.
    port: int = 0
    web_port: int = 0
    server: Server | None = None
    proxy: Server | None = None
    worker: Server | None = None

    def call(self, verb: str, **arguments: Any) -> Any:
        """Run a verb of the `inside` module in a separate process and return its JSON."""
        return self._run([sys.executable, "-m", self.verbs, verb], json.dumps(arguments))

    def manage(self, *arguments: str) -> None:
        self._run([sys.executable, "-m", "django", *arguments], "")

    def _run(self, command: list[str], given: str) -> Any:
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, input=given, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command[2:])} failed:\n{done.stderr[-3000:]}")
        return json.loads(done.stdout) if done.stdout else None

    @property
    def temporary(self) -> Path:
        """The folder for temporary files of its processes."""
        return self.folder / "tmp"

    def start(self, workers: int = 2, threads: int = 4) -> float:
        """Start gunicorn as in the image, for both applications. Return the seconds to the first reply."""
        self.port = self.web_port = servers.free_port()
        return self._serve(["--threads", str(threads)], workers)

    def start_production(self) -> None:
        """Start gunicorn with the production configuration behind the proxy, and a worker for background jobs."""
        self.port, self.web_port = servers.free_port(), servers.free_port()
        try:
            self.proxy = self._process(proxy.command(self.folder, self.port, self.web_port), "proxy.log")
        except servers.Missing as missing:
            print(f"{missing}: without it, slow clients stop the server", file=sys.stderr)
            self.port = self.web_port
        self._serve([], workers=2)
        self.worker = self._process([sys.executable, "manage.py", "work"], "worker.log")

    def _serve(self, options: list[str], workers: int) -> float:
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:config.gunicorn",
            f"{self.wsgi}:application",
            "--bind",
            f"127.0.0.1:{self.web_port}",
            "--workers",
            str(workers),
            "--log-level",
            "error",
            *options,
        ]
        begun = time.perf_counter()
        self.server = self._process(command, "web.log")
        while not self._answers():
            if self.server.poll() is not None or time.perf_counter() - begun > 60:
                raise RuntimeError((self.folder / "web.log").read_text(errors="replace")[-3000:])
            time.sleep(0.01)
        return time.perf_counter() - begun

    def _process(self, command: list[str], log: str) -> Server:
        """Start a program as the leader of its own process group."""
        with (self.folder / log).open("ab") as out:
            return subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.web_port}/readyz", timeout=5) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def stop(self) -> None:
        for process in (self.proxy, self.server, self.worker):
            if process:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=30)
        self.proxy = self.server = self.worker = None

    def processes(self) -> list[int]:
        """Return the server's processes: gunicorn's master and its workers."""
        assert self.server
        return processes_of(self.server)

    def cpu_seconds(self) -> float:
        """Return user and system time of the server's processes so far."""
        total = 0
        for pid in self.processes():
            with suppress(OSError):
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                total += int(fields[11]) + int(fields[12])
        return total / TICKS

    def memory_mb(self) -> float:
        """Return the memory of the server's processes in MB, with shared memory counted once (PSS)."""
        return memory_of(self.server)


def processes_of(leader: Server | None) -> list[int]:
    """Return the process ids of a program and its descendants; empty if it does not run."""
    return [pid for pid, group in _groups() if leader and group == leader.pid]


def memory_of(leader: Server | None) -> float:
    """Return the memory (PSS) of a program and its descendants in MB."""
    total = 0
    for pid in processes_of(leader):
        with suppress(OSError):
            for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1000


def _groups() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, IndexError):
                yield int(entry.name), int((entry / "stat").read_text().rpartition(")")[2].split()[2])


@contextmanager
def place(name: str, server: str = "") -> Iterator[Place]:
    """Yield ``concord`` or ``reference``, migrated and empty, on SQLite or on a new database in ``server``.

    All resources are removed at the end.
    """
    with ending_in_order(), ExitStack() as cleaning:
        yield _made(name, server, cleaning)


def _made(name: str, server: str, cleaning: ExitStack) -> Place:
    is_concord = name == "concord"
    folder = Path(tempfile.mkdtemp(prefix=f"bench-{name}-"))
    cleaning.callback(shutil.rmtree, folder, ignore_errors=True)
    made = Place(
        settings="config.settings" if is_concord else "benchmarks.reference.settings",
        wsgi="config.wsgi" if is_concord else "benchmarks.reference.wsgi",
        verbs="benchmarks.inside" if is_concord else "benchmarks.reference.inside",
        folder=folder,
    )
    made.environment = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED} | {
        "DJANGO_SETTINGS_MODULE": made.settings,
        "SECRET_KEY": secrets.token_urlsafe(50),
        "READ_DOT_ENV": "0",
        "LIMIT_ANSWERS_PER_MINUTE": "0",
        "DATA_DIR": str(folder),
        "LOG_LEVEL": "WARNING",
        "PYTHONPATH": str(ROOT),
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(made.temporary),
    }
    made.temporary.mkdir()
    base = f"bench_{name}_{os.getpid()}_{secrets.token_hex(3)}"
    if server:
        cleaning.callback(_sql, server, f"DROP DATABASE IF EXISTS {base} WITH (FORCE)")
        _sql(server, f"CREATE DATABASE {base}")
        made.environment["DATABASE_URL"] = urlsplit(server)._replace(path=f"/{base}").geturl()
    cleaning.callback(made.stop)
    made.manage("migrate", "-v0")
    return made


def _sql(server: str, statement: str) -> None:
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement.encode())
