"""`python -m benchmarks.load < JSON > JSON`: annotators in a closed loop, in a separate process.

Each annotator is a thread with its own session and keep-alive connection. It answers without delay and sends the next
answer when the reply to the last one arrives. Plain sockets keep the cost of the client small and equal for all
applications.
"""

import json
import random
import socket
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

CSRF = "b" * 32
POLARITIES, MODALITIES = ("positive", "no effect", "negative"), ("strong", "moderate", "weak")
Reply = tuple[int, Any]


class Connection:
    """A keep-alive connection of one person."""

    def __init__(self, port: int, session: str, *, silence: float = 60.0) -> None:
        """Set up the connection. ``silence`` is the timeout for a reply, in seconds."""
        self.port, self.silence = port, silence
        self.head = (
            f"Host: 127.0.0.1:{port}\r\nCookie: sessionid={session}; csrftoken={CSRF}\r\nX-CSRFToken: {CSRF}\r\n"
            "Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: "
        )
        self.socket: socket.socket | None = None

    def send(self, method: str, path: str, body: bytes = b"") -> Reply:
        """Send a request. If the server has closed the connection, reconnect once."""
        message = f"{method} {path} HTTP/1.1\r\n{self.head}{len(body)}\r\n\r\n".encode() + body
        for again in (True, False):
            if self.socket is None:
                self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=self.silence)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                self.socket.sendall(message)
                return self._reply(self.socket)
            except (ConnectionError, ValueError):
                self.close()
                if not again:
                    raise
        raise AssertionError

    def close(self) -> None:
        if self.socket:
            self.socket.close()
        self.socket = None

    def _reply(self, connection: socket.socket) -> Reply:
        received = b""
        while b"\r\n\r\n" not in received:
            received += _some(connection)
        head, _, body = received.partition(b"\r\n\r\n")
        status, fields = int(head[9:12]), head.lower()
        length = int(fields.partition(b"content-length:")[2].partition(b"\r\n")[0])
        while len(body) < length:
            body += _some(connection)
        if b"connection: close" in fields:
            self.close()
        return status, json.loads(body) if body[:1] in (b"{", b"[") else None


def _some(connection: socket.socket) -> bytes:
    if not (part := connection.recv(65536)):
        raise ConnectionError("closed by the server")
    return part


@dataclass
class Seen:
    """Results of one annotator."""

    seconds: list[float] = field(default_factory=list)
    #: Times (perf_counter) of the replies, for the rate.
    at: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def said(text: str, rng: random.Random) -> dict[str, Any]:
    """Return a label with 0-2 cues of a few words."""
    cues = []
    for _ in range(rng.randint(0, 2)):
        start = text.find(" ", rng.randrange(len(text) // 2)) + 1
        end = text.find(" ", start + 8)
        end = len(text) if end < 0 else end
        cues.append([{"start": start, "end": end, "quote": text[start:end]}])
    cues += [[]] * (2 - len(cues))
    return {
        "polarity": rng.choice(POLARITIES),
        "modality": rng.choice(MODALITIES),
        "polarity_cue": cues[0],
        "modality_cue": cues[1],
    }


def concord(
    connection: Connection, round: int, rng: random.Random, seen: Seen
) -> Iterator[tuple[float, Reply, str, int]]:
    """Run Concord's loop: two held assignments, refilled by each answer."""
    status, found = connection.send("GET", f"/api/v1/rounds/{round}/next/")
    if status != 200:
        seen.errors.append(f"next: {status} {found}")
        return
    held, cards = found["held"], {card["assignment"]: card for card in found["fetched"]}
    while held:
        card = cards.pop(held[0])
        key = str(uuid.uuid4())
        body = {
            "assignment": card["assignment"],
            "revision": card["revision"],
            "kind": "label",
            "outcome": "answered",
            "reason": "",
            "shown": card["shown"],
            "active_ms": 4200,
            "comment": "",
            "flag": False,
            "value": said(card["text"], rng),
            "have": list(cards),
        }
        start = time.perf_counter()
        status, found = connection.send("PUT", f"/api/v1/answers/{key}/", json.dumps(body).encode())
        yield start, (status, found), key, card["unit"]["id"]
        if status != 201:
            return
        held = found["held"]
        cards |= {c["assignment"]: c for c in found["fetched"]}


def following(
    connection: Connection, round: int, rng: random.Random, seen: Seen
) -> Iterator[tuple[float, Reply, str, int]]:
    """Request the held assignments repeatedly, like a person who reloads the page."""
    while True:
        start = time.perf_counter()
        status, found = connection.send("GET", f"/api/v1/rounds/{round}/next/")
        yield start, (201 if status == 200 else status, found), "", 0


def reference(
    connection: Connection, round: int, rng: random.Random, seen: Seen
) -> Iterator[tuple[float, Reply, str, int]]:
    """Run the loop of the reference app."""
    status, found = connection.send("GET", f"/next/{round}/")
    if status != 200:
        seen.errors.append(f"next: {status} {found}")
        return
    while task := found["next"]:
        key = str(uuid.uuid4())
        value = said(task["text"], rng)
        body = {
            "task": task["id"],
            "round": round,
            "polarity": value["polarity"],
            "modality": value["modality"],
            "cues": [value["polarity_cue"], value["modality_cue"]],
        }
        start = time.perf_counter()
        status, found = connection.send("POST", f"/annotations/{key}/", json.dumps(body).encode())
        yield start, (status, found), key, task["id"]
        if status != 201:
            return


LOOPS = {"concord": concord, "next": following, "reference": reference}


def annotate(given: dict[str, Any], number: int, start: threading.Barrier, seen: Seen) -> None:
    connection = Connection(given["port"], given["sessions"][number])
    loop = LOOPS[given["loop"]]
    start.wait()
    until = time.perf_counter() + given["seconds"]
    try:
        for begun, (status, found), key, unit in loop(connection, given["round"], random.Random(number), seen):
            now = time.perf_counter()
            seen.units.append(unit)
            if status == 201:
                seen.seconds.append(now - begun)
                seen.at.append(now)
                seen.acknowledged.append(key)
            else:
                seen.errors.append(f"{status} {str(found)[:300]}")
            if now > until:
                return
    except (OSError, ValueError, KeyError, TypeError) as error:
        seen.errors.append(repr(error))


def run(given: dict[str, Any]) -> dict[str, Any]:
    """Run the loop. ``given`` has ``loop``, ``port``, ``sessions`` (one per annotator), ``round`` and ``seconds``."""
    count = len(given["sessions"])
    start = threading.Barrier(count + 1)
    seen = [Seen() for _ in range(count)]
    threads = [threading.Thread(target=annotate, args=(given, n, start, seen[n])) for n in range(count)]
    for thread in threads:
        thread.start()
    start.wait()
    begun = time.perf_counter()
    for thread in threads:
        thread.join()
    # If the units run out, the rate refers to the time until the last answer.
    last = max((at for one in seen for at in one.at), default=time.perf_counter())
    return {
        "wall": last - begun,
        "seconds": [s for one in seen for s in one.seconds],
        "acknowledged": [k for one in seen for k in one.acknowledged],
        "units": [u for one in seen for u in one.units],
        "errors": [e for one in seen for e in one.errors],
    }


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
