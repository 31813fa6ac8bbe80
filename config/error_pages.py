"""Error handlers and health checks outside of API views. Errors under /api/ are problem details, others are text."""

import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from api.logs import context_field
from api.problems import CONTENT_TYPE, RETRY_AFTER, Problem, Unavailable, as_problem


def reply_with(request: HttpRequest, problem: Problem) -> HttpResponse:
    headers = ({"Retry-After": RETRY_AFTER} if problem.status == 503 else {}) | problem.headers
    if request.path.startswith("/api/"):
        return JsonResponse(problem.as_json(), status=problem.status, content_type=CONTENT_TYPE, headers=headers)
    text = f"{problem.title}. {problem.detail}\n"
    return HttpResponse(text, status=problem.status, content_type="text/plain", headers=headers)


class _Csrf(Problem):
    status = 403
    type = "csrf"
    title = "The page's security token is missing or expired"


class _Server(Problem):
    status = 500
    type = "server-error"
    title = "Server error"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return reply_with(request, _Csrf("Nothing was changed. Reload the page and try again."))


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle requests that Django rejects: unknown hosts, too many fields, malformed addresses."""
    return reply_with(request, as_problem(exception) or Problem("Malformed request."))


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle an error outside of views, such as an unreadable session while the database restarts."""
    if problem := as_problem(sys.exc_info()[1]):
        return reply_with(request, problem)
    detail = f"The error was logged as {context_field('request')}. Acknowledged data is not lost; try again."
    return reply_with(request, _Server(detail))


def healthz(request: HttpRequest) -> HttpResponse:
    """Liveness check: the process responds."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """Readiness check: the database responds."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception:
        return reply_with(request, Unavailable("The database does not respond."))
    return HttpResponse("ok\n", content_type="text/plain")
