"""Failures outside of API views, in the shape of those inside: problem details for /api/, words for the rest."""

import sys

from django.db import connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from api.logs import said
from api.problems import CONTENT_TYPE, RETRY_AFTER, Problem, Unavailable, as_problem


def reply_with(request: HttpRequest, problem: Problem) -> HttpResponse:
    headers = ({"Retry-After": RETRY_AFTER} if problem.status == 503 else {}) | problem.headers
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


def refused(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django refuses by itself: a host that is not ours, more fields than it reads, an address that is none."""
    return reply_with(request, as_problem(exception) or Problem("The request cannot be read."))


def server_error(request: HttpRequest) -> HttpResponse:
    """A failure outside of the views, as in a session that cannot be read while the data base restarts."""
    if problem := as_problem(sys.exc_info()[1]):
        return reply_with(request, problem)
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
