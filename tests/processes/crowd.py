"""A crowd of clients that hold on to what they can: slow, silent, lying, leaving. All in one thread, on loopback."""

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
class Habit:
    """What one sort of client says at first, and what it says again and again."""

    begin: bytes
    #: Every two seconds, byte by byte.
    drip: bytes = b""
    #: Goes away in the middle and comes again.
    leaves: bool = False


def habits(slug: str, token: str) -> dict[str, Habit]:
    """Habits of strangers, and of a lead with ``token``."""
    me = f"Authorization: Bearer {token}\r\n"
    answer = f"{API}/answers/6d1f3c1e-0000-4000-8000-000000000000/"
    return {
        "slow bodies": Habit(post(f"{API}/session/", JSON, 2000), b'{"email": "'),
        "slow answers": Habit(post(answer, JSON + me, 2000, method="PUT"), b" "),
        "slow forms": Habit(post("/", FORM, 10**8, FILE), b"x"),
        "slow files of strangers": Habit(post(f"{API}/projects/{slug}/imports/", FORM, 10**8, FILE), b"x"),
        "slow files of a lead": Habit(post(f"{API}/projects/{slug}/imports/", FORM + me, 10**8, FILE), b"x"),
        "slow heads": Habit(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Y: ", b"z"),
        "silence": Habit(b""),
        "lying lengths": Habit(post(f"{API}/session/", JSON, 500, '{"email": "a@example.org", "password": "b"}')),
        "waiting to be told": Habit(post(f"{API}/session/", JSON + "Expect: 100-continue\r\n", 500)),
        "chunks": Habit(post(f"{API}/session/", JSON, None), b"1\r\n{\r\n"),
        "idle": Habit(get("/healthz")),
        "readers who do not read": Habit(get(f"{API}/schema/") * 30),
        "leavers": Habit(post(f"{API}/session/", JSON, 2000, "{"), leaves=True),
        "leavers with files": Habit(post("/any", FORM, 10**8, FILE + "x" * 50_000), leaves=True),
    }


@dataclass
class Crowd:
    """``size`` clients of each habit; whoever is thrown out comes again at once."""

    port: int
    habits: dict[str, Habit]
    size: int = 16
    #: How often each was thrown out, or left.
    rounds: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._gone = threading.Event()
        self._thread = threading.Thread(target=self._press, daemon=True)
        self._open: list[tuple[str, socket.socket]] = []

    def __enter__(self) -> "Crowd":
        for name in self.habits:
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
                sock.send(self.habits[name].begin)
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
        habit = self.habits[name]
        if habit.leaves:
            return random.random() < 0.5
        try:
            if habit.drip and turns % 4 == 0:
                sock.send(habit.drip[turns // 4 % len(habit.drip)].to_bytes() if len(habit.drip) > 1 else habit.drip)
            return not name.startswith("readers") and sock.recv(65536) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True


def steadily(do: Callable[[], Any], seconds: float, every: float) -> list[float]:
    """Call it every so often for so long; how long each call took."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        do()
        took.append(time.monotonic() - began)
        time.sleep(every)
    return took
