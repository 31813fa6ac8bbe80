"""Transports of the API client: HTTP, or calls within this process for the sample project."""

import http.client
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any, Protocol
from urllib.parse import urlsplit

from django.conf import settings

#: Seconds after which an idle connection is not reused.
IDLE = 1.0


class Broken(Exception):
    """The connection failed. If the request was ``sent``, the server may or may not have processed it."""

    def __init__(self, why: str, *, sent: bool) -> None:
        super().__init__(why)
        self.sent = sent


@dataclass(frozen=True)
class Raw:
    """An unparsed reply."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Transport(Protocol):
    """A connection with its cookies."""

    address: str

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Raw:
        """Send a request. Raise `Broken` if no complete reply arrives."""
        ...

    def cookie(self, name: str) -> str: ...


class Http:
    """A keep-alive connection to a server. Not thread-safe."""

    def __init__(self, address: str, *, seconds: float = 30.0) -> None:
        """Set up the connection.

        ``address`` is for example ``http://localhost:8000``. ``seconds`` is the timeout for a reply.
        """
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address!r} is not a valid address, such as http://localhost:8000.")
        self.address = f"{parts.scheme}://{parts.netloc}"
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._seconds = seconds
        self._connection: http.client.HTTPConnection | None = None
        self._cookies: SimpleCookie = SimpleCookie()
        self._last = 0.0

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Raw:
        cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in self._cookies.items())
        sent = {**headers, **({"Cookie": cookies} if cookies else {})}
        # A server may close an idle connection. A write that cannot be repeated therefore uses a new one.
        if time.monotonic() - self._last > IDLE or method not in ("GET", "PUT"):
            self.close()
        connection = self._connection or self._connect()
        try:
            connection.request(method, path, body=body, headers=sent)
            reply = connection.getresponse()
            raw = Raw(reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read())
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Broken(f"{type(error).__name__}: {error}", sent=True) from error
        if raw.status == 200 and not raw.body and method not in ("GET", "HEAD"):
            # Over HTTP/1.1 Caddy replies like this if a body is late. Concord has not received it.
            self.close()
            raise Broken("the proxy sent an empty reply", sent=True)
        self._last = time.monotonic()
        for name, value in reply.getheaders():
            if name.lower() == "set-cookie":
                self._cookies.load(value)
        if reply.will_close:
            self.close()
        return raw

    def _connect(self) -> http.client.HTTPConnection:
        port, seconds = self._port, self._seconds
        try:
            if self._secure:
                context = ssl.create_default_context()
                made: http.client.HTTPConnection = http.client.HTTPSConnection(
                    self._host, port, timeout=seconds, context=context
                )
            else:
                made = http.client.HTTPConnection(self._host, port, timeout=seconds)
            made.connect()
        except OSError as error:
            raise Broken(f"no connection: {error}", sent=False) from error
        # Requests are small and each waits for its reply, so Nagle's algorithm would only delay them.
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = made
        return made

    def cookie(self, name: str) -> str:
        return self._cookies[name].value if name in self._cookies else ""

    def close(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


class InProcess:
    """Call the application within this process, through all middleware and without a server."""

    def __init__(self, user: Any = None) -> None:
        """Set up the client. ``user`` is signed in without a password if given."""
        from django.test import Client

        host = _own_name()
        self.address = f"http://{host}"
        self._client = Client(raise_request_exception=True, HTTP_HOST=host)
        if user is not None:
            came_in = user.last_login
            self._client.force_login(user, backend="accounts.sessions.Backend")
            # This sign-in must not appear as the user's last one.
            user.last_login = came_in
            user.save(update_fields=["last_login"])

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Raw:
        content_type = headers.get("Content-Type", "application/octet-stream")
        rest = {k: v for k, v in headers.items() if k != "Content-Type"}
        reply = self._client.generic(
            method, path, data=body or b"", content_type=content_type, headers=rest, secure=settings.HTTPS
        )
        content = b"".join(reply.streaming_content) if reply.streaming else reply.content  # type: ignore[attr-defined]
        return Raw(reply.status_code, {k.lower(): v for k, v in reply.items()}, content)

    def cookie(self, name: str) -> str:
        return self._client.cookies[name].value if name in self._client.cookies else ""


def _own_name() -> str:
    """Return a host name that this installation accepts."""
    names = [name.lstrip(".") for name in settings.ALLOWED_HOSTS]
    return "localhost" if not names or "*" in names or "localhost" in names else names[0]
