"""How much an attack may do, and what became of it."""

import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field

JSON = "application/json"
#: Seconds until an attacker waits no longer for a reply.
SILENCE = 30.0


@dataclass
class Attack:
    """One attack under way: where it goes, who it is, how long it may last and how often it may strike."""

    port: int
    #: A stranger's API token, and the project, the round and the slots that are the stranger's own.
    token: str
    slug: str
    round: int
    seconds: float
    #: Strikes of all threads together; a strike is a request, or a connection where that is what is attacked.
    most: int = 1_000
    #: What became of the strikes: a status, or how a connection ended.
    became: Counter[str] = field(default_factory=Counter)
    until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _strikes: int = 0

    def begin(self) -> None:
        """Time runs from now on."""
        self.until = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        return time.monotonic() >= self.until

    def wait(self, seconds: float) -> None:
        """So long, but not beyond the end."""
        time.sleep(max(0.0, min(seconds, self.until - time.monotonic())))

    def strikes(self, pause: float = 0.0) -> Iterator[int]:
        """The numbers of a thread's strikes, begun ``pause`` seconds apart at least, as long as any are left."""
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
        """Let so many threads work, each told its number, until all have ended."""
        crew = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(threads)]
        for one in crew:
            one.start()
        for one in crew:
            one.join()

    def ask(self, method: str, path: str, body: bytes = b"", content_type: str = "") -> tuple[int, bytes]:
        """One request as the stranger, on a connection of its own; (0, why) where no reply came."""
        sent = {"Authorization": f"Bearer {self.token}"} | ({"Content-Type": content_type} if content_type else {})
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=SILENCE)) as connection:
            try:
                connection.request(method, path, body, sent)
                reply = connection.getresponse()
                return reply.status, reply.read()
            except (OSError, http.client.HTTPException) as error:
                return 0, type(error).__name__.encode()

    def strike(self, method: str, path: str, body: bytes = b"", content_type: str = JSON) -> tuple[int, bytes]:
        """As `ask`, and note what became of it."""
        status, found = self.ask(method, path, body, content_type)
        self.note(status or found.decode())
        return status, found


def multipart(fields: Mapping[str, str], name: str, content: bytes) -> tuple[bytes, str]:
    """The body with one file called ``file``, and its content type."""
    mark = "----an-attack"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: application/octet-stream\r\n\r\n"
    body = b"".join([*parts, head.encode(), content, f"\r\n--{mark}--\r\n".encode()])
    return body, f"multipart/form-data; boundary={mark}"
