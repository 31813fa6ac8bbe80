"""HTTP client of an endpoint, with retries."""

import json
import random
import ssl
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx2

from api.outgoing.addresses import Network, NotAllowed
from api.outgoing.transport import Exchange, Limits, TooLarge, Untrusted, retry_after
from generation.backends.protocol import BackendError, Finish, PassingError
from generation.endpoints import Endpoint, KeyMissing

#: Maximum number of response characters that are stored with a summary.
STORED_CHARACTERS = 20_000
#: The largest count that the database column can store.
LARGEST = 2**31 - 1


class InvalidResponse(Exception):
    """The body is not a valid chat completions response. The message describes it."""


@dataclass(frozen=True)
class Completion:
    """A parsed response. Counts are None if the endpoint returned none, or invalid ones."""

    text: str
    finish: Finish
    finish_reason: str
    model: str
    fingerprint: str
    tokens_in: int | None
    tokens_out: int | None
    usage: dict[str, int] = field(default_factory=dict)


def completion(body: bytes) -> Completion:
    """Parse a response body. Raise `InvalidResponse` if it is invalid."""
    answer = _object(body)
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise InvalidResponse(f"an answer without choices: {shorten(answer)}")
    first = choices[0]
    message = first.get("message") if isinstance(first, dict) else None
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str):
        raise InvalidResponse(f"a choice without a text: {shorten(first)}")
    if fault := _unstorable(text):
        raise InvalidResponse(f"a text with {fault}")
    reason = short_string(first.get("finish_reason"))
    finish = {"stop": Finish.COMPLETE, "length": Finish.LENGTH}.get(reason, Finish.UNKNOWN)
    usage = _usage(answer.get("usage"))
    return Completion(
        text,
        finish,
        reason,
        short_string(answer.get("model")),
        short_string(answer.get("system_fingerprint")),
        usage.get("prompt_tokens"),
        usage.get("completion_tokens"),
        usage,
    )


def error_message(body: bytes) -> str:
    """Return the error message of the endpoint, shortened. Fall back to the body if it contains no message."""
    try:
        answer = _object(body)
    except InvalidResponse:
        return shorten(body.decode("utf-8", "replace")) if body.strip() else "no error message"
    error = answer.get("error")
    message = (
        error.get("message") if isinstance(error, dict) else error or answer.get("message") or answer.get("detail")
    )
    return shorten(message if isinstance(message, str) else answer, 300)


def stored_form(body: bytes) -> str:
    """Return the stored form of a body: its beginning, with characters that databases reject replaced."""
    text = body.decode("utf-8", "replace").replace("\0", "\ufffd")
    return (
        text
        if len(text) <= STORED_CHARACTERS
        else f"{text[:STORED_CHARACTERS]}… ({len(text) - STORED_CHARACTERS} more characters)"
    )


def shorten(value: object, max_length: int = 120) -> str:
    """Return a value for use in a message: JSON in ASCII, shortened."""
    try:
        text = json.dumps(value)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= max_length else f"{text[:max_length]}…"


def short_string(value: Any) -> str:
    """Return a short string from the endpoint, or an empty one if it is no string or cannot be stored."""
    return value[:200] if isinstance(value, str) and not _unstorable(value) else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        beginning = shorten(body[:80].decode("utf-8", "replace"))
        raise InvalidResponse(f"{len(body)} bytes that are not JSON, beginning {beginning}") from None
    if not isinstance(answer, dict):
        raise InvalidResponse(f"JSON that is not an object: {shorten(answer)}")
    return answer


def _unstorable(text: str) -> str:
    if "\0" in text:
        return "a NUL character"
    return "half a surrogate pair" if any("\ud800" <= c <= "\udfff" for c in text) else ""


def _usage(usage: Any) -> dict[str, int]:
    if not isinstance(usage, dict):
        return {}
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    return {name: usage[name] for name in names if type(usage.get(name)) is int and 0 <= usage[name] <= LARGEST}


#: Maximum number of attempts, and the seconds before the second one; the pause doubles with each attempt.
MAX_ATTEMPTS = 4
FIRST_PAUSE = 1.0
#: Maximum seconds between two attempts, even if the endpoint asks for more.
LONGEST_PAUSE = 60.0
_RETRIED = (408, 429, 500, 502, 503, 504)
#: Statuses that affect every request: a wrong key, model or address.
_FATAL = (401, 403, 404, 405)


class Refusal(Exception):
    """The endpoint rejects this request, or its response is invalid. A retry would not help."""

    def __init__(self, reason: str, status: int = 0) -> None:
        super().__init__(reason)
        self.status = status


class RetryableError(Exception):
    """A failed attempt.

    ``is_away`` is true if the endpoint is unavailable. ``wait`` is the number of seconds that it asks to wait.
    """

    def __init__(self, message: str, *, is_away: bool = False, wait: float | None = None) -> None:
        super().__init__(message)
        self.is_away, self.wait = is_away, wait


class Stopped(Exception):
    """The call was cancelled, so the answer is no longer needed."""


@dataclass(frozen=True)
class Answer:
    body: bytes
    attempts: int


