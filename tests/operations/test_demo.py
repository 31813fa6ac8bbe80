"""``manage.py demo``: from an empty folder to a person at work, a crash of the web server, and a clean end."""

import http.cookiejar
import json
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError

from config.secret_key import kept_secret_key
from operations.management.commands import demo
from tests.stages.servers import free_port

NOT_INHERITED = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "DEBUG", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS"}


class Demo:
    """A running demo and its output lines."""

    def __init__(self, folder: Path, port: int) -> None:
        environment = {k: v for k, v in os.environ.items() if k not in NOT_INHERITED}
        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "demo", "--port", str(port)],
            cwd=settings.ROOT,
            env=environment | {"DATA_DIR": str(folder), "READ_DOT_ENV": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def hears(self, pattern: str, seconds: float = 180) -> re.Match[str]:
        """Wait for a line."""

        def found() -> re.Match[str] | None:
            return next((m for line in list(self.lines) if (m := re.search(pattern, line))), None)

        until(lambda: found() or self.process.poll() is not None, seconds, self)
        match = found()
        assert match, f"{pattern!r} was not said:\n" + "\n".join(self.lines)
        return match


def until(holds: Callable[[], object], seconds: float, demo: Demo) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds} s; the demo said:\n" + "\n".join(demo.lines)
        time.sleep(0.1)


class Browser:
    """Keeps cookies and sends the CSRF token, as a page does."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))

    def call(self, path: str, body: Any = None) -> tuple[int, Any]:
        token = next((c.value or "" for c in self.cookies if c.name == "csrftoken"), "")
        headers = {"Content-Type": "application/json", "X-CSRFToken": token, "Origin": self.address}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", data=data, headers=headers)
        try:
            with self.opener.open(request, timeout=20) as reply:
                return reply.status, json.load(reply)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[], Demo]]:
    """``begin()`` starts a demo in an empty folder."""
    begun: list[Demo] = []

    def begin() -> Demo:
        begun.append(Demo(tmp_path / "var", free_port()))
        return begun[-1]

    yield begin
    for one in begun:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGTERM)
            try:
                one.process.wait(30)
            except subprocess.TimeoutExpired:
                one.process.kill()


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.processes
def test_demo_starts_works_through_a_killed_server_stops_and_restarts(
    begin: Callable[[], Demo], tmp_path: Path
) -> None:
    running = begin()
    link = running.hears(r"Anna Annotator \(annotator\)\s+(http://127\.0\.0\.1:\d+)/enter#(\S+)")
    address, token = link.groups()
    for name in ("Lea Lead", "Ben Annotator", "Eva Evaluator"):
        running.hears(rf"{name} \(\w+\)\s+{address}/enter#")
    assert stat.S_IMODE((tmp_path / "var" / "secret_key").stat().st_mode) == 0o600

    browser = Browser(address)
    assert browser.call("session/")[0] == 401
    status, session = browser.call("session/link/", {"token": token})
    assert (status, session["user"]["email"]) == (200, "ann1@example.org")
    assert Browser(address.replace("127.0.0.1", "localhost")).call("session/")[0] == 401  # not 400: the host is allowed
    assert "First labels" in json.dumps(browser.call("my-work/"))

    before = int(running.hears(r"web: started as process (\d+)\.")[1])
    os.kill(before, signal.SIGKILL)
    running.hears(r"web: was killed by SIGKILL; restarting in 0\.5 s\.")
    after = int(running.hears(r"web: restarted as process (\d+)\.")[1])
    until(lambda: demo.answers(f"{address}/readyz"), 60, running)
    assert "First labels" in json.dumps(browser.call("my-work/")), "the session did not outlive the web server"

    worker = int(running.hears(r"worker: started as process (\d+)\.")[1])
    assert is_alive(after)
    assert is_alive(worker)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(30) == 0
    assert not is_alive(after)
    assert not is_alive(worker)
    assert not demo.answers(f"{address}/readyz")
    assert not any("Traceback" in line for line in running.lines)
    if sys.platform == "linux":  # only Linux signals the death of a parent to its children
        servers_do_not_outlive_a_supervisor_that_is_killed(begin())


def servers_do_not_outlive_a_supervisor_that_is_killed(running: Demo) -> None:
    running.hears("Concord is ready")
    pids = [int(running.hears(rf"{name}: started as process (\d+)\.")[1]) for name in ("web", "worker")]
    running.process.kill()
    running.process.wait(10)
    until(lambda: not any(is_running(pid) for pid in pids), 30, running)


def is_running(pid: int) -> bool:
    """Return whether a process is running, not counting a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_occupied_port_is_skipped() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert demo.free_port("127.0.0.1", port) > port


def test_an_address_that_is_not_of_this_machine_is_one_clear_line() -> None:
    with pytest.raises(CommandError, match=r"No port from 65535 to 65535 is available on 192\.0\.2\.1"):
        demo.free_port("192.0.2.1", 65535)


def test_the_secret_key_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    first = kept_secret_key(tmp_path / "new")
    assert len(first) >= 50
    assert kept_secret_key(tmp_path / "new") == first
    assert kept_secret_key(tmp_path / "other") != first
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["secret_key"]


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1", []),
        ("localhost", []),
        ("::1", []),
        ("192.0.2.7", ["192.0.2.7"]),
        ("0.0.0.0", [socket.gethostname().lower()]),
    ],
)
def test_the_server_answers_to_its_own_names_only(host: str, known: list[str]) -> None:
    assert demo.hosts(host) == ["localhost", "127.0.0.1", "[::1]", *known]


def test_a_key_from_the_environment_is_used_and_none_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    monkeypatch.setenv("SECRET_KEY", "k" * 50)
    monkeypatch.setenv("DEBUG", "1")
    web, worker = demo.children("127.0.0.1", 8000)
    assert web.environment["SECRET_KEY"] == worker.environment["SECRET_KEY"] == "k" * 50
    assert web.environment["DEBUG"] == worker.environment["DEBUG"] == "0"
    assert list(tmp_path.iterdir()) == []
