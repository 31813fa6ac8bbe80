"""Monitor a server during a load: health, closing of a round, memory and disk."""

import http.client
import json
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .places import Place, memory_of

#: Seconds between two checks, and timeout of the health page.
LOOK, HEALTHY = 0.5, 5.0


@dataclass
class Watched:
    """Observations from the beginning to the end of a load."""

    healthy: int = 0
    unhealthy: int = 0
    web_mb: float = 0.0
    worker_mb: float = 0.0
    temporary_mb: float = 0.0
    stop: threading.Event = field(default_factory=threading.Event)

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "stop"}


@contextmanager
def watching(at: Place) -> Iterator[Watched]:
    """Check twice a second, in separate threads."""
    seen = Watched()
    threads = [threading.Thread(target=loop, args=(at, seen)) for loop in (_health, _sizes)]
    for thread in threads:
        thread.start()
    try:
        yield seen
    finally:
        seen.stop.set()
        for thread in threads:
            thread.join()


def _health(at: Place, seen: Watched) -> None:
    while not seen.stop.wait(LOOK):
        if answers(at.web_port):
            seen.healthy += 1
        else:
            seen.unhealthy += 1


def answers(port: int) -> bool:
    """Whether the health page responds in time."""
    try:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HEALTHY)) as connection:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False


def _sizes(at: Place, seen: Watched) -> None:
    while not seen.stop.wait(LOOK):
        seen.web_mb = max(seen.web_mb, memory_of(at.server))
        seen.worker_mb = max(seen.worker_mb, memory_of(at.worker))
        seen.temporary_mb = max(seen.temporary_mb, folder_mb(at.temporary))


def folder_mb(folder: Path) -> float:
    """Return the size of a folder in MB. Files may disappear while they are counted."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total / 1e6


class Closing:
    """Close a round during the load, and wait until its gold is aggregated."""

    def __init__(self, port: int, token: str, round: int, patience: float) -> None:
        """Set up the request. ``patience`` is in seconds."""
        self.port, self.token, self.round, self.patience = port, token, round, patience
        self.seconds: float | None = None
        self._thread = threading.Thread(target=self._wait)

    def start_in(self, seconds: float) -> None:
        self._timer = threading.Timer(seconds, self._thread.start)
        self._timer.start()

    def result(self) -> float | None:
        """Return the seconds until the gold was aggregated, or None if the patience was exceeded."""
        self._timer.join()
        self._thread.join()
        return self.seconds

    def _wait(self) -> None:
        begun, closed = time.monotonic(), False
        while time.monotonic() - begun < self.patience:
            with suppress(OSError, http.client.HTTPException, ValueError, KeyError):
                # 409: an earlier request succeeded, but its reply was too late.
                closed = closed or self._ask("POST", f"rounds/{self.round}/close/")[0] in (202, 409)
                if closed and self._ask("GET", f"rounds/{self.round}/progress/")[1]["gold"]:
                    self.seconds = time.monotonic() - begun
                    return
            time.sleep(0.25)

    def _ask(self, method: str, path: str) -> tuple[int, Any]:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, f"/api/v1/{path}", headers={"Authorization": f"Bearer {self.token}"})
            reply = connection.getresponse()
            return reply.status, json.loads(reply.read())
