"""Middleware that checks content type, charset and length of a request body before it is read."""

import codecs
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from api.problems import LengthNeeded, Problem, TooLarge, WrongMedia
from api.uploading import UploadParser

from .error_pages import reply_with


class Bodies:
    """Reject request bodies that the view does not accept.

    A view with an `UploadParser` accepts files up to the parser's limit. Other bodies are limited to
    `DATA_UPLOAD_MAX_MEMORY_SIZE`. The hook runs before the CSRF check, which would read a form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        try:
            refuse(request, view)
        except Problem as problem:
            return reply_with(request, problem)
        return None


def refuse(request: HttpRequest, view: Any) -> None:
    """Raise a `Problem` if the view does not accept the body."""
    length = _length(request)
    _refuse_charset(request)
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    if (request.content_type or "").startswith("multipart/"):
        parser = upload_parser(view)
        if parser is None or request.content_type != parser.media_type:
            raise WrongMedia("This endpoint accepts JSON, not files.")
        limit = parser.limit()
    if length > limit:
        raise TooLarge.body(limit)


def upload_parser(view: Any) -> type[UploadParser] | None:
    """Return the parser with which a view accepts files, or None."""
    parsers = getattr(getattr(view, "cls", None), "parser_classes", ())
    return next((parser for parser in parsers if issubclass(parser, UploadParser)), None)


def _length(request: HttpRequest) -> int:
    """Return the announced length in bytes. Servers do not read more than that."""
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        raise LengthNeeded("Send the body with a Content-Length header, not chunked.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not (length.isascii() and length.isdigit()):
        raise Problem("The Content-Length header is not a number of bytes.")
    return int(length) if len(length) < 19 else 2**63


def _refuse_charset(request: HttpRequest) -> None:
    """Reject charsets other than UTF-8. Django would accept all Python codecs, including `zlib`."""
    charset = (request.content_params or {}).get("charset", "utf-8")
    try:
        is_utf8 = codecs.lookup(charset).name == "utf-8"
    except LookupError:
        is_utf8 = False
    if not is_utf8:
        raise WrongMedia("The body must be UTF-8.")
