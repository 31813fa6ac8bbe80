"""Send large multipart bodies to any address, without signing in."""

import socket
from contextlib import closing

from .bounds import Attack, multipart

#: Bytes of a body, minimum seconds between two bodies of a sender, and senders. Together they send half a gigabit per
#: second, a plausible bandwidth of a server.
SIZE, PAUSE, SENDERS = 16 * 2**20, 1.0, 4
ADDRESSES = (
    "/api/v1/session/",
    "/api/v1/my-work/",
    "/api/v1/projects/",
    "/api/v1/invitations/accept/",
    "/api/v1/nothing-here/",
    "/",
    "/healthz",
    "/admin/login/",
)


def anywhere(attack: Attack) -> None:
    """Send bodies of 16 MiB every second from four senders, rotating over the addresses."""
    body, content_type = multipart({"a": "b"}, "large.bin", b"x" * SIZE)

    def work(number: int) -> None:
        for strike in attack.strikes(PAUSE):
            attack.note(_send(attack.port, ADDRESSES[strike % len(ADDRESSES)], body, content_type))

    attack.side_by_side(SENDERS, work)


def _send(port: int, path: str, body: bytes, content_type: str) -> str:
    """Return the status of the reply, which may arrive before the body is sent."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={'b' * 32}\r\n"
        f"Content-Type: {content_type}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    try:
        with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as connection:
            try:
                connection.sendall(head.encode())
                connection.sendall(body)
            except ConnectionError:
                pass  # rejected early; the reply may still be readable
            return connection.recv(4096)[9:12].decode(errors="replace") or "closed"
    except OSError as error:
        return type(error).__name__
