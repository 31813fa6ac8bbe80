"""An OpenAI-compatible endpoint whose replies tests control."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[["Handler"], None]


def said(text: Any = "It helps.", **more: Any) -> dict[str, Any]:
    """A valid reply."""
    return {
        "model": "tiny-instruct",
        "system_fingerprint": "fp_1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        **more,
    }


class Handler(BaseHTTPRequestHandler):
    server: "Endpoint"

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._serve()

    def do_GET(self) -> None:
        self.body = None
        self._serve()

    def _serve(self) -> None:
        with self.server.lock:
            self.server.seen.append((self.command, self.path, dict(self.headers), self.body))
        with suppress(ConnectionError):
            self.server.reply(self)

    def answer(self, body: Any, status: int = 200, **headers: str) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(raw)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(raw)

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"]) if self.body else ""

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Endpoint(ThreadingHTTPServer):
    """``reply`` is called with every request; ``seen`` lists them; ``released`` frees held requests."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.lock = threading.Lock()
        self.seen: list[tuple[str, str, dict[str, str], Any]] = []
        self.released = threading.Event()
        self.reply: Reply = lambda handler: handler.answer(said())
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def posts(self) -> list[Any]:
        return [body for command, _, _, body in self.seen if command == "POST"]

    def hold(self, handler: Handler) -> None:
        """Wait until released."""
        self.released.wait(60)

    def one_after_the_other(self, *replies: Reply) -> None:
        """Send these replies in order, and repeat the last one."""
        left = list(replies)

        def reply(handler: Handler) -> None:
            with self.lock:
                one = left.pop(0) if len(left) > 1 else left[0]
            one(handler)

        self.reply = reply

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def closed(handler: Handler) -> None:
    """Close the connection in the middle of a reply."""
    raw = json.dumps(said()).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(raw)))
    handler.end_headers()
    handler.wfile.write(raw[:20])
    handler.close_connection = True


def status(number: int, body: Any = b"", **headers: str) -> Reply:
    return lambda handler: handler.answer(body, number, **headers)


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    endpoint = Endpoint(tls)
    thread = threading.Thread(target=endpoint.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.released.set()
        endpoint.shutdown()
        endpoint.server_close()
        thread.join()
