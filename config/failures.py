"""Failures outside of API views, in the shape of those inside: problem details for /api/, words for the rest."""

import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from accounts.logs import said
from accounts.problems import CONTENT_TYPE, PASSING, RETRY_AFTER, Problem, Unavailable, unavailable


def reply_with(request: HttpRequest, problem: Problem) -> HttpResponse:
    headers = {"Retry-After": RETRY_AFTER} if problem.status == 503 else {}
    if request.path.startswith("/api/"):
        return JsonResponse(problem.as_json(), status=problem.status, content_type=CONTENT_TYPE, headers=headers)
    said = f"{problem.title}. {problem.detail}\n"
    return HttpResponse(said, status=problem.status, content_type="text/plain", headers=headers)


class _Csrf(Problem):
    status = 403
    type = "csrf"
    title = "The page's security token is missing or old"


class _Server(Problem):
    status = 500
    type = "server-error"
    title = "Something went wrong here"


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return reply_with(request, _Csrf("Reload the page and try again; nothing was changed."))


def server_error(request: HttpRequest) -> HttpResponse:
    """A failure outside of the views, as in a session that cannot be read while the data base restarts."""
    failure = sys.exc_info()[1]
    if isinstance(failure, PASSING):
        return reply_with(request, unavailable(failure))
    told = f"The failure was logged as {said('request')}. Nothing that was acknowledged is lost; try again."
    return reply_with(request, _Server(told))


def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """The process can do its work: the data base answers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Exception:
        return reply_with(request, Unavailable("The data base does not answer."))
    return HttpResponse("ok\n", content_type="text/plain")
