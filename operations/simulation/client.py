"""API client that resends unacknowledged answers unchanged, so that none is lost."""

import json
import random
import threading
import time
import uuid as uuids
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from operations.simulation.transport import Broken, Transport

#: Statuses after which the same request may succeed.
PASSING = {429, 500, 502, 503, 504}
FIRST_WAIT, LAST_WAIT = 0.05, 2.0


class NotDone(Exception):
    """The server refused the request. Repeating it does not help."""

    def __init__(self, method: str, path: str, status: int, body: Any) -> None:
        detail = body.get("detail") if isinstance(body, dict) else body
        super().__init__(f"{method} {path}: {status}: {detail}")
        self.status, self.body = status, body


class GaveUp(Exception):
    """No conclusive reply within the client's patience."""


@dataclass(frozen=True)
class Acknowledged:
    """An answer that the server acknowledged as stored."""

    uuid: str
    body: bytes
    status: int
    assignment: int
    revision: int
    #: How often the request was sent.
    sends: int
    #: Whether the answer counts, or was a late answer beyond the k needed.
    counted: bool = True


@dataclass
class Ledger:
    """Sent and acknowledged answers of all clients, shared by the threads of a run.

    After any fault, ``acknowledged`` must be a subset of the stored answers, without duplicates.
    """

    acknowledged: dict[str, Acknowledged] = field(default_factory=dict)
    #: All submissions that were sent, by UUID. All stored answers must be among these.
    sent: dict[str, bytes] = field(default_factory=dict)
    #: Number of submissions without a reply.
    broken: int = 0
    #: Acknowledgements with 200 after a failed send: the answer had been stored, and only the reply was lost.
    replies_lost: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _in_flight: set[str] = field(default_factory=set)

    @property
    def in_flight(self) -> int:
        """The number of submissions that are being sent or processed."""
        return len(self._in_flight)

    @contextmanager
    def sending(self, uuid: str, body: bytes) -> Iterator[None]:
        with self._lock:
            self.sent[uuid] = body
            self._in_flight.add(uuid)
        try:
            yield
        except Broken as error:
            with self._lock:
                self.broken += error.sent
            raise
        finally:
            with self._lock:
                self._in_flight.discard(uuid)

    def note(self, done: Acknowledged) -> None:
        with self._lock:
            self.acknowledged[done.uuid] = done
            self.replies_lost += done.status == 200 and done.sends > 1


class Client:
    """API client of one person. Not thread-safe."""

    def __init__(
        self,
        transport: Transport,
        *,
        token: str = "",
        ledger: Ledger | None = None,
        patience: float = 60.0,
        longest_wait: float = LAST_WAIT,
    ) -> None:
        """Set up the client.

        ``token`` is a personal API token; without one, session cookies are used. ``patience`` is how long a request is
        repeated, ``longest_wait`` the maximum delay between two tries, both in seconds.
        """
        self.transport = transport
        self.token = token
        self.ledger = ledger or Ledger()
        self.patience = patience
        self.longest_wait = longest_wait

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self.call("POST", path, body)

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a JSON request below ``/api/v1/`` and return the JSON reply. Raise `NotDone` or `GaveUp`.

        Only GET requests are repeated here, because the caller must decide whether a write is repeatable. For answers
        see `submit`.
        """
        content = None if body is None else json.dumps(body).encode()
        status, found, _ = self._until_settled(method, path, content, again=method == "GET")
        return self._settled(method, path, status, found)

    def upload(self, path: str, fields: Mapping[str, str], name: str, content: bytes) -> Any:
        """Send a multipart POST with one file called ``file``."""
        mark = uuids.uuid4().hex
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in fields.items()
        ]
        head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        head += "Content-Type: application/octet-stream\r\n\r\n"
        body = b"".join([*parts, head.encode(), content, f"\r\n--{mark}--\r\n".encode()])
        status, found, _ = self._until_settled(
            "POST", path, body, again=False, content_type=f"multipart/form-data; boundary={mark}"
        )
        return self._settled("POST", path, status, found)

    def download(self, path: str) -> bytes:
        """Return the bytes of a file."""
        raw = self.transport.send("GET", f"/api/v1/{path}", self._headers("GET", ""), None)
        if raw.status != 200:
            raise NotDone("GET", path, raw.status, _json(raw.body))
        return raw.body

    def submit(self, body: Mapping[str, Any], *, uuid: str | None = None) -> dict[str, Any]:
        """Send an answer, always as the same bytes, until it is acknowledged or refused. Return the server's reply."""
        uuid = uuid or str(uuids.uuid4())
        content = json.dumps(body, ensure_ascii=False).encode()
        path = f"answers/{uuid}/"
        status, found, sends = self._until_settled("PUT", path, content, again=True, uuid=uuid)
        reply: dict[str, Any] = self._settled("PUT", path, status, found)
        stored = reply["answer"]
        self.ledger.note(
            Acknowledged(
                str(stored["uuid"]), content, status, stored["assignment"], stored["revision"], sends, stored["counted"]
            )
        )
        return reply

    def _until_settled(
        self,
        method: str,
        path: str,
        body: bytes | None,
        *,
        again: bool,
        uuid: str = "",
        content_type: str = "application/json",
    ) -> tuple[int, Any, int]:
        """Send a request until it is settled. Return (status, JSON, number of sends)."""
        until = time.monotonic() + self.patience
        wait, sends, why = FIRST_WAIT, 0, ""
        while True:
            sends += 1
            asked_to_wait = 0.0
            try:
                raw = self._send(method, path, body, content_type, uuid)
            except Broken as error:
                why = str(error)
            else:
                if not (again and raw.status in PASSING):
                    return raw.status, _json(raw.body), sends
                why = f"status {raw.status}"
                asked_to_wait = float(raw.headers.get("retry-after", "0") or 0)
                if raw.status == 429:
                    # Waiting as requested by the server does not count against the patience.
                    until += asked_to_wait
            if not again or time.monotonic() > until:
                raise GaveUp(f"{method} {path}: sent {sends} times; {why}")
            time.sleep(max(asked_to_wait, wait * random.uniform(0.5, 1.0)))
            wait = min(wait * 2, self.longest_wait)

    def _send(self, method: str, path: str, body: bytes | None, content_type: str, uuid: str) -> Any:
        headers = self._headers(method, content_type if body is not None else "")
        if not uuid:
            return self.transport.send(method, f"/api/v1/{path}", headers, body)
        with self.ledger.sending(uuid, body or b""):
            return self.transport.send(method, f"/api/v1/{path}", headers, body)

    def _headers(self, method: str, content_type: str) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if content_type:
            headers["Content-Type"] = content_type
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        elif method != "GET":
            headers |= {"X-CSRFToken": self.transport.cookie("csrftoken"), "Origin": self.transport.address}
            headers["Referer"] = self.transport.address + "/"
        return headers

    @staticmethod
    def _settled(method: str, path: str, status: int, found: Any) -> Any:
        if status >= 400:
            raise NotDone(method, path, status, found)
        return found


def _json(body: bytes) -> Any:
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode(errors="replace")
