"""Large multipart bodies to any address, without signing in."""

import socket
from contextlib import closing

from .bounds import Attack, multipart

#: Bytes of a body, and the least seconds from one to the next of each sender: together half a gigabit a second, which
#: a server's line may well have.
SIZE, PAUSE, SENDERS = 16 * 2**20, 1.0, 4
ADDRESSES = (
    "/api/v1/session/", "/api/v1/my-work/", "/api/v1/projects/", "/api/v1/invitations/accept/", "/api/v1/nothing-here/",
    "/", "/healthz", "/admin/login/",
)  # fmt: skip


def anywhere(attack: Attack) -> None:
    """Four senders, a body of 16 MiB a second each, to one address after the other."""
    body, content_type = multipart({"a": "b"}, "large.bin", b"x" * SIZE)

    def work(number: int) -> None:
        for strike in attack.strikes(PAUSE):
            attack.note(_send(attack.port, ADDRESSES[strike % len(ADDRESSES)], body, content_type))

    attack.side_by_side(SENDERS, work)


def _send(port: int, path: str, body: bytes, content_type: str) -> str:
    """The status of the reply, which may come before the body has been sent."""
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
                pass  # refused half-way: what it said may still be there to read
            return connection.recv(4096)[9:12].decode(errors="replace") or "closed"
    except OSError as error:
        return type(error).__name__
