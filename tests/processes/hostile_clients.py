"""Clients that occupy the server: slow, silent, with wrong lengths, or closing early. All run in one thread."""

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

API = "/api/v1"
FORM = "Content-Type: multipart/form-data; boundary=x\r\n"
JSON = "Content-Type: application/json\r\n"
FILE = '--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'


def post(path: str, headers: str, length: int | None, begin: str = "", method: str = "POST") -> bytes:
    framed = "Transfer-Encoding: chunked\r\n" if length is None else f"Content-Length: {length}\r\n"
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}{framed}\r\n{begin}".encode()


def get(path: str, headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()


@dataclass(frozen=True)
class Behaviour:
    """What a kind of client sends first, and what it sends repeatedly."""

    begin: bytes
    #: Sent every two seconds, byte by byte.
    drip: bytes = b""
    #: Whether it closes the connection early and reconnects.
    leaves: bool = False


def behaviours(slug: str, token: str) -> dict[str, Behaviour]:
    """Return the kinds of clients: anonymous ones, and a lead with ``token``."""
    me = f"Authorization: Bearer {token}\r\n"
    answer = f"{API}/answers/6d1f3c1e-0000-4000-8000-000000000000/"
    return {
        "slow bodies": Behaviour(post(f"{API}/session/", JSON, 2000), b'{"email": "'),
        "slow answers": Behaviour(post(answer, JSON + me, 2000, method="PUT"), b" "),
        "slow forms": Behaviour(post("/", FORM, 10**8, FILE), b"x"),
        "slow files of strangers": Behaviour(post(f"{API}/projects/{slug}/imports/", FORM, 10**8, FILE), b"x"),
        "slow files of a lead": Behaviour(post(f"{API}/projects/{slug}/imports/", FORM + me, 10**8, FILE), b"x"),
        "slow heads": Behaviour(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Y: ", b"z"),
        "silence": Behaviour(b""),
        "lying lengths": Behaviour(post(f"{API}/session/", JSON, 500, '{"email": "a@example.org", "password": "b"}')),
        "waiting to be told": Behaviour(post(f"{API}/session/", JSON + "Expect: 100-continue\r\n", 500)),
        "chunks": Behaviour(post(f"{API}/session/", JSON, None), b"1\r\n{\r\n"),
        "idle": Behaviour(get("/healthz")),
        "readers who do not read": Behaviour(get(f"{API}/schema/") * 30),
        "leavers": Behaviour(post(f"{API}/session/", JSON, 2000, "{"), leaves=True),
        "leavers with files": Behaviour(post("/any", FORM, 10**8, FILE + "x" * 50_000), leaves=True),
    }


@dataclass
class HostileClients:
    """``size`` clients of each kind, which reconnect when they are disconnected."""

    port: int
    behaviours: dict[str, Behaviour]
    size: int = 16
    #: How often clients of each kind were disconnected.
    rounds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._press, daemon=True)
        self._open: list[tuple[str, socket.socket]] = []

    def __enter__(self) -> "HostileClients":
        for name in self.behaviours:
            for _ in range(self.size):
                self._come(name)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._gone.set()
        self._thread.join(20)
        for _name, sock in self._open:
            sock.close()

    def _come(self, name: str) -> None:
        with suppress(OSError):
            sock = socket.create_connection(("127.0.0.1", self.port), timeout=5)
            sock.setblocking(False)
            with suppress(OSError):
                sock.send(self.behaviours[name].begin)
            self._open.append((name, sock))

    def _press(self) -> None:
        turns = 0
        while not self._gone.wait(0.5):
            turns += 1
            for name, sock in list(self._open):
                if self._is_over(name, sock, turns):
                    sock.close()
                    self._open.remove((name, sock))
                    self.rounds[name] += 1
                    self._come(name)

    def _is_over(self, name: str, sock: socket.socket, turns: int) -> bool:
        behaviour = self.behaviours[name]
        if behaviour.leaves:
            return random.random() < 0.5
        try:
            if behaviour.drip and turns % 4 == 0:
                sock.send(
                    behaviour.drip[turns // 4 % len(behaviour.drip)].to_bytes()
                    if len(behaviour.drip) > 1
                    else behaviour.drip
                )
            return not name.startswith("readers") and sock.recv(65536) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


def steadily(do: Callable[[], Any], seconds: float, every: float) -> list[float]:
    """Call ``do`` at an interval for some seconds and return how long each call took."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        do()
        took.append(time.monotonic() - began)
        time.sleep(every)
    return took
