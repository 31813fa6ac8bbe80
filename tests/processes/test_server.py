"""The web server's worker against clients that take their time, lie, or leave (reliability row 47).

One process with two threads that serves a small application, with limits of a second. What it does for Concord as a
whole, `test_slow_clients.py` shows.
"""

import hashlib
import os
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.processes.conftest import ON_POSTGRES
from tests.processes.house import Process, until
from tests.stages.servers import answers, free_port

pytestmark = [
    pytest.mark.processes,
    pytest.mark.row(47),
    pytest.mark.skipif(ON_POSTGRES, reason="it knows no data base: see the run on SQLite"),
]
THREADS = 2
MANY = 24
FORM = "Content-Type: multipart/form-data; boundary=x"


class Client:
    """A connection of bytes."""

    def __init__(self, port: int) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), timeout=10)

    def send(self, data: bytes | str) -> "Client":
        self.sock.sendall(data.encode() if isinstance(data, str) else data)
        return self

    def ask(self, path: str, method: str = "GET", body: bytes = b"", *headers: str) -> "Client":
        lines = [f"{method} {path} HTTP/1.1", "Host: x", *headers]
        if body and not any(line.lower().startswith("content-length") for line in headers):
            lines.append(f"Content-Length: {len(body)}")
        return self.send("\r\n".join([*lines, "", ""]).encode() + body)

    def reply(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one reply that says its length."""
        first, *lines = self.head().decode().strip().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
        left, body = int(headers.get("content-length", 0)), b""
        while len(body) < left and (data := self.sock.recv(min(65536, left - len(body)))):
            body += data
        return int(first.split()[1]), headers, body

    def head(self) -> bytes:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            data = self.sock.recv(1)
            if not data:
                raise EOFError(head)
            head += data
        return head

    def status(self) -> int:
        return self.reply()[0]

    def rest(self) -> bytes:
        """Everything until the server closes."""
        out = []
        while data := self.sock.recv(1 << 20):
            out.append(data)
        return b"".join(out)

    def end(self, within: float = 5.0) -> bytes:
        """What is told until the server closes, which it does in time; nothing where it cuts the connection."""
        self.sock.settimeout(within)
        try:
            return self.rest()
        except ConnectionResetError:
            return b""

    def trickle(self, seconds: float) -> None:
        """A byte now and then, until the server has had enough of it."""
        end = time.monotonic() + seconds
        with suppress(OSError):
            while time.monotonic() < end:
                self.send("x")
                time.sleep(0.1)

    def close(self) -> None:
        self.sock.close()


class Server:
    def __init__(self, folder: Path, port: int, *options: str, **environment: str) -> None:
        self.port, self.log = port, folder / f"server-{port}.log"
        command = [
            sys.executable, "-m", "gunicorn", "tests.processes.plain:application", "--bind", f"127.0.0.1:{port}",
            "--worker-class", "tests.processes.plain.Hasty", "--threads", str(THREADS), "--no-control-socket",
            "--graceful-timeout", "4", "--keep-alive", "3", *options,
        ]  # fmt: skip
        self.process = Process(command, os.environ | environment, self.log)
        self.clients: list[Client] = []
        until(lambda: answers(port), "the server answers", 20)

    def client(self) -> Client:
        self.clients.append(Client(self.port))
        return self.clients[-1]

    def forget(self) -> None:
        for client in self.clients:
            client.close()
        self.clients.clear()

    def is_quick(self) -> bool:
        """Whether a new client, and each of as many as there are threads, is answered at once."""
        began = time.monotonic()
        for _ in range(THREADS + 1):
            assert self.client().ask("/hello").reply()[2] == b"hello\n"
        return time.monotonic() - began < 2.0


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("server"), free_port())
    yield server
    server.process.kill()


@pytest.fixture
def server(started: Server) -> Iterator[Server]:
    yield started
    started.forget()
    assert started.is_quick(), "whoever was there before has gone"
    started.forget()
    assert "Traceback" not in started.log.read_text()


@pytest.fixture
def another(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*options: str, **environment: str) -> Server:
        servers.append(Server(tmp_path, free_port(), *options, **environment))
        return servers[-1]

    yield start
    for server in servers:
        server.process.kill()


def test_a_connection_serves_many_requests_also_when_they_are_sent_at_once(server: Server) -> None:
    client = server.client()
    for n in (0, 1, 5000, 99_000):
        body = os.urandom(n)
        assert client.ask("/length", "POST", body).reply()[2].split()[0] == str(n).encode()
    client.send(b"".join(f"GET /hello HTTP/1.1\r\nHost: x\r\nX-N: {n}\r\n\r\n".encode() for n in range(20)))
    assert [client.reply()[2] for _ in range(20)] == [b"hello\n"] * 20
    head = "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
    client.send(f"{head}abc{head}de")
    assert client.reply()[2].startswith(b"3 ")
    client.send("f")
    assert client.reply()[2].startswith(b"3 ")


def test_a_body_that_the_application_does_not_read_does_not_become_the_next_request(server: Server) -> None:
    client = server.client()
    smuggled = b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n"
    assert client.ask("/hello", "POST", smuggled).reply()[2] == b"hello\n"
    assert client.ask("/hello").reply()[2] == b"hello\n"


def test_replies_are_framed_as_they_must_be(server: Server) -> None:
    client = server.client()
    client.send("HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"Content-Length: 6" in client.head()
    assert client.ask("/hello").reply()[2] == b"hello\n", "no body came after the head"
    told = server.client().send("GET /hello HTTP/1.0\r\n\r\n").rest()
    assert told.endswith(b"\r\n\r\nhello\n")
    told = server.client().ask("/pieces?n=3", "GET", b"", "Connection: close").rest()
    assert told.count(b"10000\r\n") == 3
    assert told.endswith(b"\r\n0\r\n\r\n")
    assert len(server.client().ask("/file?n=40", "GET", b"").reply()[2]) == 40 * 65536


@pytest.mark.parametrize(
    "begin",
    ["", "GET /hello HT", "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n\r\nabc",
     "POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n"],
    ids=["nothing", "a head", "a body", "told to begin"],
)  # fmt: skip
def test_clients_that_do_not_go_on_hold_no_thread_and_are_closed(server: Server, begin: str) -> None:
    waiting = [server.client().send(begin) for _ in range(MANY)]
    assert server.is_quick()
    for client in waiting:
        told = client.end()
        assert told == b"" if not begin else b"HTTP/1.1 408 Request Timeout\r\n" in told


@pytest.mark.parametrize("kind", ["head", "body", "upload"])
def test_a_byte_now_and_then_does_not_keep_a_connection(server: Server, kind: str) -> None:
    length = "Content-Length: 4000"
    waiting = [server.client() for _ in range(MANY if kind != "upload" else 1)]
    for client in waiting:
        if kind == "head":
            client.send("GET /hello HTTP/1.1\r\nX-Y: ")
        else:
            client.ask("/length", "POST", b"x", length, *([FORM] if kind == "upload" else []))
    tricklers = [threading.Thread(target=client.trickle, args=(4,)) for client in waiting]
    for trickler in tricklers:
        trickler.start()
    assert server.is_quick()
    began = time.monotonic()
    for client in waiting:
        assert b" 200 " not in client.end()
    assert time.monotonic() - began < 3
    for client in waiting:
        client.close()
    for trickler in tricklers:
        trickler.join()


def test_who_is_slow_and_honest_gets_through(server: Server) -> None:
    body = os.urandom(6000)
    client = server.client().ask("/length", "POST", b"", f"Content-Length: {len(body)}")
    for n in range(0, len(body), 300):
        client.send(body[n : n + 300])
        time.sleep(0.12)
    assert client.reply()[2] == f"6000 {hashlib.sha256(body).hexdigest()[:8]}\n".encode()


def test_a_long_body_is_read_by_the_application_as_it_comes(server: Server) -> None:
    body = os.urandom(1_000_000)
    expected = f"1000000 {hashlib.sha256(body).hexdigest()[:8]}\n".encode()
    client = server.client()
    assert client.ask("/length", "POST", body).reply()[2] == expected
    assert client.ask("/length", "POST", body, FORM).reply()[2] == expected, "and the connection goes on"


def test_a_refused_upload_is_not_read_and_its_sender_reads_why(server: Server) -> None:
    client = server.client().ask("/refuse", "POST", b"", FORM, "Content-Length: 3000000")
    client.send(os.urandom(200_000))
    status, headers, _ = client.reply()
    assert (status, headers["connection"]) == (413, "close")
    client.send(os.urandom(200_000))  # no broken pipe: it is thrown away for a moment
    assert client.end() == b""


def test_who_waits_to_be_told_to_begin_is_told_when_the_body_will_be_read(server: Server) -> None:
    expect = ("Expect: 100-continue", "Content-Length: 10")
    small = server.client().ask("/length", "POST", b"", *expect)
    assert small.reply()[0] == 100
    assert small.send("0123456789").reply()[2].startswith(b"10 ")
    large = server.client().ask("/length", "POST", b"", *expect, FORM)
    assert large.reply()[0] == 100
    assert large.send("0123456789").reply()[2].startswith(b"10 ")
    refused = server.client().ask("/refuse", "POST", b"", *expect, FORM)
    assert refused.reply()[0] == 413, "and not 100 before"


def test_bodies_in_chunks_are_read_as_they_come(server: Server) -> None:
    client = server.client().ask("/length", "POST", b"", "Transfer-Encoding: chunked")
    for piece in (b"abc", b"de", b""):
        client.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        time.sleep(0.05)
    assert client.reply()[2].startswith(b"5 ")


def test_a_client_that_leaves_in_the_middle_of_a_body_gives_no_part_of_it_to_the_application(server: Server) -> None:
    for headers in ((), (FORM,)):
        client = server.client().ask("/length", "POST", b"ab", "Content-Length: 10", *headers)
        client.sock.shutdown(socket.SHUT_WR)
        assert b" 200 " not in client.end()


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("nonsense\r\n\r\n", 400),
        ("GET /hello HTTP/1.1\r\nno colon\r\n\r\n", 400),
        ("POST /length HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n", 400),
        ("POST /length HTTP/1.1\r\nContent-Length: \xb2\r\n\r\n", 400),
        ("POST /length HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n", 400),
        ("POST /length HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        ("GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        ("GET /hello HTTP/1.1\r\nExpect: wonders\r\n\r\n", 417),
        (f"GET /{'x' * 5000} HTTP/1.1\r\n\r\n", 431),
        ("GET /hello HTTP/1.1\r\n" + "X-Y: z\r\n" * 120 + "\r\n", 431),
        ("GET /broken HTTP/1.1\r\n\r\n", 500),
    ],
)
def test_what_cannot_be_served_is_told_in_problem_details_and_never_in_html(
    server: Server, request_: str, status: int
) -> None:
    client = server.client().send(request_.encode("latin-1"))
    told, headers, body = client.reply()
    assert (told, headers["content-type"], headers["connection"]) == (status, "application/problem+json", "close")
    assert b"<" not in body
    assert client.end() == b""
    if status == 500:
        log = server.log.read_text()
        assert "ZeroDivisionError" in log
        server.log.write_text(log.replace("Traceback", "A traceback"))


def test_readers_who_do_not_read_hold_no_thread_and_what_they_asked_for_is_let_go(server: Server) -> None:
    before = int(server.client().ask("/closed").reply()[2])
    slow = [server.client().ask(path) for path in ("/pieces?n=1000", "/file?n=1000") for _ in range(MANY // 2)]
    assert server.is_quick()
    until(lambda: int(server.client().ask("/closed").reply()[2]) >= before + MANY // 2, "they are let go", 8)
    time.sleep(1.5)  # the files too, which are not counted
    for client in slow:
        assert len(client.end()) < 1000 * 65536


def test_a_reader_who_takes_its_time_gets_everything(server: Server) -> None:
    for path in ("/pieces?n=200", "/file?n=200"):
        client = server.client().ask(path, "GET", b"", "Connection: close")
        size = 0
        while data := client.sock.recv(400_000):
            size += len(data)
            time.sleep(0.01)
        assert size > 200 * 65536


def test_long_replies_take_turns_with_short_ones(server: Server) -> None:
    clients = [server.client().ask("/pieces?n=200&each=0.01", "GET", b"", "Connection: close") for _ in range(4)]
    readers = [threading.Thread(target=client.rest) for client in clients]
    for reader in readers:
        reader.start()
    assert server.is_quick()
    assert any(reader.is_alive() for reader in readers), "they were at it meanwhile"
    for reader in readers:
        reader.join()


def test_a_reply_that_ends_before_its_length_closes_the_connection(server: Server) -> None:
    client = server.client().ask("/file?n=1&more=5")
    assert len(client.reply()[2]) == 65536


def test_clients_that_do_not_close_hold_nobody_up(server: Server) -> None:
    """gunicorn's own worker waits two seconds for each in its only loop."""
    clients = [server.client().ask("/hello", "GET", b"", "Connection: close") for _ in range(MANY)]
    assert server.is_quick()
    for client in clients:
        assert client.status() == 200


def test_connections_between_requests_make_room_for_new_ones(another: Callable[..., Server]) -> None:
    server = another("--worker-connections", "30")
    idle = [server.client() for _ in range(29)]
    for client in idle:
        assert client.ask("/hello").status() == 200
    slow = server.client().send("POST /length HTTP/1.1\r\nContent-Length: 4\r\n\r\nab")
    newcomers = [server.client() for _ in range(20)]
    for client in newcomers:
        assert client.ask("/hello").status() == 200
    assert slow.send("cd").reply()[2].startswith(b"4 "), "who is in the middle of a request stays"
    assert [client.end(0.5) for client in idle[:15]] == [b""] * 15
    for _ in range(60):
        server.client().send("GET /hel")
    assert server.is_quick(), "then those with the least time left go"


def test_memory_for_bodies_that_are_not_whole_is_limited_for_all_together(server: Server) -> None:
    large = [
        server.client().ask("/length", "POST", b"", "Content-Length: 90000").send(b"x" * 80_000) for _ in range(MANY)
    ]
    little = server.client().ask("/length", "POST", b"", "Content-Length: 20").send(b"x" * 10)
    assert server.is_quick()
    assert little.send(b"x" * 10).status() == 200, "small ones are none of those"
    told = []
    for client in large:
        try:
            told.append(client.send(b"x" * 10_000).status())
        except (OSError, EOFError):
            told.append(503)
    assert 200 in told
    assert 503 in told


def test_a_server_that_is_stopped_answers_what_it_has_and_goes(another: Callable[..., Server]) -> None:
    server = another()
    idle = server.client()
    assert idle.ask("/hello").status() == 200
    at_work = server.client().ask("/sleep?s=0.7")
    in_the_middle = server.client().send("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab")
    time.sleep(0.2)
    server.process.terminate()
    time.sleep(0.2)
    status, headers, _ = idle.ask("/hello").reply()
    assert (status, headers["connection"]) == (200, "close")
    in_the_middle.send("cd")
    for client in (at_work, in_the_middle):
        status, headers, _ = client.reply()
        assert (status, headers["connection"]) == (200, "close")
        client.close()
    idle.close()
    assert server.process.ended(8) == 0


def test_a_server_without_descriptors_left_goes_on(another: Callable[..., Server]) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    try:
        server = another()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for _ in range(100):
        server.client().ask("/hello")
    assert server.is_quick()


@pytest.mark.parametrize("step", ["__init__", "receive", "begin_again", "refuse", "leave", "answer", "has_begun"])
def test_a_fault_that_nobody_foresaw_ends_its_own_connection_and_no_other(
    another: Callable[..., Server], step: str
) -> None:
    server = another("--worker-class", "tests.processes.plain.WithFaults", FAIL_IN=step)
    beside = server.client().ask("/sleep?s=3")
    for _ in range(4):
        client = server.client().ask("/hello", "GET", b"", *(["Connection: close"] if step == "leave" else []))
        if step in ("refuse", "has_begun"):
            server.client().send("GET /never")  # it is refused for its slowness
        with suppress(EOFError, OSError):
            client.status()
            client.ask("/hello").status()
    time.sleep(1.5 if step in ("refuse", "has_begun") else 0)
    with suppress(EOFError, OSError):
        beside.status()
    assert server.is_quick()
    said = server.log.read_text()
    assert said.count(f"ZeroDivisionError: {step}") == 3
    assert said.count("Booting worker") == 1, "it is the same process"
