"""A small WSGI application for tests of the web server and its proxy."""

import hashlib
import time
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Serve ``/hello``, ``/length`` (of the body), ``/refuse`` (body unread), ``/sleep?s=`` and ``/large?n=``."""
    query = {name: values[0] for name, values in parse_qs(environ["QUERY_STRING"]).items()}
    status = "200 OK"
    match environ["PATH_INFO"]:
        case "/length":
            body = _digest(environ["wsgi.input"])
        case "/refuse":
            status, body = "413 Content Too Large", b"not here\n"
        case "/sleep":
            time.sleep(float(query["s"]))
            body = b"slept\n"
        case "/large":
            body = b"x" * int(query["n"])
        case _:
            body = b"hello\n"
    start_response(
        status, [("Content-Type", "text/plain"), ("X-Served-By", "plain"), ("Content-Length", str(len(body)))]
    )
    return [body]


def _digest(body: Any) -> bytes:
    size, digest = 0, hashlib.sha256()
    while data := body.read(65536):
        size += len(data)
        digest.update(data)
    return f"{size} {digest.hexdigest()[:8]}\n".encode()
