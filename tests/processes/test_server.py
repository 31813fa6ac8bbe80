"""gunicorn with Concord's configuration, alone and behind the proxy, with slow clients (reliability row 47).

One process with two threads serves a small application. `test_slow_clients.py` tests Concord as a whole.
"""

import hashlib
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes.conftest import ON_POSTGRES
from tests.processes.site import Process, until
from tests.stages import proxy
from tests.stages.servers import Missing, free_port, is_listening

pytestmark = [
    pytest.mark.processes,
    pytest.mark.row(47),
    pytest.mark.skipif(ON_POSTGRES, reason="no database is involved: see the run on SQLite"),
]
THREADS = 2
MANY = 16
FORM = "Content-Type: multipart/form-data; boundary=x"


class Client:
    """A connection that sends and receives bytes."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)

    def send(self, data: bytes | str) -> "Client":
        self.sock.sendall(data.encode() if isinstance(data, str) else data)
        return self

    def request(self, path: str, method: str = "GET", body: bytes = b"", *headers: str) -> "Client":
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers]
        if body and not any(line.lower().startswith("content-length") for line in headers):
            lines.append(f"Content-Length: {len(body)}")
        return self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def reply(self) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of a reply with Content-Length."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            if not (data := self.sock.recv(1)):
                raise EOFError(head)
            head += data
        first, *lines = head.decode().strip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        length, body = int(headers.get("content-length", 0)), b""
        while len(body) < length and (data := self.sock.recv(min(65536, length - len(body)))):
            body += data
        return int(first.split()[1]), headers, body

    def until_closed(self, within: float = 8.0) -> bytes:
        """Read until the server closes the connection."""
        self.sock.settimeout(within)
        received = b""
        with suppress(ConnectionResetError):
            while data := self.sock.recv(1 << 20):
                received += data
        return received

    def trickle(self, seconds: float) -> None:
        """Send single bytes until the connection is closed."""
        end = time.monotonic() + seconds
        with suppress(OSError):
            while time.monotonic() < end:
                self.send("x")
                time.sleep(0.1)


class Server:
    """The application under gunicorn; with ``timeouts`` behind the proxy."""

    def __init__(self, folder: Path, **timeouts: str) -> None:
        self.clients: list[Client] = []
        self.port = web_port = free_port()
        self.processes: list[Process] = []
        if timeouts:
            web_port = free_port()
            command = proxy.command(folder, self.port, web_port, **timeouts)
            environment = dict(os.environ) | {"HOME": str(folder), "XDG_DATA_HOME": str(folder)}
            self.processes.append(Process(command, environment, folder / "proxy.log"))
        command = [
            sys.executable,
            "-m",
            "gunicorn",
            "--config",
            "python:config.gunicorn",
            "tests.processes.plain_app:application",
            "--bind",
            f"127.0.0.1:{web_port}",
            "--workers",
            "1",
            "--threads",
            str(THREADS),
            "--graceful-timeout",
            "4",
        ]
        self.web = Process(command, dict(os.environ), folder / "web.log")
        self.processes.append(self.web)
        until(lambda: is_listening(web_port) and is_listening(self.port), "the server answers", 30)

    def client(self) -> Client:
        self.clients.append(Client(self.port))
        return self.clients[-1]

    def close_clients(self) -> None:
        for client in self.clients:
            client.sock.close()
        self.clients.clear()

    def is_quick(self) -> bool:
        """Return whether more clients than threads are answered at once."""
        began = time.monotonic()
        for _ in range(THREADS + 1):
            assert self.client().request("/hello").reply()[2] == b"hello\n"
        return time.monotonic() - began < 2.0

    def stop(self) -> None:
        for process in self.processes:
            process.kill()


@pytest.fixture(scope="module")
def behind_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    try:
        server = Server(tmp_path_factory.mktemp("server"), read_header="1s", read_body="4s", write="8s")
    except Missing as missing:
        pytest.skip(str(missing))
    yield server
    server.stop()


@pytest.fixture
def server(behind_proxy: Server) -> Iterator[Server]:
    yield behind_proxy
    behind_proxy.close_clients()
    assert behind_proxy.is_quick(), "clients of an earlier test hold no thread"
    behind_proxy.close_clients()


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Callable[[], Server]]:
    servers: list[Server] = []

    def start() -> Server:
        servers.append(Server(tmp_path))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def test_a_connection_serves_many_requests_also_when_they_are_sent_at_once(server: Server) -> None:
    client = server.client()
    for n in (0, 1, 5000, 99_000):
        assert client.request("/length", "POST", os.urandom(n)).reply()[2].split()[0] == str(n).encode()
    client.send(b"GET /hello HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 20)
    assert [client.reply()[2] for _ in range(20)] == [b"hello\n"] * 20


def test_an_unread_body_does_not_become_the_next_request(server: Server, alone: Callable[[], Server]) -> None:
    hidden = b"GET /refuse HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for each in (server, alone()):
        client = each.client()
        assert client.request("/hello", "POST", hidden).reply()[2] == b"hello\n"
        assert client.request("/hello").reply()[2] == b"hello\n"


@pytest.mark.parametrize(
    "begin",
    ["", "GET /hello HT", "POST /length HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\nabc"],
    ids=["nothing", "a head", "a body"],
)
def test_silent_clients_hold_no_thread_and_are_closed(server: Server, begin: str) -> None:
    waiting = [server.client().send(begin) for _ in range(MANY)]
    assert server.is_quick()
    assert not [client for client in waiting if b"X-Served-By" in client.until_closed()]


@pytest.mark.parametrize("kind", ["head", "body"])
def test_a_client_that_sends_single_bytes_is_disconnected(server: Server, kind: str) -> None:
    waiting = [server.client() for _ in range(MANY)]
    for client in waiting:
        if kind == "head":
            client.send("GET /hello HTTP/1.1\r\nX-Y: ")
        else:
            client.request("/length", "POST", b"x", "Content-Length: 4000")
    tricklers = [threading.Thread(target=client.trickle, args=(8,)) for client in waiting]
    for trickler in tricklers:
        trickler.start()
    assert server.is_quick()
    began = time.monotonic()
    assert not [client for client in waiting if b"X-Served-By" in client.until_closed()]
    assert time.monotonic() - began < 6
    server.close_clients()
    for trickler in tricklers:
        trickler.join()


def test_an_honest_client_that_is_slow_gets_its_reply(server: Server) -> None:
    body = os.urandom(6000)
    client = server.client().request("/length", "POST", b"", f"Content-Length: {len(body)}")
    for n in range(0, len(body), 300):
        client.send(body[n : n + 300])
        time.sleep(0.1)
    assert client.reply()[2] == f"6000 {hashlib.sha256(body).hexdigest()[:8]}\n".encode()


def test_an_upload_is_passed_on_before_it_is_whole_and_its_refusal_is_read(server: Server) -> None:
    client = server.client().request("/refuse", "POST", b"", FORM, "Content-Length: 3000000")
    client.send(os.urandom(200_000))
    time.sleep(0.5)
    client.send(os.urandom(1000))  # before 2.8 Caddy forwards an early reply only with the next bytes of the body
    assert client.reply()[0] == 413


def test_an_upload_of_any_length_arrives_whole(server: Server) -> None:
    body = os.urandom(4_000_000)
    expected = f"4000000 {hashlib.sha256(body).hexdigest()[:8]}\n".encode()
    assert server.client().request("/length", "POST", body, FORM).reply()[2] == expected


def test_clients_that_do_not_read_their_reply_hold_no_thread(server: Server) -> None:
    for _ in range(MANY):
        server.client().request("/large?n=2000000")
    assert server.is_quick()


def test_a_server_that_is_stopped_answers_the_requests_that_it_has(alone: Callable[[], Server]) -> None:
    server = alone()
    idle = server.client()
    assert idle.request("/hello").reply()[0] == 200
    busy = server.client().request("/sleep?s=1")
    time.sleep(0.3)
    server.web.terminate()
    time.sleep(0.2)
    status, headers, _ = idle.request("/hello").reply()
    assert (status, headers["connection"]) == (200, "close")
    assert busy.reply()[2] == b"slept\n"
    server.close_clients()
    assert server.web.ended(8) == 0


def test_a_process_that_dies_is_replaced(alone: Callable[[], Server]) -> None:
    server = alone()
    until(lambda: server.web.pids - {server.web.pid}, "its process is there", 10)
    (child,) = server.web.pids - {server.web.pid}
    os.kill(child, signal.SIGKILL)
    until(lambda: server.web.pids - {server.web.pid, child}, "another process is there", 10)
    assert server.is_quick()
