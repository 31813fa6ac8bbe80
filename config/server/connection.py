"""One connection: when its next request is whole, and the reply to it."""

import json
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any

from gunicorn.http import wsgi
from gunicorn.http.body import LengthReader
from gunicorn.http.errors import ExpectationFailed, LimitRequestHeaders, LimitRequestLine, ParseException
from gunicorn.http.message import Request

from .limits import Limits, Pace, seconds
from .streams import CONTINUE, Gone, Inbox, Outbox

END_OF_HEAD = b"\r\n\r\n"


class Refusal(Exception):
    """What is said to a request that never reaches the application."""

    def __init__(self, status: str, detail: str) -> None:
        super().__init__(detail)
        self.status = status

    def reply(self) -> bytes:
        """The whole reply, as problem details."""
        number, _, title = self.status.partition(" ")
        problem = {"type": "about:blank", "title": title, "status": int(number), "detail": str(self)}
        body = json.dumps(problem).encode()
        head = f"HTTP/1.1 {self.status}\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n"
        if number == "503":
            head += "Retry-After: 30\r\n"
        return f"{head}Cache-Control: no-store\r\nConnection: close\r\n\r\n".encode() + body


class Pieces(wsgi.FileWrapper):  # type: ignore[misc]
    """A file in pieces that are worth a call each, whatever size the application names."""

    def __init__(self, file: Any, size: int = 0) -> None:
        super().__init__(file, 256 * 1024)