class RequestGroup:
    """The requests of one call of ``summarise``: the open exchanges, and whether retries are allowed."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._no_more_tries = threading.Event()
        self._open: set[Exchange] = set()
        self._lock = threading.Lock()

    @property
    def is_over(self) -> bool:
        return self._over.is_set()

    @property
    def may_retry(self) -> bool:
        return not (self._no_more_tries.is_set() or self._over.is_set())

    def add(self, exchange: Exchange) -> None:
        with self._lock:
            self._open.add(exchange)
        if self.is_over:
            raise Stopped

    def remove(self, exchange: Exchange) -> None:
        with self._lock:
            self._open.discard(exchange)

    def wait(self, seconds: float) -> None:
        """Wait before a retry. Return early if retries are stopped."""
        self._no_more_tries.wait(seconds)

    def give_up(self) -> None:
        """Stop retries. Requests in progress may still complete."""
        self._no_more_tries.set()

    def end(self) -> None:
        """Cancel all requests."""
        self._over.set()
        self.give_up()
        with self._lock:
            for exchange in self._open:
                exchange.cancel()


class Client:
    """Client of one endpoint. Thread-safe; every request uses its own connection."""

    def __init__(self, endpoint: Endpoint, networks: Sequence[Network], limits: Limits) -> None:
        self.endpoint, self.networks, self.limits = endpoint, networks, limits
        self._tls = ssl.create_default_context() if endpoint.secure else None

    def complete(self, request: Mapping[str, Any], requests: RequestGroup) -> Answer:
        """Return the answer to a chat completion request.

        Raise `Refusal` for an error of this request, and `BackendError` for an error that affects all requests. Raise
        `PassingError` if the endpoint is unavailable, and `Stopped` if the call was cancelled.
        """
        body = json.dumps(request).encode()
        number = 1
        while True:
            try:
                return Answer(self._once(body, requests), number)
            except RetryableError as error:
                if number < MAX_ATTEMPTS:
                    requests.wait(_pause(number) if error.wait is None else error.wait)
                if number == MAX_ATTEMPTS or not requests.may_retry:
                    raise self._final_error(error, number, requests) from error
            number += 1

    def _once(self, body: bytes, requests: RequestGroup) -> bytes:
        """Return the body of a successful response. Raise `RetryableError` if a retry may succeed."""
        try:
            reply = self._send("POST", "/chat/completions", body, requests)
        except httpx2.ConnectError as error:
            raise RetryableError(str(error), is_away=True) from error
        except httpx2.TransportError as error:
            raise RetryableError(f"{error}.") from error
        if reply.status_code == 200:
            return reply.content
        if reply.status_code in _RETRIED:
            # A rate-limited endpoint counts as unavailable.
            raise RetryableError(self._describe(reply), is_away=reply.status_code == 429, wait=_requested_wait(reply))
        if 300 <= reply.status_code < 400:
            target = shorten(reply.headers.get("location", ""))
            raise BackendError(
                f"{self._describe(reply, with_complaint=False)} It redirects to {target}; redirects are never followed."
            )
        if reply.status_code in _FATAL:
            raise BackendError(self._describe(reply))
        raise Refusal(self._describe(reply), reply.status_code)

    def _final_error(self, error: RetryableError, attempts: int, requests: RequestGroup) -> Exception:
        if requests.is_over:
            return Stopped()
        if error.is_away or not self._is_alive(requests):
            return PassingError(f"The endpoint {self.endpoint.name!r} is unavailable: {error}")
        return Refusal(f"The request failed {attempts} times: {error}")

    def _is_alive(self, requests: RequestGroup) -> bool:
        """Return whether the endpoint answers a small request. If it does, only the failed request is at fault."""
        try:
            return self._send("GET", "/models", None, requests).status_code < 500
        except (httpx2.TransportError, Refusal):
            return False

    def _send(self, method: str, path: str, body: bytes | None, requests: RequestGroup) -> httpx2.Response:
        endpoint = self.endpoint
        try:
            key = endpoint.key()
        except KeyMissing as missing:
            raise BackendError(str(missing)) from None
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if key:
            headers["Authorization"] = f"Bearer {key}"
        exchange = Exchange(
            self.limits,
            self.networks,
            setting="GENERATION_NETWORKS",
            tls=self._tls,
            by_administrator=endpoint.by_administrator,
        )
        requests.add(exchange)
        try:
            reply = exchange.send(method, endpoint.url.rstrip("/") + path, body, headers)
        except (NotAllowed, Untrusted) as error:
            raise BackendError(str(error)) from error
        except TooLarge as error:
            raise Refusal(f"The endpoint sent {error}.") from error
        finally:
            requests.remove(exchange)
        return _mask_key(key, reply) if key else reply

    def _describe(self, reply: httpx2.Response, *, with_complaint: bool = True) -> str:
        reason = f": {error_message(reply.content)}" if with_complaint else ""
        return f"The endpoint {self.endpoint.name!r} answered with HTTP {reply.status_code}{reason}."


def _mask_key(key: str, reply: httpx2.Response) -> httpx2.Response:
    """Return the response with the key masked, plain or escaped as in JSON: an error message may repeat the key."""
    body, headers = reply.content, dict(reply.headers)
    for form in (key, json.dumps(key)[1:-1], json.dumps(key)[1:-1].replace("/", "\\/")):
        body = body.replace(form.encode(), b"[key]")
        headers = {name: value.replace(form, "[key]") for name, value in headers.items()}
    return httpx2.Response(reply.status_code, headers=headers, content=body)


def _pause(number: int) -> float:
    """Return the seconds before the next attempt, with jitter, so that requests do not retry at the same time."""
    return float(min(FIRST_PAUSE * 2 ** (number - 1), LONGEST_PAUSE) * random.uniform(0.75, 1.25))


def _requested_wait(reply: httpx2.Response) -> float | None:
    """Return the wait that the endpoint asks for, capped at `LONGEST_PAUSE`, or None if it asks for none."""
    seconds = retry_after(reply)
    return None if seconds is None else min(seconds, LONGEST_PAUSE)
