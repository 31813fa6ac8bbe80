"""Log lines: one per event, in order, with their context, whatever a client sends."""

import json
import logging
import os
import sys
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from api.logs import JsonLines, TextLines, configuration, route_of, saying


def record(message: str = "hello", name: str = "concord", **extra: Any) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.WARNING, __file__, 1, message, (), None)
    vars(made).update(extra)
    return made


def test_a_json_line_says_when_who_and_what() -> None:
    with saying(request="abc"), saying(job=7):
        line = json.loads(JsonLines().format(record(fields={"ms": 1.5})))
    assert datetime.fromisoformat(line.pop("time")).utcoffset() is not None
    assert line.pop("pid") == os.getpid()
    assert line == {"level": "WARNING", "logger": "concord", "message": "hello", "request": "abc", "job": 7, "ms": 1.5}
    assert "job" not in json.loads(JsonLines().format(record()))


def test_a_line_break_in_a_request_starts_no_new_log_line() -> None:
    sent = record("name\r\n2026-11-21 ERROR forged", fields={"agent": "a\nb"})
    assert len(JsonLines().format(sent).splitlines()) == len(TextLines().format(sent).splitlines()) == 1


def test_a_traceback_is_a_field_of_the_same_json_line() -> None:
    try:
        raise RuntimeError("out of paper")
    except RuntimeError:
        failed = record("job failed", exc_info=sys.exc_info())
    told = JsonLines().format(failed)
    assert len(told.splitlines()) == 1
    assert json.loads(told)["traceback"].endswith("RuntimeError: out of paper")
    assert TextLines().format(failed).endswith("RuntimeError: out of paper")


def asked(route: str | None, path: str = "/") -> SimpleNamespace:
    match = None if route is None else SimpleNamespace(route=route)
    return SimpleNamespace(path=path, method="GET", resolver_match=match)


@pytest.mark.parametrize(
    ("request_", "route"),
    [
        (asked("api/v1/rounds/<int:round_id>/"), "/api/v1/rounds/<int:round_id>/"),
        (asked(r"^(?!api/|static/|admin/).*$"), "page"),
        (asked(r"^api/(?P<rest>.*)$"), "unmatched"),
        (asked(None, "/static/app/assets/index-1.js"), "static"),
        (asked(None, "/elsewhere"), "unmatched"),
    ],
    ids=["template", "page", "api", "static", "unmatched"],
)
def test_logs_show_the_route_instead_of_the_address(request_: Any, route: str) -> None:
    assert route_of(request_) == route


def test_djangos_messages_are_logged_without_the_address() -> None:
    request = asked("api/v1/rounds/<int:round_id>/", "/api/v1/rounds/7/")
    said = record(
        "Internal Server Error: /api/v1/rounds/7/?token=1", "django.request", request=request, status_code=500
    )
    assert json.loads(JsonLines().format(said))["message"] == "500 GET /api/v1/rounds/<int:round_id>/"


def test_both_forms_are_ones_that_logging_takes() -> None:
    for form in ("text", "json"):
        made = configuration(form, "INFO")
        assert made["handlers"]["stderr"]["formatter"] in made["formatters"]
        assert made["root"] == {"handlers": ["stderr"], "level": "INFO"}
