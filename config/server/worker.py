"""gunicorn's threads, but a thread is taken only by what there is to do, and never by a client that is waited for.

gunicorn's own worker gives a connection a thread from its first byte to its last: eight clients that send a byte every
two seconds have all of them. Here a loop receives requests and hands on replies, of any number of connections, and
threads run the application (docs/decisions/0017-slow-clients.md).
"""

import errno
import resource
import selectors
import socket
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

from django.db import close_old_connections
from gunicorn.workers.gthread import ThreadWorker

from .connection import Connection, Refusal
from .limits import Limits, Pace, seconds
from .streams import Gone

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
#: What accepting fails with where descriptors or memory have run out.
NOTHING_LEFT = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
#: Seconds until connections are taken again after that.
PAUSE = 0.1
#: Seconds after which a thread that computes lets another one go on. A request waits for the data base a dozen times,
#: and each time, with Python's own 5 ms, for whoever takes a file apart meanwhile.
SWITCH = 0.0005
#: Seconds between two lines in the log about connections that were closed for others.
SAID_EVERY = 60.0
SLOW = "408 Request Timeout", "The request came too slowly. Send it again."
FAILED = "500 Internal Server Error", "Something went wrong here. It was logged."
FULL = "503 Service Unavailable", "Too much is being sent at once. Send it again in a moment."


