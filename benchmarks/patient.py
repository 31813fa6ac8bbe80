"""`python -m benchmarks.patient < JSON > JSON`: annotators at work as people are, in a process of their own.

Each thinks before every answer and, where the site refuses for now or does not reply, sends the same bytes again until
they are taken, as the page's outbox does. What an answer took is counted from its first send to its acknowledgement;
what is not acknowledged when time is up is counted with the time that it has waited so far, so that a site that stands
still does not look quick.
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

#: Replies after which the same bytes may succeed.
PASSING = {429, 500, 502, 503, 504}
#: Seconds before a send that failed is repeated, and until a site that says nothing counts as not there.
AGAIN, SILENCE = 0.5, 20.0


@dataclass
class Seen:
    """What one annotator saw."""

    seconds: list[float] = field(default_factory=list)
    acknowledged: list[str] = field(default_factory=list)
    #: Replies other than those hoped for, and connections that broke; each was tried again.
    errors: list[str] = field(default_factory=list)
    waiting: int = 0


class Annotator:
    """One person with one kept-alive connection."""

    def __init__(self, given: dict[str, Any], number: int, until: float) -> None:
        self.round, self.think, self.until = given["round"], tuple(given["think"]), until
        self.connection = Connection(given["port"], given["sessions"][number], silence=SILENCE)
        self.rng, self.seen = random.Random(number), Seen()

    def work(self) -> None:
        hand, cards = self._hand()
        while hand and self._has_thought():
            card = cards.pop(hand[0])
            key = str(uuid.uuid4())
            body = {
                "assignment": card["assignment"], "revision": card["revision"], "kind": "label", "outcome": "answered",
                "reason": "", "shown": card["shown"], "active_ms": 4200, "comment": "", "flag": False,
                "value": said(card["text"], self.rng), "have": list(cards),
            }  # fmt: skip
            begun = time.perf_counter()
            found = self._until_taken("PUT", f"/api/v1/answers/{key}/", json.dumps(body).encode())
            self.seen.seconds.append(time.perf_counter() - begun)
            if found is None:
                self.seen.waiting += 1
                return
            self.seen.acknowledged.append(key)
            hand = found["hand"]
            cards |= {c["assignment"]: c for c in found["fetched"]}

    def _hand(self) -> tuple[list[int], dict[int, Any]]:
        found = self._until_taken("GET", f"/api/v1/rounds/{self.round}/next/", b"") or {"hand": [], "fetched": []}
        return found["hand"], {card["assignment"]: card for card in found["fetched"]}

    def _has_thought(self) -> bool:
        """Whether there was time left to think about one more unit."""
        ready = time.perf_counter() + self.rng.uniform(*self.think)
        time.sleep(max(0.0, min(ready, self.until) - time.perf_counter()))
        return ready < self.until

    def _until_taken(self, method: str, path: str, body: bytes) -> Any:
        """The reply to the first send that was taken; None where time was up before. Other refusals are an error of
        ours, and raise."""
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
    """``port``, ``sessions`` (one an annotator), ``round``, ``seconds``, ``think`` (from and to, in seconds)."""
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
