"""A small WSGI application for the web server's own tests, and a worker in a hurry."""

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import parse_qs

from config.server.connection import Connection
from config.server.limits import Least, Limits
from config.server.worker import Worker

PIECE = b"x" * 65536


class Hasty(Worker):
    """What takes half a minute in earnest takes a second here."""

    limits = Limits(
        head=4096, head_seconds=1.0, whole=100_000, body=Least(1.0, 2000.0), upload=Least(1.0, 2000.0),
        reply=Least(1.0, 2000.0), farewell_seconds=1.0, lying=1_000_000, little=20_000,
    )  # fmt: skip


class Clumsy(Connection):
    """A connection with a fault that nobody foresaw, in the step that ``FAIL_IN`` names: three times, then no more."""

    left = 3

    def __init__(self, *given: Any) -> None:
        self._stumble("__init__")
        super().__init__(*given)

    def _stumble(self, step: str) -> None:
        if os.environ.get("FAIL_IN") == step and Clumsy.left:
            Clumsy.left -= 1
            raise ZeroDivisionError(step)

    def receive(self) -> bool:
        self._stumble("receive")
        return super().receive()

    def begin_again(self) -> None:
        self._stumble("begin_again")
        super().begin_again()

    def refuse(self, refusal: Any) -> None:
        self._stumble("refuse")
        super().refuse(refusal)

    def leave(self) -> None:
        self._stumble("leave")
        super().leave()

    def answer(self, *given: Any, **options: Any) -> None:
        self._stumble("answer")
        super().answer(*given, **options)

    @property
    def has_begun(self) -> bool:
        self._stumble("has_begun")
        return super().has_begun


class WithFaults(Hasty):
    """Its connections are clumsy."""

    connection_class: type[Connection] = Clumsy


def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
    asked = {k: v[0] for k, v in parse_qs(environ["QUERY_STRING"]).items()}
    said: dict[str, Callable[..., Iterable[bytes]]] = {
        "/hello": lambda: [b"hello\n"],
        "/length": lambda: [_length(environ["wsgi.input"])],
        "/refuse": lambda: [b"not here\n"],
        "/pieces": lambda: Pieces(int(asked["n"]), float(asked.get("each", 0))),
        "/file": lambda: environ["wsgi.file_wrapper"](_file(int(asked["n"])), 4096),
        "/sleep": lambda: [_after(float(asked["s"]))],
        "/closed": lambda: [str(Pieces.closed).encode()],
    }
    path = environ["PATH_INFO"]
    if path == "/broken":
        raise ZeroDivisionError
    body = said[path]()
    status = "413 Content Too Large" if path == "/refuse" else "200 OK"
    length = [("Content-Length", str(sum(map(len, body))))] if isinstance(body, list) else []
    if path == "/file":
        length = [("Content-Length", str(len(PIECE) * int(asked["n"]) + int(asked.get("more", 0))))]
    start(status, [("Content-Type", "text/plain"), *length])
    return body


def _after(seconds: float) -> bytes:
    time.sleep(seconds)
    return b"slept"


def _file(n: int) -> Any:
    made = tempfile.TemporaryFile()  # noqa: SIM115 - the server closes it
    made.truncate(len(PIECE) * n)
    return made


def _length(body: Any) -> bytes:
    size, digest = 0, hashlib.sha256()
    while data := body.read(65536):
        size += len(data)
        digest.update(data)
    return f"{size} {digest.hexdigest()[:8]}\n".encode()


class Pieces:
    """A reply that is made piece by piece, and counts those that were let go."""

    closed = 0

    def __init__(self, n: int, each: float) -> None:
        """``each``: seconds that one of ``n`` pieces takes."""
        self.n, self.each = n, each

    def __iter__(self) -> Iterator[bytes]:
        for _ in range(self.n):
            time.sleep(self.each)
            yield PIECE

    def close(self) -> None:
        type(self).closed += 1
