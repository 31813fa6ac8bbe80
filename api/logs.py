"""How Concord writes its log: one line an event, as JSON or as text, with the request or the job that it belongs to.

Addresses are written as routes (``api/v1/rounds/<int:round_id>/``): what a person put into an address, and what follows
a question mark, is not kept. This module is read before Django is ready and so knows nothing but plain Python.
"""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

FORMATS = ("text", "json")
_context: ContextVar[dict[str, Any] | None] = ContextVar("log_context", default=None)


@contextmanager
def saying(**fields: Any) -> Iterator[None]:
    """Every line that is written inside carries these fields (``request``, ``job``)."""
    token = _context.set({**(_context.get() or {}), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def said(name: str) -> Any:
    """What `saying` was told under this name, or None."""
    return (_context.get() or {}).get(name)


def route_of(request: Any) -> str:
    """The template of the address that was asked for; never the address itself."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return "static" if str(getattr(request, "path", "")).startswith("/static/") else "unmatched"
    if match.route.startswith("^"):  # those that take whatever is left: the pages, and what is not there below /api/
        return "page" if "(?!" in match.route else "unmatched"
    return f"/{match.route}"


class Lines(logging.Formatter):
    """What both forms have in common: the message, and the fields beside it."""

    def told(self, record: logging.LogRecord) -> tuple[str, dict[str, Any]]:
        """(message, fields)."""
        request = getattr(record, "request", None)
        if record.name.startswith("django.request") and request is not None:
            # Django's own message has the address in it.
            message = f"{getattr(record, 'status_code', '')} {request.method} {route_of(request)}"
        else:
            message = record.getMessage()
        return message, {**(_context.get() or {}), **getattr(record, "fields", {})}


class JsonLines(Lines):
    """One JSON object a line: time (UTC), level, logger, message, then the fields; a traceback is one of them."""

    def format(self, record: logging.LogRecord) -> str:
        message, fields = self.told(record)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": message,
            "pid": record.process,
            **fields,
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextLines(Lines):
    """For a terminal: time, level, logger, message, then ``name=value``; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        message, fields = self.told(record)
        when = datetime.fromtimestamp(record.created, UTC).isoformat(sep=" ", timespec="milliseconds")
        beside = "".join(f" {name}={value}" for name, value in fields.items())
        # A line break in what somebody sent must not begin a line of the log.
        line = f"{when} {record.levelname} {record.name} {message}{beside}".replace("\r", "\\r").replace("\n", "\\n")
        return line + "\n" + self.formatException(record.exc_info) if record.exc_info else line


def configuration(form: str, level: str) -> dict[str, Any]:
    """Django's LOGGING: everything to the standard error stream."""
    kind = {"text": TextLines, "json": JsonLines}[form]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{kind.__module__}.{kind.__qualname__}"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Ours alone: Django's default ones would write the same a second time, as text.
            "django": {"handlers": [], "level": level, "propagate": True},
            # A refusal has its line from config.request_log; only what nobody foresaw has a second one.
            "django.request": {"level": "ERROR"},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }
