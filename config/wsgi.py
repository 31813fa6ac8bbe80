"""WSGI entry point."""

import os
from io import BytesIO
from typing import Any, BinaryIO, cast

import django
from django.core.handlers.wsgi import LimitedStream, WSGIHandler, WSGIRequest
from django.http import UnreadablePostError
from django.urls import get_resolver
from django.utils.http import parse_header_parameters


class WholeBody(LimitedStream):
    """A request body of known length. Reading raises `UnreadablePostError` if the body ends early.

    A client that disconnects, or that the proxy cuts off, sends a partial body. gunicorn passes it on like a complete
    one, and half of an uploaded table would be imported.
    """

    def __init__(self, stream: BytesIO, length: int) -> None:
        super().__init__(stream, length)
        self._missing = length

    def read(self, size: int | None = -1, /) -> bytes:
        expected = self._missing if size is None or size < 0 else min(size, self._missing)
        data = super().read(expected)
        self._missing -= len(data)
        if len(data) < expected:
            raise UnreadablePostError("the body ended before its length")
        return data


class Request(WSGIRequest):
    """A request decoded as UTF-8, even if it names another charset (`config.bodies` rejects those).

    Django would decode the address with the charset of the body while it creates the request. A failure there would not
    become a problem reply, and the charset could be any Python codec.
    """

    def __init__(self, environ: dict[str, Any]) -> None:
        super().__init__(environ)
        limited = cast(LimitedStream, self._stream)
        self._stream = cast(BinaryIO, WholeBody(environ["wsgi.input"], limited.limit))

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))


class Handler(WSGIHandler):
    request_class = Request


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)
# Import all views before processes are forked. This saves time in the first request and shares memory.
get_resolver().url_patterns  # noqa: B018 - a property that imports
application = Handler()