class Connection:
    """A client, its request under way, and what of the reply it has not taken yet.

    It is in the hands of the loop or of one thread at a time, and so needs no locks.
    """

    def __init__(self, sock: Any, client: Any, server: Any, cfg: Any, limits: Limits) -> None:
        sock.setblocking(False)
        self.sock, self.client, self.server, self.cfg, self.limits = sock, client, server, cfg, limits
        self.inbox, self.outbox = Inbox(sock), Outbox(sock)
        self.pace = seconds(limits.head_seconds)
        self.request: Any = None
        self.response: Any = None
        self._items: Iterable[bytes] | None = None
        self._pieces: Iterator[bytes] = iter(())
        self._missing = self._searched = self._thrown_away = 0
        self.requests = 0
        #: Between two requests: it owes nothing.
        self.is_idle = False
        #: The application has made all of the reply.
        self.is_done = False
        #: This reply is the last: then the connection is closed.
        self.is_last = False
        #: Everything was said; what still comes is thrown away.
        self.is_leaving = False
        #: Bytes in memory that wait for this client, as the loop saw them last.
        self.lying = 0

    # ---- the request, in the loop ---------------------------------------------------------------------------------

    def receive(self) -> bool:
        """Take what has come; whether a thread may begin. Raises `Gone`, `Refusal`, BlockingIOError."""
        size = self.inbox.receive()
        if self.is_leaving:
            self.inbox.take_buffered()
            self._thrown_away += size
            if self._thrown_away > self.limits.farewell:
                raise Gone
            return False
        self.lying += size
        if self.is_idle:
            self.is_idle, self.pace = False, seconds(self.limits.head_seconds)
        if self.request is not None:
            self.pace.moved(size)
            self._missing -= size
        return self.is_whole()

    def is_whole(self) -> bool:
        """Whether head and, where it is waited for, body of the next request are here. Raises `Refusal`."""
        if self.request is None and not self._has_head():
            return False
        return self._missing <= 0

    def _has_head(self) -> bool:
        lying = self.inbox.buf.getvalue()
        # The end may lie across two pieces.
        end = lying.find(END_OF_HEAD, max(self._searched - 3, 0))
        self._searched = len(lying)
        if end < 0 and len(lying) <= self.limits.head:
            return False
        if end < 0 or end > self.limits.head:
            raise Refusal("431 Request Header Fields Too Large", "The headers are too long.")
        self._parse()
        return True

    def _parse(self) -> None:
        self.requests += 1
        try:
            request = Request(self.cfg, self.inbox, self.client, self.requests)
        except LimitRequestLine:
            raise Refusal("414 URI Too Long", "The address is too long.") from None
        except LimitRequestHeaders:
            raise Refusal("431 Request Header Fields Too Large", "The headers are too many or too long.") from None
        except ExpectationFailed:
            raise Refusal("417 Expectation Failed", "Nothing but 100-continue can be expected.") from None
        except (ParseException, OSError):
            raise Refusal("400 Bad Request", "This is no request that can be read.") from None
        asks_first, request._expected_100_continue = request._expected_100_continue, False
        self.request, self._missing = request, 0
        reader = request.body.reader
        if isinstance(reader, LengthReader) and reader.length <= self.limits.whole and not _has_files(request):
            self._missing = reader.length - len(self.inbox)
            self.pace = Pace(self.limits.body)
            if asks_first and self._missing > 0:
                self.outbox.sendall(CONTINUE)
        else:
            self.inbox.stream(Pace(self.limits.upload), is_waited_for=asks_first)

    # ---- the reply, in a thread -----------------------------------------------------------------------------------

    def answer(self, application: Callable[..., Iterable[bytes]], *, keep: Callable[[], bool]) -> None:
        """Run the application, or go on with its reply, until the client has to be waited for or it is somebody else's
        turn. ``keep``: whether the connection may have another request."""
        if self._items is None:
            self.response, environ = wsgi.create(self.request, self.outbox, self.client, self.server, self.cfg)
            environ |= {"wsgi.multithread": True, "wsgi.file_wrapper": Pieces}
            self._items = application(environ, self.response.start_response)
            if not keep() or not self._drained():
                self.response.force_close()
            self._pieces = iter(() if self.request.method == "HEAD" else self._items)
        made = 0
        for item in self._pieces:
            self.response.write(item)
            made += len(item)
            if len(self.outbox) > self.limits.ahead or made > self.limits.turn:
                return
        self.response.close()
        self.let_go()
        short = self.response.response_length is not None and self.response.sent < self.response.response_length
        self.is_last = self.response.should_close() or (short and not self.response._omits_body)
        self.is_done = True

    def _drained(self) -> bool:
        """Whether the next request begins where this one's body ended: what was waited for is thrown away unread."""
        reader = self.request.body.reader
        self.inbox.stop()
        if self.request.body.failed or not isinstance(reader, LengthReader):
            return False
        if reader.length > len(self.inbox):
            return False
        while reader.read(2**20):
            pass
        return True

    @property
    def has_begun(self) -> bool:
        """Whether anything of a request has come."""
        return self.request is not None or len(self.inbox) > 0

    @property
    def holds(self) -> bool:
        """Whether the application has something open for its reply."""
        return self._items is not None

    def let_go(self) -> None:
        """Close what the application opened for its reply."""
        items, self._items = self._items, None
        if (close := getattr(items, "close", None)) is not None:
            close()

    # ---- between two requests, in the loop ------------------------------------------------------------------------

    def begin_again(self) -> None:
        """The reply has been taken: wait for the next request."""
        self.request = self.response = None
        self._missing = self._searched = 0
        self.is_done, self.is_idle, self.lying = False, not len(self.inbox), len(self.inbox)
        self.pace = seconds(self.cfg.keepalive if self.is_idle else self.limits.head_seconds)

    def refuse(self, refusal: Refusal) -> None:
        """Say why, and nothing more on this connection."""
        self.inbox.stop()
        self.inbox.take_buffered()
        self.is_last = self.is_done = True
        self.outbox.put(refusal.reply())

    def leave(self) -> None:
        """Say that nothing more will be said. A closed socket would take the reply from who is still sending."""
        self.is_leaving = self.is_idle = True
        self.lying = 0
        self.pace = seconds(self.limits.farewell_seconds)
        with suppress(OSError):
            self.sock.shutdown(socket.SHUT_WR)


def _has_files(request: Any) -> bool:
    kinds = [value for name, value in request.headers if name == "CONTENT-TYPE"]
    return any(kind.strip().lower().startswith("multipart/") for kind in kinds)
