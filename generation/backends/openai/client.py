"""An endpoint asked until it answers, or until it is plain that it will not."""

import json
import random
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.outgoing.addresses import Network, NotAllowed, Unresolved, places
from api.outgoing.connection import Away, Connection, Limits, Reply, TooLarge, Trouble, Untrusted, exchange
from generation.endpoints import Endpoint, KeyMissing

from ..protocol import BackendError, PassingError
from .reading import complaint, shown

#: How often a request is sent before it is given up, and the seconds before the second try; they double.
TRIES = 4
FIRST_PAUSE = 1.0
#: The longest wait between two tries, also where the endpoint asks for a longer one.
LONGEST_PAUSE = 60.0
_AGAIN = (408, 429, 500, 502, 503, 504)
#: What holds for every request alike: a wrong key, no such model or address.
_ALWAYS = (401, 403, 404, 405)


class Refusal(Exception):
    """The endpoint will not do this request, or what it says is no answer: it would not help to ask again."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class RetryableError(Exception):
    """A try that came to nothing. ``is_away``: nobody there does the work now; ``wait``: seconds asked for."""

    def __init__(self, words: str, *, is_away: bool = False, wait: float | None = None) -> None:
        super().__init__(words)
        self.is_away, self.wait = is_away, wait


class Stopped(Exception):
    """Nobody waits for the answer any more."""


@dataclass(frozen=True)
class Answer:
    body: bytes
    tries: int


class RequestGroup:
    """The requests of one call of ``summarise``: what is under way, and whether it goes on."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._no_more_tries = threading.Event()
        self._open: set[Connection] = set()
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def tries_on(self) -> bool:
        return not (self._no_more_tries.is_set() or self._over.is_set())

    def add(self, connection: Connection) -> None:
        with self._lock:
            self._open.add(connection)
        if self.is_over:
            raise Stopped

    def remove(self, connection: Connection) -> None:
        with self._lock:
            self._open.discard(connection)

    def wait(self, seconds: float) -> None:
        """Pause before another try; shorter where there will be none."""
        self._no_more_tries.wait(seconds)

    def give_up(self) -> None:
        """What is under way may still come; nothing is tried again."""
        self._no_more_tries.set()

    def end(self) -> None:
        """Break off everything."""
        self._over.set()
        self.give_up()
        with self._lock:
            for connection in self._open:
                connection.break_off("nobody waits for it any more")


class Client:
    """One endpoint. Safe for threads; every request has a connection of its own."""

    def __init__(self, endpoint: Endpoint, networks: Sequence[Network], limits: Limits) -> None:
        self.endpoint, self.networks, self.limits = endpoint, networks, limits
        self._tls = ssl.create_default_context() if endpoint.secure else None

    def complete(self, request: Mapping[str, Any], effort: RequestGroup) -> Answer:
        """The answer to a request for a chat completion.

        Raises `Refusal` for what concerns this request alone, `BackendError` for what concerns all, `PassingError`
        where the endpoint is away, and `Stopped`.
        """
        body = json.dumps(request).encode()
        number = 1
        while True:
            try:
                return Answer(self._once(body, effort), number)
            except RetryableError as setback:
                if number < TRIES:
                    effort.wait(_pause(number) if setback.wait is None else setback.wait)
                if number == TRIES or not effort.tries_on:
                    raise self._given_up(setback, number, effort) from setback
            number += 1

    def _once(self, body: bytes, effort: RequestGroup) -> bytes:
        """The body of a good answer; `RetryableError` where another try may do better."""
        try:
            reply = self._send("POST", "/chat/completions", body, effort)
        except (Away, Unresolved) as error:
            raise RetryableError(str(error), is_away=True) from error
        except Trouble as error:
            raise RetryableError(f"{error}.") from error
        if reply.status == 200:
            return reply.body
        if reply.status in _AGAIN:
            # A busy endpoint asks to be left alone for a while: that is being away.
            raise RetryableError(self._said(reply), is_away=reply.status == 429, wait=_asked_for(reply))
        if 300 <= reply.status < 400:
            to = shown(reply.headers.get("location", ""))
            raise BackendError(f"{self._said(reply, words=False)} It redirects to {to}; redirects are never followed.")
        if reply.status in _ALWAYS:
            raise BackendError(self._said(reply))
        raise Refusal(self._said(reply), reply.status)

    def _given_up(self, setback: RetryableError, tries: int, effort: RequestGroup) -> Exception:
        if effort.is_over:
            return Stopped()
        if setback.is_away or not self._is_alive(effort):
            return PassingError(f"The endpoint {self.endpoint.name!r} is away: {setback}")
        return Refusal(f"The endpoint was asked {tries} times: {setback}")

    def _is_alive(self, effort: RequestGroup) -> bool:
        """Whether the endpoint answers a small question now: then it is the request that it cannot do."""
        try:
            return self._send("GET", "/models", None, effort).status < 500
        except (Away, Unresolved, Trouble, Refusal):
            return False

    def _send(self, method: str, path: str, body: bytes | None, effort: RequestGroup) -> Reply:
        endpoint = self.endpoint
        try:
            key = endpoint.key()
        except KeyMissing as missing:
            raise BackendError(str(missing)) from None
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Authorization"] = f"Bearer {key}"
        try:
            found = places(endpoint.host, endpoint.port, self.networks, setting="GENERATION_NETWORKS")
        except NotAllowed as error:
            raise BackendError(str(error)) from error
        for last, place in enumerate(found, start=1 - len(found)):
            connection = Connection(endpoint.host, endpoint.port, place, self._tls, self.limits)
            try:
                effort.add(connection)
                reply = exchange(connection, method, endpoint.path + path, body, headers, self.limits)
            except Away:
                if last == 0:
                    raise
                continue
            except Untrusted as error:
                raise BackendError(str(error)) from error
            except TooLarge as error:
                raise Refusal(f"The endpoint sent {error}.") from error
            finally:
                effort.remove(connection)
            return _without(key, reply) if key else reply
        raise AssertionError("places are never empty")

    def _said(self, reply: Reply, *, words: bool = True) -> str:
        said = f": {complaint(reply.body)}" if words else ""
        return f"The endpoint {self.endpoint.name!r} answered with HTTP {reply.status}{said}."


def _without(key: str, reply: Reply) -> Reply:
    """An answer without the key, as it is and as JSON may write it: a complaint about one may repeat it."""
    body, headers = reply.body, dict(reply.headers)
    for written in (key, json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/")):
        body = body.replace(written.encode(), b"[key]")
        headers = {name: value.replace(written, "[key]") for name, value in headers.items()}
    return Reply(reply.status, headers, body)


def _pause(number: int) -> float:
    """Seconds before the try after this one; not the same for all, or they would all come back at once."""
    return float(min(FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.25))


def _asked_for(reply: Reply) -> float | None:
    """The wait that was asked for, within limits; None where none was."""
    seconds = reply.retry_after()
    return None if seconds is None else min(seconds, LONGEST_PAUSE)
