"""What a body may be is settled before a byte of it is read: its kind, its letters, and the length that it tells."""

import codecs
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from api.problems import LengthNeeded, Problem, TooLarge, WrongMedia
from api.uploading import UploadParser

from .error_pages import reply_with


class Bodies:
    """The first middleware beside the log. Which bodies a route takes stands with its view: the `UploadParser` among
    its parsers says that it takes files, and how large; everything else is as long as what is read into memory may be.

    Its hook runs before that of the CSRF check, which would read a form.
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
    """Raise a `Problem` where the body is none for this view."""
    length = _length(request)
    _refuse_charset(request)
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
    if (request.content_type or "").startswith("multipart/"):
        parser = upload_parser(view)
        if parser is None or request.content_type != parser.media_type:
            raise WrongMedia("No files are taken at this address; it reads JSON.")
        limit = parser.limit()
    if length > limit:
        raise TooLarge.body(limit)


def upload_parser(view: Any) -> type[UploadParser] | None:
    """The parser by which a view takes files; None where it takes none."""
    parsers = getattr(getattr(view, "cls", None), "parser_classes", ())
    return next((parser for parser in parsers if issubclass(parser, UploadParser)), None)


def _length(request: HttpRequest) -> int:
    """The length that is announced, in bytes; servers give no more than that to read."""
    if request.META.get("HTTP_TRANSFER_ENCODING"):
        raise LengthNeeded("Send the body with a Content-Length, not in chunks.")
    given = request.META.get("CONTENT_LENGTH") or "0"
    if not (given.isascii() and given.isdigit()):
        raise Problem("The Content-Length is no number of bytes.")
    return int(given) if len(given) < 19 else 2**63


def _refuse_charset(request: HttpRequest) -> None:
    """JSON is UTF-8, and so are addresses. To Python `zlib` is a charset too, and Django takes what Python takes."""
    charset = (request.content_params or {}).get("charset", "utf-8")
    try:
        is_utf8 = codecs.lookup(charset).name == "utf-8"
    except LookupError:
        is_utf8 = False
    if not is_utf8:
        raise WrongMedia("The body must be UTF-8.")
