"""HTTP requests to checked addresses, with limits on time and size. Redirects and proxies are not used."""

import logging
import socket
import ssl
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore2
import httpx2

from .addresses import Network, Unresolved, checked_addresses

HEADERS = {"Accept-Encoding": "identity", "Connection": "close", "User-Agent": "concord"}
# Their debug messages contain response headers, and a response may contain an API key.
for _name in ("httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Untrusted(Exception):
    """The certificate is invalid for the host, or its issuer is unknown."""


class TooLarge(Exception):
    """The response exceeds the size limit."""


@dataclass(frozen=True)
class Limits:
    """Limits: seconds to connect, seconds for the whole exchange, bytes of a response."""

    connect: float = 10.0
    total: float = 120.0
    size: int = 4 * 1024 * 1024


class Exchange:
    """A request and its response. Another thread may cancel it.

    ``networks`` are the private networks that the administrator allows in ``setting``. ``by_administrator``: whether
    the administrator wrote the address (see `checked_addresses`).
    """

    def __init__(
        self,
        limits: Limits,
        networks: Sequence[Network],
        *,
        setting: str,
        tls: ssl.SSLContext | None,
        by_administrator: bool = True,
    ) -> None:
        self.limits, self._tls = limits, tls
        self._backend = CheckedBackend(networks, setting, by_administrator=by_administrator)
        self._cancelled = ""
        self._stream: httpcore2.NetworkStream | None = None

    def send(self, method: str, url: str, content: bytes | None, headers: Mapping[str, str]) -> httpx2.Response:
        """Send a request and read the whole response.

        Raise `NotAllowed`, `Untrusted`, `TooLarge`, `httpx2.ConnectError` without a connection, or another
        `httpx2.TransportError` if the exchange was interrupted.
        """
        limits = self.limits
        late = f"no response within {limits.total:g} s"
        # The time-out of a socket restarts with each byte, so a timer limits the total time.
        deadline = threading.Timer(limits.total, self.cancel, [late])
        deadline.daemon = True
        deadline.start()
        try:
            with (
                httpx2.Client(
                    transport=CheckedTransport(self._backend, self._tls),
                    trust_env=False,
                    timeout=httpx2.Timeout(limits.total, connect=limits.connect),
                ) as client,
                client.stream(
                    method, url, content=content, headers=HEADERS | dict(headers), extensions={"trace": self._trace}
                ) as response,
            ):
                body = self._read(response)
        except httpx2.ConnectError as error:
            if refused := _certificate_error(error):
                host = httpx2.URL(url).host
                raise Untrusted(f"The certificate of {host} is not valid: {refused.verify_message}.") from error
            raise
        except httpx2.TransportError as error:
            reason = f"the connection was interrupted ({type(error).__name__}: {error})"
            if isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout):
                reason = late
            raise httpx2.ReadError(self._cancelled or reason) from error
        finally:
            deadline.cancel()
        if self._cancelled:  # a response without a length ends when the connection closes
            raise httpx2.ReadError(self._cancelled)
        return httpx2.Response(response.status_code, headers=response.headers, content=body)

    def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > self.limits.size:
                raise TooLarge(f"a response of more than {self.limits.size // 2**20} MiB")
        return bytes(body)

    def _trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self._stream = info["return_value"]
            if self._cancelled:
                self.cancel(self._cancelled)

    def cancel(self, reason: str = "cancelled") -> None:
        """Cancel the exchange from another thread, and wake a thread that waits for the socket."""
        self._cancelled = self._cancelled or reason
        sock = self._stream.get_extra_info("socket") if self._stream else None
        if sock is not None:
            # `SSLSocket.shutdown` would drop the TLS session that the other thread reads from.
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _certificate_error(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


class CheckedTransport(httpx2.HTTPTransport):
    """A transport for one request, which connects to a checked address."""

    def __init__(self, backend: "CheckedBackend", tls: ssl.SSLContext | None) -> None:
        # `super().__init__` does not accept a network backend, so it is not called.
        self._pool = httpcore2.ConnectionPool(ssl_context=tls, network_backend=backend)


class CheckedBackend(httpcore2.SyncBackend):
    """Resolve a name once, check all its addresses, and connect to one of the checked addresses (no DNS rebinding)."""

    def __init__(self, networks: Sequence[Network], setting: str, *, by_administrator: bool = True) -> None:
        self._networks, self._setting, self._by_administrator = networks, setting, by_administrator

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        try:
            found = checked_addresses(
                host, port, self._networks, setting=self._setting, by_administrator=self._by_administrator
            )
        except Unresolved as error:
            raise httpcore2.ConnectError(str(error)) from error
        for last, checked in enumerate(found, start=1 - len(found)):
            address = str(checked.address[0])
            try:
                return super().connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                if last == 0:
                    raise httpcore2.ConnectError(f"No connection to {host} ({address}): {error}.") from error
        raise AssertionError("the list of addresses is empty")


def retry_after(reply: httpx2.Response) -> float | None:
    """Return the seconds of the ``Retry-After`` header (a number or a date), or None."""
    retry_after = reply.headers.get("retry-after", "").strip()
    seconds = None
    if retry_after.isascii() and retry_after.isdigit():
        seconds = float(retry_after[:9])
    elif retry_after:
        with suppress(ValueError, TypeError, OverflowError):
            at = parsedate_to_datetime(retry_after)
            seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()
    return None if seconds is None else max(seconds, 0.0)
