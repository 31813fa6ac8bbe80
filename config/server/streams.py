"""The two directions of a connection: what came and was not taken yet, and what goes and was not taken yet."""

import io
from collections import deque
from typing import Any

from gunicorn.http.unreader import Unreader

from .limits import Pace

#: Bytes asked of a socket at a time.
PIECE = 64 * 1024
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Gone(ConnectionError):
    """The client has left."""


class Inbox(Unreader):  # type: ignore[misc]
    """What gunicorn's parser reads from. The loop puts in what has come; a thread finds all of a body here, or, where
    the body is read as it comes, waits for it at its pace."""

    def __init__(self, sock: Any) -> None:
        super().__init__()
        self._sock = sock
        self._pace: Pace | None = None
        self._is_waited_for = False

    def __len__(self) -> int:
        return int(self.buf.seek(0, io.SEEK_END))

    def receive(self) -> int:
        """Take what has come, without waiting; how many bytes. Raises `Gone`, and BlockingIOError for nothing."""
        data = self._sock.recv(PIECE)
        if not data:
            raise Gone
        self.buf.seek(0, io.SEEK_END)
        self.buf.write(data)
        return len(data)

    def stream(self, pace: Pace, *, is_waited_for: bool) -> None:
        """From now on the body is read as it comes; ``is_waited_for``: its sender waits to be told to begin."""
        self._pace, self._is_waited_for = pace, is_waited_for

    def stop(self) -> None:
        self._pace = None

    def chunk(self, size_hint: int | None = None) -> bytes:
        """What the parser calls for more: nothing, or what comes while a thread waits. Raises TimeoutError, `Gone`."""
        if self._pace is None:
            return b""
        self._pace.resume()
        try:
            # The socket never waits in the loop; here it does, for as long as the client has.
            self._sock.settimeout(max(self._pace.left, 0.001))
            if self._is_waited_for:
                self._is_waited_for = False
                self._sock.sendall(CONTINUE)
            data: bytes = self._sock.recv(min(max(size_hint or 0, PIECE), 2**20))
        finally:
            self._sock.settimeout(0)
        if not data:
            raise Gone("the client left in the middle of a body")
        self._pace.moved(len(data))
        return data


class Outbox:
    """What gunicorn's replies are written to: a socket that takes everything and waits for nobody."""

    def __init__(self, sock: Any) -> None:
        self._sock = sock
        self._left: deque[memoryview] = deque()
        self.size = 0

    def __len__(self) -> int:
        return self.size

    def sendall(self, data: bytes) -> None:
        """What the application calls: send what can go at once, keep the rest. Raises `Gone`."""
        self.put(data)
        if len(self._left) == 1:
            self.flush()

    def put(self, data: bytes) -> None:
        """Keep it for the next `flush`."""
        self._left.append(memoryview(data))
        self.size += len(data)

    def flush(self) -> int:
        """Send what the client takes just now; how many bytes that were. Raises `Gone`."""
        sent = 0
        while self._left:
            try:
                taken = self._sock.send(self._left[0])
            except BlockingIOError:
                break
            except OSError as error:
                raise Gone from error
            sent += taken
            if taken < len(self._left[0]):
                self._left[0] = self._left[0][taken:]
            else:
                self._left.popleft()
        self.size -= sent
        return sent
