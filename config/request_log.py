"""Request log and request metrics: one log line per request, by route instead of address."""

import logging
import re
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db import connection
from django.http import HttpRequest, HttpResponseBase

from accounts.models import User
from api.logs import route_of, saying

from . import metrics

logger = logging.getLogger("concord.request")
HEADER = "X-Request-ID"
#: Permitted request ids of proxies and scripts. The pattern prevents forged log fields and lines.
GIVEN = re.compile(r"[A-Za-z0-9._-]{8,64}")
#: Paths that monitoring requests every few seconds.
PROBES = {"/healthz", "/readyz", "/metrics"}
#: Routes that are logged only on errors.
QUIET = PROBES | {"static"}


class RequestLog:
    """Outermost middleware, so that requests rejected by other middleware are included."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        header = request.headers.get(HEADER, "")
        name = header if GIVEN.fullmatch(header) else uuid.uuid4().hex
        began, queries = time.perf_counter(), Count()
        with saying(request=name), connection.execute_wrapper(queries):
            response = self.get_response(request)
            seconds = time.perf_counter() - began
            route = route_of(request)
            logger.log(
                logging.DEBUG if route in QUIET and response.status_code < 400 else logging.INFO,
                "request",
                extra={
                    "fields": {
                        "method": request.method,
                        "route": route,
                        "status": response.status_code,
                        "ms": round(seconds * 1000, 1),
                        "user": _user(request),
                        "queries": queries.number,
                    }
                },
            )
        response.headers[HEADER] = name
        if route not in PROBES:
            metrics.count_request(request.method or "", route, response.status_code, seconds)
        return response


class Count:
    """Count database queries."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        self.number += 1
        return execute(*arguments)


def _user(request: HttpRequest) -> int | None:
    """Return the id of the authenticated user, if the user is already loaded. Logging must not cause a query."""
    for name in ("_cached_user", "user"):
        found: Any = request.__dict__.get(name)
        # Check by type, because any access to a lazy user, including `isinstance`, would load it.
        if issubclass(type(found), User):
            return int(found.pk)
    return None