class Worker(ThreadWorker):  # type: ignore[misc]
    """One web process. Everything below runs in its loop, but for `_work`."""

    limits = Limits()
    connection_class: type[Connection] = Connection

    @classmethod
    def check_config(cls, cfg: Any, log: Any) -> None:
        if cfg.is_ssl:
            raise RuntimeError("The web server speaks no TLS: put a proxy before it (docs/admin.md).")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._connections: set[Connection] = set()
        #: Those that wait for their client, with what they wait for.
        self._waiting: dict[Connection, int] = {}
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most = min(self.cfg.worker_connections, files // 2) if files > 0 else self.cfg.worker_connections
        self._closed_for_others = 0
        self._said = self._pause = 0.0

    # ---- the loop -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        sys.setswitchinterval(SWITCH)
        self.poller.register(self.method_queue.fileno(), READ, self.method_queue.run_callbacks)
        while self.alive and self.is_parent_alive():
            # Where nobody waits who could be closed for a newcomer, newcomers wait in the system's queue.
            has_room = len(self._connections) < self._most or bool(self._waiting)
            self.set_accept_enabled(has_room and time.monotonic() > self._pause)
            self._turn()
        self.set_accept_enabled(False)
        end = time.monotonic() + self.cfg.graceful_timeout
        for connection in self._waiting:
            if connection.is_idle:  # a request may be on its way to us; it is answered, and told that it is the last
                connection.pace = seconds(2.0)
        while self._connections and time.monotonic() < end:
            self._turn()
        for connection in self._connections:
            with suppress(OSError):
                connection.sock.shutdown(socket.SHUT_RDWR)  # a thread that waits for it goes on
        self.tpool.shutdown(wait=False, cancel_futures=True)

    def _turn(self) -> None:
        self.notify()
        self.wait_for_and_dispatch_events(timeout=1.0)
        for connection in [c for c in self._waiting if c.pace.left < 0]:
            self._try(connection, self._over)
        if self._closed_for_others and time.monotonic() > self._said + SAID_EVERY:
            self.log.warning("%d connections were closed to make room for others.", self._closed_for_others)
            self._closed_for_others, self._said = 0, time.monotonic()

    def _over(self, connection: Connection) -> None:
        """The client has had its time. Raises `Refusal` where it began something."""
        if self._waiting[connection] == READ and not connection.is_idle and connection.has_begun:
            raise Refusal(*SLOW)
        self._drop(connection)

    # ---- connections ----------------------------------------------------------------------------------------------

    def accept(self, listener: Any) -> None:
        try:
            sock, client = listener.accept()
        except OSError as error:
            if error.errno in NOTHING_LEFT:
                self._make_room()
            if error.errno not in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED):
                self.log.warning("A connection could not be taken: %s", error)
                self._pause = time.monotonic() + PAUSE
                self.set_accept_enabled(False)
            return
        try:
            if len(self._connections) >= self._most:
                self._make_room()
            connection = self.connection_class(sock, client, listener.getsockname(), self.cfg, self.limits)
        except Exception:
            self.log.exception("A connection could not be taken.")
            sock.close()
            return
        self._connections.add(connection)
        self._try(connection, self._greet)

    def _greet(self, connection: Connection) -> None:
        self._wait(connection, READ)
        self._receive(connection)  # mostly the request is here already

    def _wait(self, connection: Connection, what: int) -> None:
        if self._waiting.get(connection) != what:
            self._stop_waiting(connection)
            self.poller.register(connection.sock, what, lambda _: self._on_event(connection))
            self._waiting[connection] = what

    def _stop_waiting(self, connection: Connection) -> None:
        if self._waiting.pop(connection, None) is not None:
            self.poller.unregister(connection.sock)

    def _drop(self, connection: Connection) -> None:
        self._stop_waiting(connection)
        self._connections.discard(connection)
        with suppress(OSError):
            connection.sock.close()
        if connection.holds:
            with suppress(RuntimeError):  # where no thread takes anything any more
                self.tpool.submit(connection.let_go)  # which may ask the data base

    def _make_room(self, lying: int = 0) -> bool:
        """Close the connection that is missed least: one between two requests, else the one with the least time left.
        With ``lying``, one for which more than that lies in memory. False where there is none."""
        closable = [c for c in self._waiting if not lying or c.lying > lying]
        if not closable:
            return False
        connection = min(closable, key=lambda c: (not c.is_idle, c.pace.until))
        if lying and self._waiting[connection] == READ:
            self._refuse(connection, Refusal(*FULL))
        else:
            self._drop(connection)
        self._closed_for_others += 1
        return True

    # ---- requests and replies -------------------------------------------------------------------------------------

    def _on_event(self, connection: Connection) -> None:
        """Something has come, or can go."""
        # Nothing where it was closed for another one in this turn.
        match self._waiting.get(connection):
            case selectors.EVENT_READ:
                self._try(connection, self._receive)
            case selectors.EVENT_WRITE:
                self._try(connection, self._send)

    def _try(self, connection: Connection, step: Callable[[Connection], None]) -> None:
        """Whatever a client does, and whatever fails here, is the end of its own connection and of no other."""
        try:
            step(connection)
        except BlockingIOError:
            pass
        except Refusal as refusal:
            self._refuse(connection, refusal)
        except OSError:
            self._drop(connection)
        except Exception:
            self.log.exception("A connection failed.")
            self._drop(connection)

    def _receive(self, connection: Connection) -> None:
        if connection.receive():
            self._begin(connection)
        else:
            self._keep_within_memory(connection)

    def _keep_within_memory(self, connection: Connection) -> None:
        """Where much lies for this one, and too much for all together, somebody goes; it may be this one."""
        if connection.lying > self.limits.little:
            while sum(c.lying for c in self._connections) > self.limits.lying:
                if not self._make_room(self.limits.little):
                    break

    def _begin(self, connection: Connection) -> None:
        """Give it to a thread."""
        self._stop_waiting(connection)
        done = self.tpool.submit(self._work, connection)
        done.add_done_callback(
            lambda future: self.method_queue.defer(self._try, connection, lambda c: self._after(c, future))
        )

    def _work(self, connection: Connection) -> None:
        """In a thread: make as much of the reply as the client takes."""
        try:
            connection.answer(self.wsgi, keep=lambda: bool(self.alive))
        finally:
            if not connection.is_done:  # it goes on in another thread, or never
                close_old_connections()

    def _after(self, connection: Connection, done: "Future[None]") -> None:
        """A thread is ready with it. Raises `Refusal` where nothing was said yet and nothing else will be."""
        error = None if done.cancelled() else done.exception()
        if error is None:
            self._send(connection)
        elif isinstance(error, Gone):
            self._drop(connection)
        else:
            can_say = connection.response is None or not connection.response.headers_sent
            if connection.request.body.failed and can_say:
                raise Refusal(*SLOW)
            self.log.error("A request failed outside of the application.", exc_info=error)
            if can_say:
                raise Refusal(*FAILED)
            self._drop(connection)

    def _send(self, connection: Connection) -> None:
        """Send what waits, and go on from there. Raises `Gone`, and `Refusal` for a next request that lies here."""
        sent = connection.outbox.flush()
        connection.lying = len(connection.outbox)
        if connection.lying:
            if self._waiting.get(connection) == WRITE:
                connection.pace.moved(sent)
            else:
                connection.pace = Pace(self.limits.reply)
                self._wait(connection, WRITE)
            self._keep_within_memory(connection)
        elif not connection.is_done:
            self._begin(connection)
        elif connection.is_last:
            connection.leave()
            self._wait(connection, READ)
        else:
            self._count()
            connection.begin_again()
            if connection.is_whole():
                self._begin(connection)
            else:
                self._wait(connection, READ)

    def _refuse(self, connection: Connection, refusal: Refusal) -> None:
        try:
            connection.refuse(refusal)
            self._send(connection)
        except BlockingIOError:
            pass
        except OSError:
            self._drop(connection)
        except Exception:
            self.log.exception("A refusal failed.")
            self._drop(connection)

    def _count(self) -> None:
        self.nr += 1
        if self.nr >= self.max_requests:
            self.alive = False
