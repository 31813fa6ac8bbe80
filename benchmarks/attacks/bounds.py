"""Limits and results of an attack."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

JSON = "application/json"
#: Timeout of the attacker for a reply, in seconds.
SILENCE = 30.0


@dataclass
class Attack:
    """A running attack: target, identity, and limits in time and number."""

    port: int
    #: API token of a stranger, and the stranger's own project and round.
    token: str
    slug: str
    round: int
    seconds: float
    #: Maximum strikes of all threads. A strike is a request, or a connection if connections are attacked.
    most: int = 1_000
    #: Results of the strikes: a status, or how a connection ended.
    became: Counter[str] = field(default_factory=Counter)
    until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _strikes: int = 0

    def begin(self) -> None:
        """Start the clock."""
        self.until = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    def wait(self, seconds: float) -> None:
        """Wait, but not beyond the end of the attack."""
        time.sleep(max(0.0, min(seconds, self.until - time.monotonic())))

    def strikes(self, pause: float = 0.0) -> Iterator[int]:
        """Yield numbers of a thread's strikes, at least ``pause`` seconds apart, until the limits are reached."""
        while not self.is_over():
            begun = time.monotonic()
            with self._lock:
                if self._strikes >= self.most:
                    return
                self._strikes += 1
                number = self._strikes
            yield number
            self.wait(begun + pause - time.monotonic())

    def note(self, what: object, count: int = 1) -> None:
        with self._lock:
            self.became[str(what)] += count

    def side_by_side(self, threads: int, work: Callable[[int], None]) -> None:
        """Run ``work`` in several threads, each with its number, until all have ended."""
        crew = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()

    def ask(self, method: str, path: str, body: bytes = b"", content_type: str = "") -> tuple[int, bytes]:
        """Send a request as the stranger on a new connection. Return (0, reason) if there is no reply."""
        sent = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": content_type} if content_type else {})
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SILENCE)) as connection:
            try:
                connection.request(method, path, body, sent)
                reply = connection.getresponse()
                return reply.status, reply.read()
            except (OSError, http.client.HTTPException) as error:
                return 0, type(error).__name__.encode()

    def strike(self, method: str, path: str, body: bytes = b"", content_type: str = JSON) -> tuple[int, bytes]:
        """Call `ask` and record the result."""
        status, found = self.ask(method, path, body, content_type)
        self.note(status or found.decode())
        return status, found


def multipart(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """Return the body with one file called ``file``, and its content type."""
    mark = "----an-attack"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    body = b"".join([*parts, head.encode(), content, f"\r\n--{mark}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={mark}"
