"""Log format: one line per event, as JSON or text, with the request or job that it belongs to.

URLs are logged as routes (``api/v1/rounds/<int:round_id>/``), without user input and query strings. Settings import
this module before Django is ready, so it must not import Django.
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
    """Add these fields (``request``, ``job``) to every line that is logged inside the context."""
    token = _context.set({**(_context.get() or {}), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def context_field(name: str) -> Any:
    """Return the field that `saying` has set, or None."""
    return (_context.get() or {}).get(name)


def route_of(request: Any) -> str:
    """Return the route of a request, which contains no user input."""
    match = getattr(request, "resolver_match", None)
    if match is None:
        return "static" if str(getattr(request, "path", "")).startswith("/static/") else "unmatched"
    if match.route.startswith("^"):  # catch-all routes: pages, and unknown paths below /api/
        return "page" if "(?!" in match.route else "unmatched"
    return f"/{match.route}"


class Lines(logging.Formatter):
    """Base formatter: the message and its fields."""

    def message_and_fields(self, record: logging.LogRecord) -> tuple[str, dict[str, Any]]:
        """Return (message, fields)."""
        request = getattr(record, "request", None)
        if record.name.startswith("django.request") and request is not None:
            # Django's own message contains the URL.
            message = f"{getattr(record, 'status_code', '')} {request.method} {route_of(request)}"
        else:
            message = record.getMessage()
        return message, {**(_context.get() or {}), **getattr(record, "fields", {})}


class JsonLines(Lines):
    """One JSON object per line: time (UTC), level, logger, message, fields and traceback."""

    def format(self, record: logging.LogRecord) -> str:
        message, fields = self.message_and_fields(record)
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
    """Text for a terminal: time, level, logger, message and ``name=value``, followed by the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        message, fields = self.message_and_fields(record)
        when = datetime.fromtimestamp(record.created, UTC).isoformat(sep=" ", timespec="milliseconds")
        beside = "".join(f" {name}={value}" for name, value in fields.items())
        # Escape line breaks, so that user input cannot start a new line of the log.
        line = f"{when} {record.levelname} {record.name} {message}{beside}".replace("\r", "\\r").replace("\n", "\\n")
        return line + "\n" + self.formatException(record.exc_info) if record.exc_info else line


def configuration(form: str, level: str) -> dict[str, Any]:
    """Return the LOGGING setting, which writes everything to standard error."""
    kind = {"text": TextLines, "json": JsonLines}[form]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{kind.__module__}.{kind.__qualname__}"}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Remove Django's default handlers, which would log each event twice.
            "django": {"handlers": [], "level": level, "propagate": True},
            # config.request_log logs rejected requests; django.request logs only unexpected errors.
            "django.request": {"level": "ERROR"},
            "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        },
    }
