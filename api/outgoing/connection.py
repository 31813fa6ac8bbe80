"""One request over one connection: to an address that was judged, with limits of time and size, never redirected."""

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType

from .addresses import Place

_PIECE = 64 * 1024


class Away(Exception):
    """No connection could be made."""


class Trouble(Exception):
    """The exchange broke off: no answer in time, or the connection was closed midway. Another try may do better."""


class Untrusted(Exception):
    """The certificate is not the host's, or nobody known has signed it."""


class TooLarge(Exception):
    """The answer is longer than what is read."""


@dataclass(frozen=True)
class Limits:
    """Seconds until a connection must stand, seconds for a whole exchange, bytes of an answer."""

    connect: float = 10.0
    total: float = 120.0
    size: int = 4 * 1024 * 1024


@dataclass(frozen=True)
class Reply:
    """What came: its status, headers with names in lower case, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def retry_after(self) -> float | None:
        """The seconds to wait that ``Retry-After`` asks for, as a number or as a date; None where it does not."""
        given = self.headers.get("retry-after", "").strip()
        seconds = None
        if given.isascii() and given.isdigit():
            seconds = float(given[:9])
        elif given:
            with suppress(ValueError, TypeError, OverflowError):
                at = parsedate_to_datetime(given)
                seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - datetime.now(UTC).timestamp()
        return None if seconds is None else max(seconds, 0.0)


class Connection(http.client.HTTPConnection):
    """A connection to a place. ``host`` is the name for the Host header and for the certificate, never looked up."""

    def __init__(self, host: str, port: int, place: Place, tls: ssl.SSLContext | None, limits: Limits) -> None:
        super().__init__(host, port, timeout=limits.total)
        self.default_port = 443 if tls else 80
        self._place, self._tls, self._limits = place, tls, limits
        self.broken_off = ""
        # `sock` is forgotten by http.client as soon as an answer without a length begins; this one is not.
        self._live: socket.socket | None = None

    def connect(self) -> None:
        sock: socket.socket = socket.socket(self._place.family, socket.SOCK_STREAM)
        self.sock = self._live = sock
        try:
            sock.settimeout(self._limits.connect)
            sock.connect(self._place.address)
        except OSError as error:
            sock.close()
            raise Away(f"No connection to {self.host} ({self._place.address[0]}): {error}.") from error
        if self.broken_off:
            raise Trouble(self.broken_off)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls:
            # Shaken hands with once `break_off` can reach the socket.
            wrapped = self._tls.wrap_socket(sock, server_hostname=self.host, do_handshake_on_connect=False)
            self.sock = self._live = wrapped
            wrapped.do_handshake()
        self.sock.settimeout(self._limits.total)

    def break_off(self, reason: str) -> None:
        """From another thread: end the exchange now. Whoever waits for the socket is woken."""
        self.broken_off = self.broken_off or reason
        sock = self._live
        if sock is not None:
            # Not SSLSocket's own, which lets go of the session that the other thread is reading from.
            with suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)


class Deadline:
    """Breaks a connection off after the limit, however slowly bytes trickle: a socket's own time-out begins anew with
    each of them."""

    def __init__(self, connection: Connection, seconds: float) -> None:
        self._timer = threading.Timer(seconds, connection.break_off, [f"no answer within {seconds:g} s"])
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._timer.cancel()


def exchange(
    connection: Connection, method: str, path: str, body: bytes | None, headers: Mapping[str, str], limits: Limits
) -> Reply:
    """Send and read. Raises `Away`, `Trouble`, `Untrusted` or `TooLarge`."""
    try:
        with Deadline(connection, limits.total):
            connection.request(method, path, body, dict(headers))
            with connection.getresponse() as response:
                said = {name.lower(): value for name, value in response.getheaders()}
                reply = Reply(response.status, said, _body(response, limits))
        if connection.broken_off:
            raise Trouble(connection.broken_off)
        return reply
    except ssl.SSLCertVerificationError as error:
        raise Untrusted(f"The certificate of {connection.host} is refused: {error.verify_message}.") from error
    except TimeoutError as error:
        raise Trouble(connection.broken_off or f"no answer within {limits.total:g} s") from error
    except (OSError, http.client.HTTPException) as error:
        raise Trouble(connection.broken_off or f"the connection broke off ({type(error).__name__}: {error})") from error
    finally:
        connection.close()


def _body(response: http.client.HTTPResponse, limits: Limits) -> bytes:
    announced = response.length
    pieces: list[bytes] = []
    size = 0
    while piece := response.read(_PIECE):
        size += len(piece)
        if size > limits.size:
            raise TooLarge(f"an answer of more than {limits.size // 2**20} MiB")
        pieces.append(piece)
    if announced is not None and size < announced:
        raise http.client.IncompleteRead(b"", announced - size)
    return b"".join(pieces)
