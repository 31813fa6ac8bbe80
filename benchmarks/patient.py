"""`python -m benchmarks.patient < JSON > JSON`: annotators that behave like people, in a separate process.

Each waits before every answer. If the server refuses temporarily or does not reply, the same bytes are sent again until
they are accepted, like the page's outbox does. The time of an answer counts from its first send to its acknowledgement.
Unacknowledged answers count with their time so far, so that a blocked server does not appear fast.
"""

import json
import random
import sys
import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from .load import Connection, said

#: Statuses after which the same bytes may succeed.
PASSING = {429, 500, 502, 503, 504}
#: Seconds before a failed send is repeated, and timeout for a reply.
AGAIN, SILENCE = 0.5, 20.0


@dataclass
class Seen:
    """Results of one annotator."""

    seconds: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    #: Unexpected replies and broken connections; each was retried.
    errors: list[str] = field(default_factory=list)
    waiting: int = 0


class Annotator:
    """A person with a keep-alive connection."""

    def __init__(self, given: dict[str, Any], number: int, until: float) -> None:
        self.round, self.think, self.until = given["round"], tuple(given["think"]), until
        self.connection = Connection(given["port"], given["sessions"][number], silence=SILENCE)
        self.rng, self.seen = random.Random(number), Seen()

    def work(self) -> None:
        held, cards = self._fetch_held()
        while held and self._has_thought():
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
                "value": said(card["text"], self.rng),
                "have": list(cards),
            }
            begun = time.perf_counter()
            found = self._until_taken("PUT", f"/api/v1/answers/{key}/", json.dumps(body).encode())
            self.seen.seconds.append(time.perf_counter() - begun)
            if found is None:
                self.seen.waiting += 1
                return
            self.seen.acknowledged.append(key)
            held = found["held"]
            cards |= {c["assignment"]: c for c in found["fetched"]}

    def _fetch_held(self) -> tuple[list[int], dict[int, Any]]:
        found = self._until_taken("GET", f"/api/v1/rounds/{self.round}/next/", b"") or {"held": [], "fetched": []}
        return found["held"], {card["assignment"]: card for card in found["fetched"]}

    def _has_thought(self) -> bool:
        """Wait before the next unit. Return whether there was enough time."""
        ready = time.perf_counter() + self.rng.uniform(*self.think)
        time.sleep(max(0.0, min(ready, self.until) - time.perf_counter()))
        return ready < self.until

    def _until_taken(self, method: str, path: str, body: bytes) -> Any:
        """Send until accepted and return the reply, or None if the time is over. Raise on final refusals."""
        while True:
            try:
                status, found = self.connection.send(method, path, body)
            except (OSError, ValueError) as error:
                self.connection.close()
                status, found = 0, repr(error)
            if status in (200, 201):
                return found
            self.seen.errors.append(f"{method}: {status} {str(found)[:200]}")
            if status and status not in PASSING:
                raise RuntimeError(self.seen.errors[-1])
            if time.perf_counter() + AGAIN > self.until:
                return None
            time.sleep(AGAIN)


def run(given: dict[str, Any]) -> dict[str, Any]:
    """Run the annotators.

    ``given`` has ``port``, ``sessions`` (one per annotator), ``round``, ``seconds`` and ``think`` (range in seconds).
    """
    begun = time.perf_counter()
    people = [Annotator(given, n, begun + given["seconds"]) for n in range(len(given["sessions"]))]
    failures: list[str] = []

    def work(one: Annotator) -> None:
        try:
            one.work()
        except (RuntimeError, KeyError, TypeError) as error:
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(one,)) for one in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {
        "wall": given["seconds"],
        "failures": failures,
        "waiting": sum(one.seen.waiting for one in people),
        **{
            name: [x for one in people for x in getattr(one.seen, name)]
            for name in ("seconds", "acknowledged", "errors")
        },
    }


if __name__ == "__main__":
    json.dump(run(json.load(sys.stdin)), sys.stdout)
